"""Parts that are computed again: which there are to choose from, and that nothing else changes."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn
from brimstone.nn.recomputing import Call, Recomputing


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.dropout = nn.Dropout(0.5)

    def forward(self, x: Any, *, twice: bool = False) -> Any:
        """x plus what is made of it"""
        made = self.dropout(self.down(bs.tanh(self.up(self.norm(x)))))
        return x + (2 * made if twice else made)


class Stage(nn.Module):
    def __init__(self, width: int, count: int) -> None:
        self.blocks = tuple([Block(width) for _ in range(count)])
        self.end = nn.Linear(width, width)

    def forward(self, x: Any) -> Any:
        """through all blocks"""
        for place, block in enumerate(self.blocks):
            x = block(x, twice=place == 1)
        return self.end(x)


class Stages(nn.Module):
    def __init__(self, *counts: int) -> None:
        self.first = nn.Linear(3, 4)
        self.stages = tuple([Stage(4, count) for count in counts])

    def forward(self, x: Any) -> Any:
        """through all stages"""
        x = self.first(x)
        for stage in self.stages:
            x = stage(x)
        return x


def gradients(model: Any, recomputing: Recomputing) -> Any:
    def loss(model: Any, x: Any) -> Any:
        return (model(x) ** 2).mean()

    x = bs.asarray(np.linspace(-1, 1, 15, dtype=np.float32).reshape(5, 3))
    with nn.training(3), recomputing.watching():
        return bs.value_and_grad(loss)(model, x)


def paths(level: list[Call]) -> list[str]:
    assert {call.number for call in level} == {0}
    return [call.path for call in level]


def test_equal_parts_side_by_side_may_be_chosen_the_outermost_first() -> None:
    recomputing = Recomputing()
    gradients(Stages(2, 3), recomputing)
    outer, inner = recomputing.levels()
    assert paths(outer) == ["stages.0", "stages.1"]
    assert paths(inner) == [
        "stages.0.blocks.0", "stages.0.blocks.1",
        "stages.1.blocks.0", "stages.1.blocks.1", "stages.1.blocks.2",
    ]  # fmt: skip


def test_the_only_part_of_its_kind_is_looked_into() -> None:
    recomputing = Recomputing()
    gradients(Stages(2), recomputing)
    (level,) = recomputing.levels()
    assert paths(level) == ["stages.0.blocks.0", "stages.0.blocks.1"]


def test_parts_without_parts_are_none() -> None:
    recomputing = Recomputing()
    gradients(nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 4), nn.Linear(4, 1)), recomputing)
    assert recomputing.levels() == []


def test_a_part_that_is_called_twice_is_two_calls() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            self.block = Block(3)

        def forward(self, x: Any) -> Any:
            return self.block(self.block(x))

    recomputing = Recomputing()
    gradients(Twice(), recomputing)
    assert recomputing.levels() == [[Call("block", 0), Call("block", 1)]]


@pytest.mark.parametrize(
    "chosen",
    [
        [],
        ["stages.0.blocks.0"],
        ["stages.0.blocks.1", "stages.1.blocks.2"],
        ["stages.0", "stages.1"],
        ["stages.1", "stages.1.blocks.0"],
    ],
)
def test_nothing_changes_but_what_is_kept(chosen: list[str]) -> None:
    """The interpreter gives the same bits, dropout draws the same numbers."""
    with bs.device("reference"):
        model = Stages(2, 3)
        loss, grads = gradients(model, Recomputing())
        again, others = gradients(model, Recomputing([Call(path, 0) for path in chosen]))
    assert again.item() == loss.item()
    for one, other in zip(bs.tree_leaves(grads), bs.tree_leaves(others), strict=True):
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))


def test_chosen_parts_stand_under_checkpoints() -> None:
    with bs.device("reference"):
        model = Stages(2, 3)

        def count(*chosen: str) -> int:
            recomputing = Recomputing([Call(path, 0) for path in chosen])
            text = str(bs.jit(lambda: gradients(model, recomputing)).lower())
            return text.count("tensor.checkpoint")

        assert count() == 0
        assert count("stages.0.blocks.0") > 0
        assert count("stages.0.blocks.0", "stages.1.blocks.1") == 2 * count("stages.0.blocks.0")


def test_outside_of_the_block_nothing_is_chosen() -> None:
    recomputing = Recomputing([Call("stages.0", 0)])
    with pytest.raises(ZeroDivisionError), recomputing.watching():
        raise ZeroDivisionError
    x = bs.zeros((5, 3))
    text = str(bs.jit(bs.grad(lambda model: model(x).sum())).lower(Stages(2, 3)))
    assert "tensor.checkpoint" not in text
