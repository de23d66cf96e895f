"""The benchmarks compute what they say. Nothing is timed."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.targets.llvm.machines import host

ROOT = Path(__file__).resolve().parents[1]
PEERS = [name for name in ("numpy", "torch", "jax") if find_spec(name)]

pytestmark = pytest.mark.skipif(
    not (ROOT / "benchmarks").is_dir(), reason="these are tests of a checkout, and this is a copy"
)


@pytest.fixture(autouse=True)
def benchmarks_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)


def test_works_have_names_of_their_own() -> None:
    from benchmarks.works import all_works

    works = list(all_works([], "reference"))
    names = [(work.group, work.name) for work in works]
    assert len(set(names)) == len(names)
    assert all("brimstone" in work.sides for work in works)
    assert ("training", "150 small parameters") in names


def test_contestants_of_training_agree() -> None:
    from benchmarks.harness.rounds import prepare
    from benchmarks.works import training

    assert "brimstone" in prepare(training.mlp("reference", [5, 4, 3], 6), ["brimstone", *PEERS])
    runs = prepare(training.small_parameters("reference", 12), ["brimstone", *PEERS])
    assert len(runs["brimstone"]()) == 12


@pytest.mark.parametrize("chain", range(3))
def test_contestants_of_elementwise_agree(chain: int) -> None:
    from benchmarks.harness.rounds import prepare
    from benchmarks.works import elementwise

    for work in (elementwise.in_kept_memory, elementwise.in_fresh_memory):
        runs = prepare(work(elementwise.CHAINS[chain], "reference", 48), ["brimstone", *PEERS])
        assert "numpy" in runs


def test_contestants_that_disagree_are_refused() -> None:
    from benchmarks.harness.rounds import Disagreement, prepare
    from benchmarks.harness.work import Work

    sides = {"brimstone": lambda: lambda: {"a": 1.0}, "numpy": lambda: lambda: {"a": 2.0}}
    with pytest.raises(Disagreement, match="brimstone and numpy differ by 5"):
        prepare(Work("a group", "a work", list, sides), sides)


def test_the_mlp_learns_as_written_by_hand() -> None:
    from benchmarks.works import training

    work = training.mlp("reference", [5, 4, 3], 6)
    run = work.sides["brimstone"](*work.inputs())
    losses = [run() for _ in range(8)]
    np.testing.assert_allclose(losses, by_hand(*work.inputs(), steps=8), rtol=1e-5)
    assert losses[-1] < losses[0]


def by_hand(*arrays: np.ndarray, steps: int) -> list[float]:
    """The losses of AdamW on an MLP of two layers, with its gradients written out."""
    *weights, images, wanted = [array.astype(np.float64) for array in arrays]
    moments = [(np.zeros_like(each), np.zeros_like(each)) for each in weights]
    losses: list[float] = []
    for step in range(1, steps + 1):
        value, slopes = loss_and_slopes(weights, images, wanted)
        losses.append(value)
        for at, slope in enumerate(slopes):
            mean = 0.9 * moments[at][0] + 0.1 * slope
            square = 0.999 * moments[at][1] + 0.001 * slope**2
            moments[at] = mean, square
            size = np.sqrt(square / (1 - 0.999**step)) + 1e-8
            decayed = weights[at] * (1 - 1e-3 * 0.01)
            weights[at] = decayed - 1e-3 * mean / (1 - 0.9**step) / size
    return losses


def loss_and_slopes(
    weights: Sequence[np.ndarray], images: np.ndarray, wanted: np.ndarray
) -> tuple[float, list[np.ndarray]]:
    first, first_bias, second, second_bias = weights
    hidden = np.maximum(images @ first + first_bias, 0)
    scores = np.exp(hidden @ second + second_bias)
    chances = scores / scores.sum(1, keepdims=True)
    upper = (chances - wanted) / len(images)
    lower = (upper @ second.T) * (hidden > 0)
    slopes = [images.T @ lower, lower.sum(0), hidden.T @ upper, upper.sum(0)]
    return -float(np.mean(np.log((chances * wanted).sum(1)))), slopes


def test_small_kernels_are_as_many_as_they_should_be(monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import dispatch

    monkeypatch.setattr(dispatch, "KERNELS", 30)
    with bs.device("cpu"):
        explained = bs.explain(dispatch.chain)(bs.zeros(8))
    assert len(explained.kernels) == 30


def test_what_was_enqueued_is_checked() -> None:
    from benchmarks.dispatch import descent

    assert descent(lambda function: function, np.asarray, 3)() > 0
    assert descent(bs.jit, bs.asarray, 3)() > 0
    with pytest.raises(AssertionError, match="not equal"):
        descent(halving, np.asarray, 3)()


def test_quotients_closest_to_a_middle_are_those_of_division() -> None:
    from benchmarks.every_quotient import HIGH, LOW, Rows, close_numerators, wrong

    y = np.array(
        [LOW, LOW + 1, LOW + 2, LOW + 12, HIGH - 3, HIGH - 1, *range(9_999_000, 9_999_500)]
    )
    tried, differ = wrong(Rows(host()), y)
    assert tried > 5 * len(y)
    assert differ == 0
    x = close_numerators(y)
    quotients = x / y[:, None]
    last_place = np.spacing(quotients.astype(np.float32))
    from_a_middle = np.abs(quotients / last_place % 1 - 0.5)
    assert (from_a_middle[x != y[:, None]] < 2e-6).all()


def halving(function: Any) -> Any:
    """A compiler that makes mistakes."""
    return lambda *trees: {name: each / 2 for name, each in function(*trees).items()}


@pytest.mark.parametrize("every", (1, 5))
def test_threads_of_training_are_timed_and_held_to_what_each_does_alone(every: int) -> None:
    from benchmarks import threads

    with bs.device("cpu"):
        trainings = [threads.Training((6, 8, 3), 4, every, seed) for seed in range(3)]
        assert threads.same_bits(trainings, 10)
        assert [each.state.step.item() for each in trainings] == [10] * 3
    for some in (trainings[:1], trainings):
        step, cores = threads.rate(some, 0.01)
        assert step > 0 and cores > 0
    with threads.Processes((6, 8, 3), 4, every, 1) as processes:
        assert processes.step(0.01) > 0

    class Forgetful(threads.Training):
        """Begins further on each time."""

        turns = 0

        def begin(self) -> None:
            super().begin()
            self.go_on(self.turns)
            self.turns += every

    with bs.device("cpu"):
        assert not threads.same_bits([*trainings, Forgetful((6, 8, 3), 4, every, 0)], 10)


def test_what_rounds_of_threads_say() -> None:
    from benchmarks.threads import Rate, Round, told

    rounds = [Round(Rate(6e-4, 1.0), Rate(step, 1.9), 3e-4) for step in (3e-4, 4e-4, 5e-4)]
    said = told(rounds)
    assert "600.0 µs a step on 1.00 cores, together   400.0" in said
    assert "1.50 times the steps (1.20..2.00), as processes 2.00" in said


def test_steps_are_timed_within_a_profile_and_without() -> None:
    from benchmarks import profiler_costs

    with bs.device("cpu"):
        alone, times = profiler_costs.cost((6, 8, 3), 4, turns=2)
    assert 0 < alone < 1
    assert 0 < times < 100


@pytest.mark.parametrize(("times", "fails"), [(1.04, 0), (1.06, 1)])
def test_who_is_profiled_for_too_much_is_told(
    monkeypatch: pytest.MonkeyPatch, times: float, fails: int
) -> None:
    from benchmarks import profiler_costs

    monkeypatch.setattr(profiler_costs, "cost", lambda *_: (1e-3, times))
    monkeypatch.setattr("sys.argv", ["profiler_costs"])
    assert profiler_costs.main() == fails


def test_costs_of_compiling_are_told_by_stages(capsys: pytest.CaptureFixture[str]) -> None:
    from benchmarks.compile_time import measure, normal

    with bs.device("cpu"):
        measure(lambda x: bs.sum(bs.tanh(x), axis=0), (normal(300, 5),))
    told = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    before = ["record", "generalise", "simplify", "fuse", "tile", "gather", "name"]
    assert told == [*before, "------", "bind", "expand", "print", "LLVM", "all"]


@pytest.mark.slow
def test_all_of_a_transformer_is_machine_code() -> None:
    """Also products along axes that were merged, whose sizes no array has alone."""
    from benchmarks.transformer import slopes

    with bs.device("cpu"):
        function, arguments = slopes(1, 64, 2, 64, 2, 16)
        step = bs.jit(function)
        bs.sync(step(*arguments))
        told = str(step.explain(*arguments))
    assert "machine code" in told
    assert "interpreted" not in told
