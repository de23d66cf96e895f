"""What renderers are made of: histories, what is known of a run, dots, plots, words."""

from math import inf, nan

import pytest

from brimstone.train import Ended, EpochEnded, Progress, Started
from brimstone.train.render import words
from brimstone.train.render.captured import LINES, Capture
from brimstone.train.render.chart import chart, legend
from brimstone.train.render.dots import Dots
from brimstone.train.render.history import History, Point
from brimstone.train.render.watched import Watched
from kit.played_runs import loss_at, told

PLOT = """\
1.0 ┤⢢
    │ ⠱⡀
0.5 ┤  ⠈⠢⡀
    │    ⠈⠒⠤⣀⡀
0.0 ┤        ⠈⠉⠓⠒⠒⠢⠤⠤⠤⠤⠤⠤
    └┬──────────────────┬
     0                 20"""


def watched(*events: object) -> Watched:
    found = Watched()
    for event in events:
        found.take(event)  # type: ignore[arg-type]
    return found


def test_a_long_history_is_small_and_keeps_means_and_extremes() -> None:
    history = History(points=8, recent=4)
    for step in range(1, 101):
        history.add(step, -50.0 if step == 37 else float(step))
    points = history.all()
    assert len(points) <= 8
    assert min(point.low for point in points) == -50.0
    assert max(point.high for point in points) == 100.0
    assert points[0] == Point(8.5, 8.5, 1.0, 16.0)
    assert points[-1].step == pytest.approx(98.5)
    assert [point.mean for point in history.recent()] == [97.0, 98.0, 99.0, 100.0]


def test_what_is_no_number_has_no_place_in_a_history() -> None:
    history = History()
    for value in (nan, 1.0, inf):
        history.add(1, value)
    assert history.all() == [Point(1, 1.0, 1.0, 1.0)]


def test_what_is_known_of_a_run() -> None:
    events = list(told())
    assert watched().left is None
    assert watched().rate is None
    begun = watched(*events[:3])
    assert (begun.state, begun.epoch, begun.step, begun.done) == ("training", 1, 2, 2 / 6)
    assert begun.rate == pytest.approx(16.0)
    assert begun.left == pytest.approx(4 * 0.5)
    assert watched(*events[:6]).state == "validating"
    ended = watched(*events)
    assert (ended.state, ended.done, ended.left) == ("done", 1.0, 0.0)
    assert ended.notes[-1] == "all epochs are done"
    assert ended.values["loss", "valid"] == loss_at(6) + 0.25
    assert len(ended.histories["loss"]["train"].all()) == 6
    assert len(ended.histories["loss"]["valid"].all()) == 2


def test_epochs_are_a_history_where_batches_tell_nothing() -> None:
    ends = [EpochEnded("train", epoch, 5 * epoch, {"loss": 1.0}, 1.0) for epoch in (1, 2, 3)]
    assert len(watched(*ends).histories["loss"]["train"].all()) == 3


def test_a_run_that_goes_on_and_one_without_an_end() -> None:
    resumed = watched(Started("run", 4, 400, step=100, epoch=1))
    assert (resumed.step, resumed.epoch, resumed.done) == (100, 1, 0.25)
    endless = watched(Started("run", 4, None), Progress("train", 1, 1, 1, None, {}, 8, 0.5))
    assert endless.done is None
    assert endless.left is None


def test_another_run_is_known_from_its_own_events() -> None:
    again = watched(*told(epochs=5), *told())
    once = watched(*told())
    assert (again.step, again.left, again.rate) == (once.step, once.left, once.rate)
    assert again.notes == once.notes
    assert again.histories["loss"]["train"].all() == once.histories["loss"]["train"].all()


