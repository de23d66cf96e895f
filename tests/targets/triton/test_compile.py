"""The corpus as machine code for GPUs that are not here."""

from dataclasses import replace

import pytest

from brimstone.ir.dtypes import FLOATS
from brimstone.ir.parser import parse
from brimstone.targets.triton import Parameter, print_kernel
from kit.interpret import require_triton
from kit.tile_corpus import CORPUS

EVERYWHERE = ("gelu", "softmax", "split_matmul", "attention_forward")
SCRATCH_POINTERS = 2
OTHERS = ("cuda:80", "hip:gfx942", "hip:gfx1100")


@pytest.fixture(autouse=True)
def _caches(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    require_triton()
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "triton"))


@pytest.mark.slow
@pytest.mark.parametrize("name", CORPUS)
def test_for_hopper(name: str) -> None:
    from brimstone.targets.triton.compile import compile_kernel

    kernel = print_kernel(CORPUS[name].build())
    binary = compile_kernel(kernel, "cuda:90")
    assert binary.code[:4] == b"\x7fELF"
    assert (binary.threads % 32, binary.clusters, binary.scratch[0]) == (0, 1, 0)
    entry = binary.assembly.partition(f".entry {binary.name}(")[2].partition(")\n")[0]
    assert entry.count(".param") == sum(map(slots, kernel.parameters)) + SCRATCH_POINTERS


def slots(parameter: Parameter) -> int:
    """How many numbers a launch hands over: a descriptor is a map, sizes and strides."""
    return 1 + 2 * len(parameter.block)


@pytest.mark.slow
@pytest.mark.parametrize("target", OTHERS)
@pytest.mark.parametrize("name", EVERYWHERE)
def test_for_others(name: str, target: str) -> None:
    from brimstone.targets.triton.compile import compile_kernel

    assert compile_kernel(print_kernel(CORPUS[name].build()), target).code[:4] == b"\x7fELF"


@pytest.mark.slow
def test_constants_of_all_floats() -> None:
    from brimstone.targets.triton.compile import compile_kernel

    listed = [
        (dtype, number) for dtype in sorted(map(str, FLOATS)) for number in ("-0.0", "1.5", "nan")
    ]
    views = [f"%v{at}: view<1, {dtype}, {{size: [64]}}>" for at, (dtype, _) in enumerate(listed)]
    lines = [
        f"%c{at} = tile.constant {{value = {number}}} : scalar<{dtype}>\n"
        f"%t{at} = tile.full %c{at} {{shape = [64]}} : tile<[64], {dtype}>\n"
        f"tile.store %v{at}, %t{at}, %zero"
        for at, (dtype, number) in enumerate(listed)
    ]
    zero = "%zero = tile.constant {value = 0} : scalar<i64>"
    text = f"func @main({', '.join(views)}) with {{grid: [1]}} {{\n"
    text += "\n".join([zero, *lines, "return", "}"])
    assert compile_kernel(print_kernel(parse(text).main), "cuda:90").code[:4] == b"\x7fELF"


@pytest.mark.slow
def test_descriptors_are_described() -> None:
    from brimstone.targets.triton.compile import compile_kernel

    binary = compile_kernel(print_kernel(CORPUS["persistent_matmul"].build()), "cuda:90")
    assert [each.box for each in binary.descriptors] == [(32, 32)] * 3


@pytest.mark.slow
def test_what_triton_refuses() -> None:
    from brimstone.targets.triton.compile import CompileError, compile_kernel

    kernel = print_kernel(CORPUS["gelu"].build())
    broken = replace(kernel, source=kernel.source.replace("tl.erf", "tl.missing"))
    with pytest.raises(CompileError, match="@gelu for cuda:90"):
        compile_kernel(broken, "cuda:90")


def test_names_of_targets() -> None:
    from brimstone.targets.triton.compile import CompileError, gpu_of

    assert gpu_of("cuda:89") == ("cuda", 89, 32)
    assert gpu_of("hip:gfx942") == ("hip", "gfx942", 64)
    assert gpu_of("hip:gfx1100") == ("hip", "gfx1100", 32)
    with pytest.raises(CompileError, match="is no target"):
        gpu_of("vulkan")
