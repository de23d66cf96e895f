"""Derivatives of collectives, on a mesh: of all devices together, by the numbers of each."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.builder import Builder
from brimstone.ir.declare import Op
from brimstone.ir.dtypes import f64
from brimstone.ir.func import Func, Return
from brimstone.ir.interpreter.mesh import interpret_mesh
from brimstone.ir.locations import Location
from brimstone.ir.tensor.collectives import Reduction
from brimstone.ir.types import Tensor
from brimstone.passes.differentiate import NotDifferentiable, jvp, linearise, transpose, vjp
from kit.derivatives import checked, dot

DEVICES = 3
STEP = 1e-4
MESH = {"data": DEVICES}
RNG = np.random.default_rng(3)

CASES: list[tuple[type[Op], dict[str, Any]]] = [
    (tensor.AllReduce, {"reduction": Reduction.SUM}),
    (tensor.AllReduce, {"reduction": Reduction.MAXIMUM}),
    (tensor.AllReduce, {"reduction": Reduction.MINIMUM}),
    (tensor.AllGather, {"axis": 1, "count": DEVICES}),
    (tensor.ReduceScatter, {"reduction": Reduction.SUM, "axis": 0, "count": DEVICES}),
    (tensor.AllToAll, {"split_axis": 0, "concat_axis": 1, "count": DEVICES}),
    (tensor.CollectivePermute, {"pairs": ((0, 1), (2, 0))}),
]


def squares(cls: type[Op], **attributes: Any) -> Func:
    """What the devices make of sin(x) · x."""
    func = Func("f", [Tensor((6, 2), f64)])
    builder = Builder(func.body, location=Location(("mesh.py", 4)))
    (x,) = func.arguments
    product = builder.emit(tensor.Multiply, x, builder.emit(tensor.Sin, x))
    made = builder.emit(cls, product, "data", **attributes)
    builder.emit_all(Return, [builder.emit(tensor.Multiply, made, made)])
    return func


def on_all(func: Func, *arguments: list[Any]) -> list[Any]:
    """The results of each device, each given its part of the arguments."""
    per_device = list(zip(*arguments, strict=True))
    return [list(each) for each in zip(*interpret_mesh(func, per_device, MESH), strict=True)]


def rows(like: list[Any]) -> list[Any]:
    return [RNG.standard_normal(each.shape) for each in like]


@pytest.mark.parametrize("cls, attributes", CASES, ids=lambda each: getattr(each, "name", ""))
def test_derivatives(cls: type[Op], attributes: dict[str, Any]) -> None:
    func = squares(cls, **attributes)
    x = rows([np.zeros((6, 2))] * DEVICES)
    tangents = rows(x)
    forward, backward = checked(jvp(func, [True])), checked(vjp(func, [True], [0]))
    _, pushed = on_all(forward, x, tangents)
    (high,) = on_all(func, [each + STEP * t for each, t in zip(x, tangents, strict=True)])
    (low,) = on_all(func, [each - STEP * t for each, t in zip(x, tangents, strict=True)])
    slopes = [(above - below) / (2 * STEP) for above, below in zip(high, low, strict=True)]
    assert all(
        np.allclose(*pair, rtol=1e-6, atol=1e-6) for pair in zip(pushed, slopes, strict=True)
    )
    cotangents = rows(pushed)
    _, pulled = on_all(backward, x, cotangents)
    assert abs(dot(cotangents, pushed) - dot(pulled, tangents)) < 1e-10
    parts = linearise(func, [True])
    count = len(parts.residual_sources)
    _, *residuals = on_all(parts.forward, x)
    (again,) = on_all(checked(transpose(parts.linear, count)), *residuals, cotangents)
    assert all(np.allclose(*pair) for pair in zip(again, pulled, strict=True))


@pytest.mark.parametrize(
    "cls, attributes",
    [
        (tensor.AllReduce, {"reduction": Reduction.PRODUCT}),
        (tensor.ReduceScatter, {"reduction": Reduction.MAXIMUM, "axis": 0, "count": DEVICES}),
    ],
)
def test_the_others_have_none(cls: type[Op], attributes: dict[str, Any]) -> None:
    with pytest.raises(NotDifferentiable, match=f"mesh.py:4: {cls.name} of .* no derivative"):
        jvp(squares(cls, **attributes), [True])
