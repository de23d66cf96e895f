"""`brimstone demo`: what it trains, checks, draws and times, on screens of all kinds."""

import io
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from rich.text import Text
from typer.testing import CliRunner, Result

import brimstone as bs
from brimstone.command import application, demo
from brimstone.command.demo import by_hand, digits, drawing, peers, race
from brimstone.command.demo.report import MOST, kernel_table
from brimstone.command.demo.training import TOLERANCE, Training, difference, fingerprint, read
from brimstone.data import Example
from brimstone.frontend.explanation import Explanation
from brimstone.train import Run
from brimstone.train.render import Bars, Dashboard, Lines

BLOCK = "\N{UPPER HALF BLOCK}"


def blots(count: int, seed: int) -> Example:
    """Images of ten blots, with some noise: digits for who has no time."""
    size = (digits.SIDE, digits.SIDE)
    shapes = np.random.default_rng(7).choice([-1.0, 0.6], (digits.CLASSES, *size))
    random = np.random.default_rng(seed)
    labels = random.permutation(np.arange(count) % digits.CLASSES)
    images = shapes[labels] + random.normal(0, 0.2, (count, *size))
    return Example(images[:, None].clip(-1, 1).astype(np.float32), labels)


EPOCHS = 10
LEARNED, HELD = blots(192, 0), blots(40, 1)


