"""Benchmarks of training: models learn alike in all libraries, and what is said of it is so."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
NEEDS = {"cnn": "sklearn"}

pytestmark = pytest.mark.skipif(
    not (ROOT / "benchmarks").is_dir(), reason="these are tests of a checkout, and this is a copy"
)


@pytest.fixture(autouse=True)
def benchmarks_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)


def small(name: str) -> Any:
    from benchmarks.learning import cases

    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"{NEEDS[name]}, which has the data, is missing")
    return cases([name], small=True)[name]


@pytest.mark.parametrize("name", ["gpt", "cnn", "mlp"])
def test_models_learn_alike(name: str) -> None:
    from benchmarks.harness.rounds import prepare
    from benchmarks.works import models

    work = models.step(small(name), "reference")
    runs = prepare(work, ["brimstone", *[each for each in ("torch",) if find_spec(each)]])
    losses = [runs["brimstone"]() for _ in range(4)]
    assert losses[-1] < losses[0]
    assert work.operations > 0


def test_a_library_may_have_several_sides() -> None:
    from benchmarks.harness.child import contestants

    sides = ["brimstone", "torch", "torch compiled", "jax"]
    assert contestants(sides, ["brimstone", "copy", "torch"]) == sides[:3]


def test_operations_are_those_of_the_products() -> None:
    """Forward, and the gradients of weights and of what is given, but of the first layer."""
    operations = small("mlp").operations
    assert operations == {
        "matmul": 2 * 6 * (12 * 8 + 2 * 8 * 4), "matmul and update": 2 * 6 * (12 * 8 + 8 * 4)
    }  # fmt: skip
