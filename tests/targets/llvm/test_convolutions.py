"""Convolutions in machine code: exact where inputs are, for kinds of each form and all sizes."""

from typing import Any

import pytest

from brimstone.ir.func import Module
from brimstone.ir.interpreter import interpret
from brimstone.passes.oracle import difference
from brimstone.runtime.host import shared_host
from brimstone.targets.llvm import road
from kit.convolutions import EDGES, convolution
from kit.played import played
from kit.tiling import arrays_for

COMPILED = [
    "strides",
    "transposed",
    "groups",
    "depthwise",
    "deep",
    "deep, depthwise",
    "deep, far apart",
    "few channels, far apart",
    "far apart",
    "far apart, by strides",
    "far apart, groups",
    "far apart, few channels",
    "far apart, deep",
    "far apart, deep, depthwise",
    "bf16",
    "i8 to i32",
]
LARGER = [{"n": 3, "m": 17, "k": 33}, {"n": 2, "m": 31, "k": 48}, {"n": 9, "m": 4, "k": 3}]


@pytest.mark.parametrize("kind", COMPILED)
def test_machine_code_does_what_the_interpreter_does(kind: str) -> None:
    func = convolution(kind)
    func.name = "main"
    made = road.compile_step(Module([func]), shared_host())
    names = [symbol.name for symbol in func.symbols]
    for every in [*EDGES, *LARGER]:
        sizes = {name: every[name] for name in names}
        arguments: list[Any] = arrays_for(func, sizes, whole=True)
        expected = interpret(Module([func]), *arguments)
        assert difference(expected, played(made, arguments, sizes)) is None, sizes
    assert not made.code.refused