@pytest.fixture(autouse=True)
def few_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the command learns, without scikit-learn."""
    monkeypatch.setattr(demo, "handwritten", lambda: (LEARNED, HELD))


def run(*options: str, **environment: str) -> Result:
    arguments = ["demo", "--epochs", "1", "--rounds", "1", *options]
    return CliRunner().invoke(application(), arguments, env=environment)


def screen(**settings: Any) -> Console:
    """A terminal of 80 columns with all colours, whose output is kept."""
    file = io.TextIOWrapper(io.BytesIO(), encoding=settings.pop("encoding", "utf-8"))
    given = {"width": 80, "height": 24, "color_system": "truecolor", "no_color": False}
    return Console(file=file, force_terminal=True, **(given | settings))


def shown(console: Console) -> str:
    console.file.seek(0)
    return console.file.read()


@pytest.fixture(scope="module")
def plain() -> Result:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "handwritten", lambda: (LEARNED, HELD))
        return run(COLUMNS="60", NO_COLOR="1")


@pytest.fixture(scope="module")
def trained() -> tuple[Training, Run]:
    with bs.device("cpu"):
        training = Training(LEARNED, HELD, epochs=EPOCHS)
        return training, training.run()


@pytest.fixture(scope="module")
def explanation(trained: tuple[Training, Run]) -> Explanation:
    training, made = trained
    with bs.device("cpu"):
        return training.learner.explain(made.state, bs.tree_map(bs.asarray, training.batch))


def test_every_part_is_shown(plain: Result) -> None:
    assert plain.exit_code == 0, plain.output
    told = " ".join(plain.stdout.split())
    for part in (
        "192 to learn from, 40 to be judged by",
        "digits: 1 epoch, 3 steps, 38,282 parameters, on cpu",
        "ended after 3 steps",
        " of 40 right: ",
        "is 0 1 2 3 4 5 6 7 8 9",
        "the same on every run on this device",
        "31 tensors agree",
        "kernels: machine code",
        "less than op by op",
    ):
        assert part in told
    rows = [line.split() for line in plain.stdout.splitlines()]
    assert next(row for row in rows if row[:1] == [race.OURS])[2] == "1.00"
    assert any(row[:1] == ["numpy"] and float(row[1]) > 0 for row in rows)


def test_the_report_has_a_line_for_each_large_kernel(plain: Result) -> None:
    report = plain.stdout.partition("What a step became")[2]
    kernels = re.findall(r"^[a-z]\w+\S* +\d+ +[\d.]+ [kM]B", report, re.MULTILINE)
    assert len(kernels) == MOST
    assert "that move less" in report


@pytest.mark.parametrize("width", [40, 72, 200])
def test_the_table_of_kernels_fits(width: int, explanation: Explanation) -> None:
    console = screen(width=width)
    console.print(kernel_table(explanation, console))
    lines = Text.from_ansi(shown(console)).plain.splitlines()
    assert max(len(line) for line in lines) <= width
    assert any("shapes = relu" in line for line in lines) == (width >= 72)


def test_all_of_the_report_names_every_line(
    trained: tuple[Training, Run], explanation: Explanation, monkeypatch: pytest.MonkeyPatch
) -> None:
    console = screen(width=40, color_system=None)
    monkeypatch.setattr(type(trained[0].learner), "explain", lambda *_: explanation)
    demo.explain(console, *trained, full=True)
    report = shown(console)
    for line in ("digits.py", "strokes = relu(self.strokes(images))", "cross_entropy", "apart"):
        assert line in report


def test_without_a_terminal_the_output_is_plain(plain: Result) -> None:
    assert "\x1b" not in plain.stdout
    drawn = plain.stdout.partition("What it reads")[2]
    assert max(map(len, drawn.splitlines())) <= 60


@pytest.mark.parametrize(
    "options", [["--epochs", "0"], ["--epochs", "some"], ["--seed", "-1"], ["--seed", str(2**64)]]
)
def test_silly_numbers_are_refused(options: list[str]) -> None:
    refused = run(*options)
    assert refused.exit_code == 2
    assert f"Invalid value for '{options[0]}'" in refused.stderr


def test_without_scikit_learn_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    monkeypatch.setattr(demo, "handwritten", digits.handwritten)
    refused = run()
    assert refused.exit_code == 1
    assert refused.stderr.count("\n") == 1
    assert "pip install scikit-learn" in refused.stderr


def test_a_wrong_step_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "difference", lambda *_: (14, float("nan")))
    failed = run()
    assert failed.exit_code == 1
    assert "of 14 tensors, one differs by nan" in failed.stderr


def test_a_peer_that_fails_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> peers.Advance:
        raise ImportError("no [such] library")

    monkeypatch.setattr(race, "installed", lambda: {"PyTorch": broken})
    console = screen(width=120)
    with bs.device("cpu"):
        race.compare(console, digits.Network(bs.random.key(0)), LEARNED, rounds=1)
    assert "PyTorch is left out: ImportError: no [such] library" in shown(console)


@pytest.mark.parametrize("part", ["handwritten", "judge"])
def test_an_interrupt_is_one_line(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, part, interrupted)
    stopped = run()
    assert (stopped.exit_code, stopped.stderr) == (130, "interrupted\n")


def test_a_run_that_is_interrupted_ends_the_show(monkeypatch: pytest.MonkeyPatch) -> None:
    def renderer(_: bool) -> Lines:
        lines = Lines()
        lines.interrupt.ask()
        return lines

    monkeypatch.setattr(Lines, "__enter__", lambda lines: lines)  # which would forget it
    monkeypatch.setattr(demo, "renderer", renderer)
    stopped = run()
    assert stopped.exit_code == 130
    assert stopped.stdout.splitlines()[-1].startswith("ended after 0 steps in")
    assert "interrupted" in stopped.stdout.splitlines()[-1]


def test_who_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(demo.renderer(False), Lines)
    monkeypatch.setattr(demo, "chosen_renderer", lambda: Dashboard.__new__(Dashboard))
    assert isinstance(demo.renderer(False), Dashboard)
    assert isinstance(demo.renderer(True), Bars)


@pytest.mark.parametrize("colours", ["truecolor", "256", "standard", None])
def test_the_table_of_what_is_read_as_what(colours: Any) -> None:
    console = screen(color_system=colours)
    counts = np.diag([3] * 10)
    counts[7, 1] = 12
    console.print(drawing.confusion_table(counts))
    written = shown(console)
    lines = [line.rstrip() for line in Text.from_ansi(written).plain.splitlines()]
    assert lines[0] == "is  0  1  2  3  4  5  6  7  8  9"
    assert lines[8] == " 7  . 12  .  .  .  .  .  3  .  ."
    assert ("\x1b[" in written) == (colours is not None)
    if colours == "truecolor":
        blue, orange = (";".join(map(str, each)) for each in (drawing.RIGHT, drawing.WRONG))
        assert (written.count(f"48;2;{blue}"), written.count(f"48;2;{orange}")) == (9, 1)


def corner() -> drawing.Array:
    """An image whose upper left quarter is ink, and a dot below it."""
    image = np.full((8, 8), -1, np.float32)
    image[:4, :4] = 1
    image[5, 0] = 1
    return image


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, None),
        ({"color_system": "standard"}, None),
        ({"color_system": None}, ["████    ", "████    ", "▄       ", "        "]),
        ({"no_color": True}, ["████    ", "████    ", "▄       ", "        "]),
        ({"encoding": "latin-1"}, ["@@@@    ", "@@@@    ", "=       ", "        "]),
        ({"encoding": "ascii"}, ["@@@@    ", "@@@@    ", "=       ", "        "]),
    ],
)
def test_images_are_drawn_as_the_screen_can(settings: dict[str, Any], expected: Any) -> None:
    console = screen(**settings)
    console.print(drawing.draw(console, corner()))
    written = shown(console)
    assert written.splitlines() == expected if expected else written.count(BLOCK) == 8 * 4


@pytest.mark.parametrize(("width", "expected"), [(20, 1), (60, 4), (200, 6)])
def test_some_misread_images_beside_each_other(width: int, expected: int) -> None:
    console = screen(width=width, color_system=None)
    wrong = (HELD.label + 1) % 10
    console.print(drawing.misread_images(console, HELD, wrong))
    lines = shown(console).splitlines()
    assert len(lines) == 5
    assert max(map(len, lines)) <= width
    assert lines[-1].count("read as") == expected
    assert lines[-1].startswith(f"{HELD.label[0]}, read as {wrong[0]}")


def test_nothing_is_drawn_where_all_is_read() -> None:
    assert drawing.misread_images(screen(), HELD, HELD.label) is None


def test_the_network_learns(trained: tuple[Training, Run]) -> None:
    training, made = trained
    with bs.device("cpu"):
        right = (read(made.model, training.held.input) == training.held.label).mean()
    assert right > 0.9
    assert made.history[-1].values["accuracy"] == pytest.approx(right)


def test_a_seed_decides_every_bit() -> None:
    def weights(seed: int) -> str:
        return fingerprint(Training(LEARNED, HELD, seed, epochs=1).run().model)

    with bs.device("cpu"):
        found = [weights(seed) for seed in (3, 3, 4)]
    assert found[0] == found[1] != found[2]


def test_the_fingerprint_is_of_every_bit() -> None:
    network = digits.Network(bs.random.key(0))
    zero = network.replace(digits=network.digits.replace(bias=bs.zeros(10)))
    minus = network.replace(digits=network.digits.replace(bias=-bs.zeros(10)))
    assert len({fingerprint(each) for each in (network, zero, minus)}) == 3
    assert fingerprint(zero) == fingerprint(minus.replace(digits=zero.digits))


def test_images_are_moved_by_a_pixel_at_most() -> None:
    wide = digits.with_margin(LEARNED)
    batch = Example(wide.input[[0] * 200 + [1]], wide.label[[0] * 200 + [1]])
    found = digits.moved(batch, np.random.default_rng(0))
    assert found.input.shape == (201, *LEARNED.input.shape[1:])
    assert found.label is batch.label
    images = {image.tobytes() for image in found.input[:200]}
    assert len(images) == 9
    assert LEARNED.input[0].tobytes() in images
    assert found.input[200].tobytes() not in images


def test_a_step_agrees_with_the_interpreter(trained: tuple[Training, Run]) -> None:
    training, made = trained
    count, apart = difference(training.learner, made.state, training.batch)
    assert count == 31
    assert 0 < apart < TOLERANCE
    assert int(made.state.step) == 3 * EPOCHS  # and the state may be read again


def test_a_wrong_step_differs(
    trained: tuple[Training, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    training, made = trained
    right = type(training.learner).step

    def wrong(learner: Any, state: Any, batch: Any) -> Any:
        state, report = right(learner, state, batch)
        is_judge = str(state.step.device) == "reference"
        return state, report if is_judge else replace(report, loss=report.loss + 1)

    monkeypatch.setattr(type(training.learner), "step", wrong)
    assert difference(training.learner, made.state, training.batch)[1] > TOLERANCE


@pytest.mark.parametrize("name", peers.installed())
def test_peers_train_the_same(name: str) -> None:
    batch = Example(LEARNED.input[:16], LEARNED.label[:16])
    with bs.device("cpu"):
        network = digits.Network(bs.random.key(0))
        ours = race.ours(network, batch)
        expected = [ours() for _ in range(12)]
    weights = zip(bs.tree_paths(network), bs.tree_leaves(network), strict=True)
    advance = peers.installed()[name]({path: each.numpy() for path, each in weights}, batch)
    np.testing.assert_allclose([float(advance()) for _ in range(12)], expected, rtol=1e-3)


def test_slopes_by_hand_are_those_of_the_library() -> None:
    network = digits.Network(bs.random.key(1))
    batch = Example(LEARNED.input[:8], LEARNED.label[:8])
    given = bs.tree_map(bs.asarray, batch)
    gradient = bs.grad(lambda network: digits.loss(network, given)[0])(network)
    paths = bs.tree_paths(network)
    weights = dict(zip(paths, [each.numpy() for each in bs.tree_leaves(network)], strict=True))
    slopes = by_hand.slopes_of(weights, batch)[1]
    for path, each in zip(paths, bs.tree_leaves(gradient), strict=True):
        np.testing.assert_allclose(slopes[path], each.numpy(), atol=1e-6)


def fails() -> float:
    raise RuntimeError("no such device")


@pytest.mark.parametrize(
    ("advance", "problem"),
    [(lambda: 1.0, None), (lambda: 1.1, race.Disagreement), (fails, RuntimeError)],
)
def test_who_takes_part(advance: Callable[[], float], problem: Any) -> None:
    failed = race.warm_up({"first": lambda: 1.0, "other": advance})
    assert [*map(type, failed.values())] == ([problem] if problem else [])


@pytest.mark.parametrize(("patience", "expected"), [(1000.0, 5), (-1.0, race.FEWEST_ROUNDS)])
def test_a_race_times_everybody(
    patience: float, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(race, "PATIENCE_SECONDS", patience)
    taken: list[str] = []
    names = ("one", "two")
    contestants = {name: lambda name=name: taken.append(name) or 1.0 for name in names}
    seconds = race.race(contestants, rounds=5)
    assert set(taken) == set(names)
    assert {name: len(each) for name, each in seconds.items()} == dict.fromkeys(names, expected)


@pytest.mark.slow
def test_the_digits_of_scikit_learn_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn comes with the extra `demo`")
    monkeypatch.setattr(demo, "handwritten", digits.handwritten)
    told = CliRunner().invoke(application(), ["demo", "--rounds", "1"])
    assert told.exit_code == 0, told.output
    right = re.search(r"(\d+) of 360 right", told.stdout)
    assert right is not None
    assert int(right[1]) >= 0.98 * 360
