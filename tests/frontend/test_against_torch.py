"""Values, gradients and second derivatives agree with those of PyTorch, in float64.

PyTorch is a peer, never a dependency: these tests run where it happens to be installed; it is too
heavy to come with an extra. Where the two mean different things, `DIFFERENCES` says why.
"""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from kit.beside_torch import TABLE, Row, torch
from kit.edges_of_torch import DIFFERENCES, EDGES

ROWS = {**TABLE, **{f"edges: {name}": row for name, row in EDGES.items()}}
FIRST = [name for name, row in ROWS.items() if row.order > 0]
SECOND = [name for name, row in ROWS.items() if row.order > 1]
KINDS = ("real floating", "complex floating")
Array = np.ndarray[Any, np.dtype[Any]]


def agree(found: Any, expected: Any) -> None:
    """Complain unless two tensors are equal to nine digits."""
    theirs = expected.numpy(force=True)
    np.testing.assert_allclose(found.numpy(), theirs, rtol=1e-9, atol=1e-12)


def parts(result: Any) -> list[Any]:
    """The tensors of a result."""
    return list(result) if isinstance(result, tuple) else [result]


def weights(shape: tuple[int, ...]) -> Array:
    """A different number for each element; the first is 1."""
    return np.cos(np.arange(float(np.prod(shape)))).reshape(shape)


def directions(row: Row) -> list[Array]:
    """One for each input, complex where that is."""
    turns = [1 + 0.5j if np.iscomplexobj(each) else 1.0 for each in row.inputs]
    pairs = zip(row.inputs, turns, strict=True)
    return [(0.4 - weights(each.shape)) * turn for each, turn in pairs]


def our_gradient(row: Row) -> Any:
    """A function from our inputs to the gradients of one number made of all that is not whole."""

    def loss(*inputs: Any) -> Any:
        made = [part for part in parts(row.ours(*inputs)) if bs.isdtype(part.dtype, KINDS)]
        return sum(bs.real((part * weights(part.shape)).sum()) for part in made)

    return bs.grad(loss, argnums=tuple(range(len(row.inputs))))


def their_inputs(row: Row) -> list[Any]:
    return [torch.tensor(each, requires_grad=True) for each in row.inputs]


def their_gradient(row: Row, inputs: list[Any]) -> Any:
    """The gradients of the same number."""
    made = [part for part in parts(row.theirs(*inputs)) if part.requires_grad]
    loss = sum((part * torch.asarray(weights(part.shape))).sum().real for part in made)
    return torch.autograd.grad(loss, inputs, create_graph=True)


def their_change(slopes: list[Any], inputs: list[Any], along: list[Array]) -> Any:
    """How gradients change along directions: of one number made of them, the gradient."""
    pairs = zip(slopes, along, strict=True)
    slope: Any = sum((each * torch.asarray(by).conj()).sum().real for each, by in pairs)
    if not slope.requires_grad:  # the gradients are constant
        return [torch.zeros_like(each) for each in inputs]
    return torch.autograd.grad(slope, inputs, allow_unused=True, materialize_grads=True)


@pytest.mark.parametrize("name", ROWS)
def test_values_agree(name: str) -> None:
    row = ROWS[name]
    found = parts(row.ours(*map(bs.asarray, row.inputs)))
    for ours, theirs in zip(found, parts(row.theirs(*their_inputs(row))), strict=True):
        assert ours.shape == tuple(theirs.shape)
        agree(ours, theirs)


@pytest.mark.parametrize("name", FIRST)
def test_gradients_agree(name: str) -> None:
    row = ROWS[name]
    found = our_gradient(row)(*map(bs.asarray, row.inputs))
    for ours, theirs in zip(found, their_gradient(row, their_inputs(row)), strict=True):
        agree(ours, theirs)


@pytest.mark.parametrize("name", SECOND)
def test_second_derivatives_agree(name: str) -> None:
    row = ROWS[name]
    ours, theirs = tuple(map(bs.asarray, row.inputs)), their_inputs(row)
    _, found = bs.jvp(our_gradient(row), ours, tuple(map(bs.asarray, directions(row))))
    expected = their_change(their_gradient(row, theirs), theirs, directions(row))
    for change, its_peer in zip(found, expected, strict=True):
        agree(change, its_peer)


@pytest.mark.parametrize("name", DIFFERENCES)
def test_where_gradients_differ_ours_is_what_the_table_says(name: str) -> None:
    row, gradients, why = DIFFERENCES[name]
    found = our_gradient(row)(*map(bs.asarray, row.inputs))
    theirs = their_gradient(row, their_inputs(row))
    for ours, expected in zip(found, gradients, strict=True):
        np.testing.assert_allclose(ours.numpy(), expected, rtol=1e-12)
    pairs = zip(found, theirs, strict=True)
    same = [np.allclose(ours.numpy(), peer.numpy(force=True)) for ours, peer in pairs]
    assert not all(same), f"they agree, though {why}"
