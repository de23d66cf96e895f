"""Random programs: the general func does what was recorded, and another size gives one text."""

from collections import Counter
from collections.abc import Callable
from functools import partial

import pytest

from brimstone.ir import Module, print_func, print_module, tensor, verify
from brimstone.ir.dims import Size
from brimstone.ir.errors import IRError
from brimstone.ir.func import Func
from brimstone.passes.copying import copy_module
from brimstone.passes.generalise import generalise
from kit.general import check_bits, general
from kit.programs import program, random_plans

PROGRAMS = 400

Resize = Callable[[int], int]
RESIZES: tuple[Resize, ...] = (
    lambda size: 3 * size,
    lambda size: size + 20,
    lambda size: 2 * size + 1,
)

HAVE_FACTS = (tensor.Attention, tensor.AttentionBackward, tensor.Call, tensor.Convolve)
"""Ops with sizes that are facts: groups of heads, windows, and the types of another func."""


@pytest.mark.slow
@pytest.mark.parametrize("built", [False, True], ids=["as_stated", "merged_and_folded"])
def test_every_bit_is_the_same(built: bool) -> None:
    symbols = kept = 0
    for seed, plan in enumerate(random_plans(PROGRAMS, collectives=False)):
        module = program(plan, built)
        made = general(module.main)
        check_bits(module, made, seed)
        symbols += len(made.sizes)
        kept += len(made.kept)
    assert symbols > 5 * PROGRAMS
    assert kept < symbols / 10


def test_collectives_verify() -> None:
    """They need a mesh to run."""
    assert all(general(program(plan).main) for plan in random_plans(100))


@pytest.mark.slow
def test_another_size_gives_the_same_text() -> None:
    """Unless sizes were kept, for a reason that is told, or are facts of an op."""
    compared = Counter[int]()
    for plan in random_plans(PROGRAMS, collectives=False):
        module = program(plan)
        one = None if has_facts(module.main) else generalise(module.main)
        if one is None or one.kept:
            continue
        text = print_func(one.func)
        for way, resize in enumerate(RESIZES):
            other = copy_module(module, partial(resized, resize))
            if is_another(other, module) and not (two := generalise(other.main)).kept:
                assert print_func(two.func) == text
                compared[way] += 1
    assert min(compared[way] for way in range(len(RESIZES))) > PROGRAMS / 5


def resized(resize: Resize, size: Size) -> Size:
    return resize(size) if isinstance(size, int) and size > 2 else size


def has_facts(func: Func) -> bool:
    return any(isinstance(op, HAVE_FACTS) for op in func.walk())


def is_another(other: Module, module: Module) -> bool:
    """Whether a resized program is one, and not the same."""
    try:
        verify(other)
    except IRError:
        return False
    return print_module(other) != print_module(module)
