"""Fused programs give the same bits as the funcs they come from."""

import pytest

from brimstone.ir import tensor
from brimstone.ir.tensor.arg_reduce import ArgReduction
from brimstone.ir.tensor.reduce import Reduction
from brimstone.passes.fuse.graph import MAPS
from brimstone.passes.fuse.views import VIEWS
from brimstone.passes.inline import inlined
from kit.fusing import checked, prepared
from kit.programs import drawable, program, random_plan
from kit.recordings import PROGRAMS, Program, recorded

FUSED = (*MAPS, *VIEWS, Reduction, ArgReduction, tensor.Constant, tensor.Iota)
OTHERS = tuple(op for op in drawable(False) if not issubclass(op, FUSED))
MATHEMATICS = tuple(op for op in drawable(False) if issubclass(op, MAPS))


@pytest.mark.parametrize("seed", range(30))
def test_any_program(seed: int) -> None:
    module = program(random_plan(seed, 4 + seed % 40, collectives=False))
    checked(inlined(module.main, module), runs=False)


@pytest.mark.parametrize("seed", range(40))
def test_programs_of_views_maps_and_reductions(seed: int) -> None:
    few = tuple(op for op in MATHEMATICS if op not in (tensor.Add, tensor.Exp, tensor.Select))
    module = program(random_plan(seed, 12 + seed % 40, False, (*OTHERS, *few)))
    checked(module.main, runs=False)


@pytest.mark.parametrize("seed", range(15))
def test_one_kernel_an_op(seed: int) -> None:
    module = program(random_plan(seed, 4 + seed % 30, collectives=False))
    fused = checked(inlined(module.main, module), apart=True, runs=False)
    assert all(len(each.ops) == 1 for each in fused.report.kernels)


@pytest.mark.parametrize("build", PROGRAMS)
def test_recordings(build: Program) -> None:
    sizes = (3, 4, 5, 6, 7, 8)[: PROGRAMS[build]]
    checked(prepared(recorded(build, *sizes)), runs=False)
    checked(prepared(recorded(build, *sizes), pinned=True))


@pytest.mark.parametrize(
    ("build", "count"),
    [("chain", 1), ("layer_norm", 1), ("softmax", 1), ("composed_attention", 3), ("linear", 1),
     ("heads", 1), ("loss", 3), ("attention", 1), ("neighbours", 3), ("image", 3)],
)  # fmt: skip
def test_counts_of_recordings(build: str, count: int) -> None:
    found = next(each for each in PROGRAMS if each.__name__ == build)
    sizes = (3, 4, 5, 6, 7, 8)[: PROGRAMS[found]]
    fused = checked(prepared(recorded(found, *sizes)), runs=False)
    assert len(fused.report.kernels) == count, str(fused.report)