def test_dots_are_braille_and_the_last_colour_is_seen() -> None:
    dots = Dots(2, 1)
    dots.line((0, 0), (3, 3), "blue")
    assert dots.lines()[0].plain == "⠑⢄"
    dots.dot(0, 3, "red")
    dots.dot(9, 9, "red")
    assert dots.lines()[0].plain == "⡀⢄"
    assert [str(span.style) for span in dots.lines()[0].spans] == ["red", "blue"]


def test_a_plot_has_axes() -> None:
    history = History()
    for step in range(21):
        history.add(step, 0.8**step)
    drawn = chart({"train": history}, 25, 7, recent=False, smoothed=True).plain
    assert "\n".join(line.rstrip() for line in drawn.splitlines()) == PLOT


@pytest.mark.parametrize("size", [(1, 1), (4, 2), (12, 3), (24, 5), (30, 6), (80, 30)])
@pytest.mark.parametrize("recent", [False, True])
def test_plots_of_every_size_fit(size: tuple[int, int], recent: bool) -> None:
    histories = watched(*told(epochs=9, batches=40)).histories["loss"]
    drawn = chart(histories, *size, recent, smoothed=True).plain.splitlines()
    assert len(drawn) == size[1]
    assert {len(line) for line in drawn} == {size[0]}


def test_one_value_is_a_dot_and_none_is_said_so() -> None:
    assert chart({}, 40, 10, recent=False, smoothed=True).plain == "nothing to plot yet"
    history = History()
    history.add(5, 0.0)
    drawn = chart({"valid": history}, 40, 10, recent=False, smoothed=True).plain
    assert sum("⠀" < each <= "⣿" for each in drawn) == 1


def test_a_loss_that_was_never_a_number_is_not_plotted() -> None:
    lost = watched(*[Progress("train", 1, 1, 1, 1, {"loss": nan}, 8, 0.5)] * 3)
    for recent in (False, True):
        drawn = chart(lost.histories["loss"], 40, 10, recent, smoothed=True)
        assert drawn.plain == "nothing to plot yet"


def test_recent_validation_is_since_the_first_recent_batch() -> None:
    known = watched(*told(epochs=4, batches=128))
    train, valid = (known.histories["loss"][split] for split in ("train", "valid"))
    since = train.recent()[0].step
    assert [point.step for point in valid.recent() if point.step >= since] == [384, 512]
    drawn = chart(known.histories["loss"], 60, 12, recent=True, smoothed=False).plain
    assert drawn.split()[-3:] == ["300", "400", "500"]


def test_a_legend_has_the_latest_values() -> None:
    values = watched(*told()).values
    assert legend("loss", values).plain == " ━ train 0.4724   ━ valid 0.7224  "
    assert legend("learning rate", values).plain.split()[-1] == "1.67e-4"


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (words.duration(None), "?"),
        (words.duration(59.6), "1:00"),
        (words.duration(3661), "1:01:01"),
        (words.count(12.34), "12.3"),
        (words.count(1234), "1,234"),
        (words.count(45678), "45.7k"),
        (words.count(2.5e9), "2.5G"),
        (words.amount(512), "512 B"),
        (words.amount(87 << 20), "87.0 MiB"),
        (words.amount(3 << 50), "3072.0 TiB"),
        (words.place(1200, None), "1,200"),
    ],
)
def test_words(made: str, text: str) -> None:
    assert made == text


def test_what_is_printed_meanwhile_is_told_and_comes_later(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told_of = list[str]()
    capture = Capture(told_of.append)
    capture.begin()
    print("one\n\ntwo", end="")
    print(" three")
    for number in range(LINES):
        print(number)
    assert told_of[:3] == ["one", "two three", "0"]
    assert capsys.readouterr().out == ""
    capture.end()
    capture.end()
    assert capsys.readouterr().out == "".join(f"{number}\n" for number in range(LINES))


def test_the_end_of_a_run_is_its_state() -> None:
    known = watched(Started("run", 1, 10), Ended(4, "interrupted", 1.0))
    assert (known.state, known.notes[-1]) == ("done", "interrupted")
