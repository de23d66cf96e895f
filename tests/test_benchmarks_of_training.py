"""Benchmarks of training: models learn alike in all libraries, and what is said of it is so."""

import json
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import brimstone as bs

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


def test_weights_that_are_off_are_so_by_one_unit() -> None:
    from benchmarks.curves import shifted

    weights = {"a": np.array([1.0, -2.0, 0.0], np.float32)}
    units = np.abs(shifted(weights, seed=1)["a"] - weights["a"]) / np.spacing(np.abs(weights["a"]))
    assert ((units == 1) | (units == 0.5)).all()  # below a power of two they are half as large


def drawn(**off: float) -> dict[str, list[float]]:
    """Curves that are so far from PyTorch's at their ends."""
    from benchmarks.curves import OURS, PEER, SHIFTED, WIDE

    ends = {OURS: off["ours"], PEER: 0.0, WIDE: off["wide"]}
    ends |= {f"{SHIFTED} (1)": 0.0, f"{SHIFTED} (2)": off["shifted"], f"{SHIFTED} (3)": 0.0}
    return {name: [2.0, 1.0 + end] for name, end in ends.items()}


@pytest.mark.parametrize(
    ("off", "within"),
    [
        ({"ours": 0.4, "shifted": 0.0, "wide": 0.125}, True),
        ({"ours": 0.4, "shifted": 0.125, "wide": 0.0}, True),
        ({"ours": 0.6, "shifted": 0.125, "wide": 0.125}, False),
        ({"ours": float("nan"), "shifted": 0.125, "wide": 0.125}, False),
    ],
    ids=["as f64", "as one unit", "further", "no number"],
)
def test_curves_are_judged_by_what_rounding_does_to_the_peer(
    off: dict[str, float], within: bool, tmp_path: Path
) -> None:
    from benchmarks.curves import OURS, PEER, judged, save, table

    found = drawn(**off)
    apart, verdict = judged(found)
    assert verdict is within
    assert PEER not in apart
    assert apart[OURS].largest == pytest.approx(off["ours"] if within else apart[OURS].largest)
    save({"a model": found}, tmp_path / "curves.json")
    kept = json.loads((tmp_path / "curves.json").read_text())["a model"]
    assert kept["within noise"] is within
    assert kept["losses"][PEER] == [2.0, 1.0]
    assert table({"a model": found}).row_count == 1


def test_curves_of_both_libraries_are_within_noise() -> None:
    pytest.importorskip("torch", reason="PyTorch, a peer, is not installed")
    from benchmarks.curves import curves, judged

    found = curves(small("gpt"), 6, "reference", draws=2)
    assert len(found) == 5
    assert judged(found)[1]


def test_each_launch_of_a_step_is_of_a_kind() -> None:
    from benchmarks.profile_step import CHECKS, OTHER, WAITING, heading, profiled, table_of

    case = small("mlp")
    found = {each.name: each for each in table_of(*profiled(case, 2), case, 2)}
    assert OTHER not in found
    assert {"matmul", "matmul and update", "reductions and update", CHECKS} <= {*found}
    assert [*found][-1] == WAITING
    assert found["matmul and update"].operations == case.operations["matmul and update"]
    launches = sum([each.launches for each in found.values()])
    assert launches == int(launches) > 10
    assert f"{launches:g} launches a step" in heading(case, [*found.values()])


@pytest.mark.parametrize(
    ("ops", "read", "written", "kind"),
    [
        (["attention_backward"], 64, 64, "attention"),
        (["multiply", "convolve"], 64, 64, "convolution"),
        (["contract", "erf"], 64, 64, "matmul"),
        (["contract", "square_root", "divide"], 64, 64, "matmul and update"),
        (["exp", "reduce_sum", "divide"], 64, 64, "norms, softmax"),
        (["exp", "reduce_sum"], 64, 8, "reductions"),
        (["reduce_sum", "add"], 4, 4, "reductions"),
        (["reduce_sum", "square_root", "divide"], 64, 8, "reductions and update"),
        (["gather"], 64, 64, "gather, scatter"),
        (["subtract", "square_root"], 64, 64, "update"),
        (["copy"], 64, 64, "copies"),
        (["erf"], 64, 64, "elementwise"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else str(given),
)
def test_a_kernels_kind(ops: list[str], read: int, written: int, kind: str) -> None:
    from benchmarks.profile_step import kind_of

    reads, writes = ([SimpleNamespace(bytes=SimpleNamespace(number=n))] for n in (read, written))
    assert kind_of(SimpleNamespace(ops=tuple(ops), reads=reads, writes=writes)) == kind


@pytest.mark.parametrize(
    ("value", "budget", "most", "holds"),
    [(1.5, 1.5, True, True), (1.6, 1.5, True, False), (10, 10, False, True), (9, 10, False, False),
     (7, None, True, True), (float("nan"), 1.5, True, False)],
)  # fmt: skip
def test_costs_of_training_are_held_to_their_budgets(
    value: float, budget: float | None, most: bool, holds: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchmarks import training_costs

    figure = training_costs.Figure("a cost", value, "s", budget, most)
    assert figure.holds is holds
    monkeypatch.setattr(training_costs, "FIGURES", {"all": lambda: [figure]})
    monkeypatch.setattr("sys.argv", ["training_costs"])
    assert training_costs.main() == (0 if holds else 1)


def test_costs_of_training_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn, which has the digits, is not installed")
    from benchmarks import training_costs
    from benchmarks.learning import cases

    for name, small in {"STEPS": 8, "FEW_STEPS": 3, "MANY_STEPS": 9, "PARAMETERS": 4}.items():
        monkeypatch.setattr(training_costs, name, small)
    monkeypatch.setattr(training_costs, "_case", lambda name: cases([name], small=True)[name])
    monkeypatch.setattr(training_costs, "EPOCHS", 1)
    with bs.device("cpu"):
        assert training_costs.planned()["bytes"] > 0
        kept = training_costs.pool()
        assert kept["after"] == kept["before"]
        assert 0 < training_costs.parts()["python"] < 1
        assert training_costs.batches().keys() == {"plain", "moved"}
