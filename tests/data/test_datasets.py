"""Datasets in memory, and those that are made of others."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import data
from kit.mistakes import Mistake, check

ROWS = np.arange(12).reshape(6, 2)
TEN = list(range(10))
NOTHING: Any = 3
SHUFFLED = [2, 0, 1, 4, 5, 6, 7, 8, 3, 9]


def listed(dataset: Any) -> list[Any]:
    return [dataset[place] for place in range(len(dataset))]


def test_rows_of_arrays() -> None:
    dataset = data.InMemory({"x": ROWS, "y": [bs.asarray([0.0, 1, 2, 3, 4, 5])]})
    assert len(dataset) == 6
    item = dataset[4]
    assert item["x"].tolist() == [8, 9]
    assert item["y"] == [4.0]
    assert dataset[-1]["x"].tolist() == [10, 11]
    assert [each["x"][0] for each in dataset] == [0, 2, 4, 6, 8, 10]
    assert repr(dataset) == "InMemory of 6 items"
    batch = dataset.batch([5, 0])
    assert batch["x"].tolist() == [[10, 11], [0, 1]]
    assert batch["y"][0].tolist() == [5.0, 0.0]


class Columns:
    """A data frame, as far as somebody reads it."""

    columns = ("name", "age")

    def __getitem__(self, name: str) -> Any:
        return {"name": ["Ann", "Bo"], "age": np.array([3, 4])}[name]


@pytest.mark.parametrize(
    "frame", [Columns(), {"name": ["Ann", "Bo"], "age": [3, 4]}], ids=["frame", "dict"]
)
def test_rows_of_a_data_frame(frame: Any) -> None:
    dataset = data.Frame(frame)
    assert dataset[1] == {"name": "Bo", "age": 4}
    assert dataset.batch([1, 0])["name"] == ["Bo", "Ann"]
    assert listed(data.Frame(frame, columns=["age"])) == [{"age": 3}, {"age": 4}]


def test_mapped() -> None:
    dataset = data.Mapped(TEN, str)
    assert (len(dataset), dataset[3], dataset[-1]) == (10, "3", "9")


def test_a_dataset_of_ones_own_has_a_length_and_items() -> None:
    with pytest.raises(TypeError, match=r"abstract methods '?__len__'?, '?item'?"):
        data.Dataset()  # pyright: ignore[reportAbstractUsage]


def test_composed() -> None:
    dataset = data.Composed([0, 1], [], [2], data.Mapped([3, 4], float))
    assert listed(dataset) == [0, 1, 2, 3.0, 4.0]
    assert dataset[-1] == 4.0


def test_orders_are_decided_by_the_seed() -> None:
    shuffled = data.Shuffled(TEN, seed=3)
    assert listed(shuffled) == listed(data.Shuffled(TEN, seed=3)) != TEN
    assert sorted(listed(shuffled)) == TEN
    assert listed(data.Shuffled(TEN, seed=4)) != listed(shuffled)
    # What a seed gives is the same in every version: runs can be gone on with.
    assert listed(data.Shuffled(TEN)) == SHUFFLED


def test_samples() -> None:
    assert sorted(listed(data.Sampled(TEN, 10, seed=1))) == TEN
    assert len(set(listed(data.Sampled(TEN, 4)))) == 4
    drawn = listed(data.Sampled(TEN, 40, replacement=True))
    assert len(drawn) == 40
    assert set(drawn) <= set(TEN)
    assert listed(data.Sampled([], 0)) == []


def test_parts() -> None:
    assert listed(data.Partial(TEN, 2, 5)) == [2, 3, 4]
    assert listed(data.Selected(TEN, [7, 7, 0])) == [7, 7, 0]
    assert listed(data.Selected(TEN, [])) == []
    assert [listed(part) for part in data.split(TEN, [0.25, 0.75])] == [[0, 1], TEN[2:]]
    assert [len(part) for part in data.split(TEN, [0.3, 0.3, 0.4])] == [3, 3, 4]
    assert [listed(part) for part in data.split(TEN, [9, 1])] == [TEN[:9], [9]]
    one, other = data.split(TEN, [0.5, 0.5], seed=0)
    assert listed(one) + listed(other) == SHUFFLED


def test_windows() -> None:
    runs = data.Windows(np.arange(7), 3, step=2)
    assert [run.tolist() for run in runs] == [[0, 1, 2], [2, 3, 4], [4, 5, 6]]
    assert len(data.Windows(np.arange(2), 3)) == 0
    run = data.Windows([{"a": 1.5, "b": "x"}, {"a": 2.5, "b": "y"}], 2)[0]
    assert run["a"].tolist() == [1.5, 2.5]
    assert run["b"] == ["x", "y"]
    selected = data.Windows(data.Selected(data.InMemory(ROWS), [5, 3]), 2)[0]
    assert selected.tolist() == [[10, 11], [6, 7]]


MISTAKES = [
    Mistake(lambda: data.InMemory([1, 2]), bs.ArgumentError, "1 has no rows"),
    Mistake(lambda: data.InMemory({}), bs.ArgumentError, "no array"),
    Mistake(lambda: data.InMemory((ROWS, ROWS[1:])), bs.ShapeError, "int64[6, 2], int64[5, 2]"),
    Mistake(lambda: data.InMemory(ROWS)[6], IndexError, "no item 6 among 6"),
    Mistake(lambda: data.InMemory(ROWS)[-7], IndexError, "no item -7"),
    Mistake(lambda: data.Frame({"a": [1]}, ["b"]), bs.ArgumentError, "no column 'b' among ['a']"),
    Mistake(lambda: data.Frame(3), bs.ArgumentError, "expected a data frame, got int"),
    Mistake(lambda: data.Mapped(NOTHING, str), bs.ArgumentError, "expected a dataset, got int"),
    Mistake(lambda: data.Mapped(TEN, NOTHING), bs.ArgumentError, "expected a function"),
    Mistake(lambda: data.Composed(*[]), bs.ArgumentError, "no datasets"),
    Mistake(lambda: data.Selected(TEN, [10]), IndexError, "no item 10 among 10"),
    Mistake(lambda: data.Selected(TEN, [-1]), IndexError, "no item -1"),
    Mistake(lambda: data.Selected(TEN, np.array([0.5])), bs.ArgumentError, "list of integers"),
    Mistake(lambda: data.Shuffled(TEN, seed=-1), bs.ArgumentError, "seed is -1"),
    Mistake(lambda: data.Sampled(TEN, 11), bs.ArgumentError, "11 items cannot be drawn from 10"),
    Mistake(lambda: data.Partial(TEN, 5, 11), IndexError, "from 5 to 11 among 10"),
    Mistake(lambda: data.split(TEN, [0.5, 0.4]), bs.ArgumentError, "neither add up to 1"),
    Mistake(lambda: data.split(TEN, [2.0, -1.0]), bs.ArgumentError, "neither add up to 1"),
    Mistake(lambda: data.split(TEN, 0.8), bs.ArgumentError, "the shares are a sequence"),  # pyright: ignore[reportArgumentType]
    Mistake(lambda: data.split(TEN, []), bs.ArgumentError, "neither add up to 1"),
    Mistake(lambda: data.Windows(TEN, 0), bs.ArgumentError, "length is 0"),
]  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.words)
def test_mistakes(mistake: Mistake) -> None:
    check(mistake)
