"""Parts of arrays, padded, turned, multiplied and differentiated: all of it is machine code."""

from collections.abc import Callable

import numpy as np
import pytest

import brimstone as bs

LOSSES: dict[str, Callable[[bs.Tensor], bs.Tensor]] = {
    "every other row": lambda x: (x[::2] ** 2).sum(),
    "every other column": lambda x: (x[:, ::2] ** 2).sum(),
    "every other element": lambda x: bs.tanh(x[1::2, ::2]).sum(),
    "every third from the second": lambda x: (x[:, 1::3] ** 2).sum() + x.sum(),
    "every fifteenth": lambda x: (bs.concat([x] * 6, axis=1)[:, 3::15] * x[:, :3]).sum(),
    "pairs turned": lambda x: (
        bs.stack([x[:, ::2] - x[:, 1::2] * x[0, ::2], x[:, 1::2] * x[:, ::2]], axis=-1).reshape(
            x.shape
        )
        * x
    ).sum(),
    "neighbours": lambda x: ((x[1:] - x[:-1]) ** 2).sum(),
    "neighbours across": lambda x: bs.abs(x[1:, :-1] - x[:-1, 1:]).sum(),
    "rolled twice": lambda x: (bs.roll(bs.roll(x, 1, axis=0) * x, 2, axis=1) ** 2).sum(),
    "halves turned": lambda x: (bs.concat([-x[:, 3:], x[:, :3]], axis=1) * x * x).sum(),
    "part of what is turned": lambda x: (bs.flip(x, axis=0)[1:] ** 2 * x[1:]).sum(),
    "what is turned and padded": lambda x: (bs.pad(x, [(1, 0), (0, 2)])[::-1, ::-1] * 0.5).sum(),
    "backwards": lambda x: (x[::-2] ** 2).sum(),
    "mean of a part": lambda x: (x[1:].mean(axis=0) * x[0]).sum(),
    "means of parts of rows": lambda x: (x[1:].mean(axis=1) ** 2).sum() + (x * x).sum(),
    "greatest of a part": lambda x: bs.max(x[1:], axis=0).sum(),
    "padded around what is padded": lambda x: (
        bs.pad(bs.pad(x, [(1, 1), (1, 1)])[1:, :-1], [(1, 1), (2, 0)]) ** 2
    ).sum(),
    "padded with other numbers": lambda x: (
        bs.pad(bs.pad(x, [(1, 1), (0, 0)]), [(0, 1), (1, 1)], value=2.0) ** 2
    ).sum(),
    "part from the beginning, and itself": lambda x: bs.tanh(
        bs.concat([x.at[:, 1].add(x[:, 2])[:, :2], x[:, 2:]], axis=1) + x
    ).sum(),
    "part times a matrix": lambda x: (x[1:] @ x[: x.shape[1]]).sum(),
    "part times a part": lambda x: (x[1:] @ x[:-1].T).sum(),
    "sums over a part": lambda x: bs.einsum("ij,ik->jk", x[1:], x[:-1]).sum(),
    "joined times joined": lambda x: bs.tanh(
        bs.concat([x, x], axis=1) @ bs.concat([x.T, x.T], axis=0)
    ).sum(),
    "part of a product of what is joined": lambda x: bs.tanh(
        (bs.concat([x, x[:, 1:]], axis=1) @ bs.concat([x.T, x.T[1:]], axis=0))[:, 1:]
    ).sum(),
    "joined, taken apart": lambda x: (
        bs.tanh(bs.concat([x, x], axis=0) @ x.T)[2:] + x[0].sum()
    ).sum(),
}


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
@pytest.mark.parametrize("rows", [6, 40])
def test_parts_are_machine_code(loss: Callable[[bs.Tensor], bs.Tensor], rows: int) -> None:
    array = np.random.default_rng(rows).standard_normal((rows, 6)).astype(np.float32)
    found = []
    for device in ("cpu", "reference"):
        compiled = bs.jit(bs.value_and_grad(loss))
        value, slope = compiled(bs.asarray(array, device=device))
        found.append((value.item(), slope.numpy()))
        if device == "cpu":
            (plan,) = compiled.plans
            assert not plan.executable.code.refused
    (value, slope), (expected, its_slope) = found
    assert value == pytest.approx(expected, rel=1e-4, abs=1e-5)
    np.testing.assert_allclose(slope, its_slope, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("count", [8, 9, 60])
def test_chains_of_reductions_are_machine_code(count: int) -> None:
    def chain(x: bs.Tensor) -> bs.Tensor:
        for _ in range(count):
            x = x * 0.5 - x.mean(axis=-1, keepdims=True)
        return x

    array = np.random.default_rng(count).standard_normal((3, 7)).astype(np.float32)
    compiled = bs.jit(chain)
    found = compiled(bs.asarray(array, device="cpu")).numpy()
    (plan,) = compiled.plans
    assert not plan.executable.code.refused
    expected = bs.jit(chain)(bs.asarray(array, device="reference")).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-6)
