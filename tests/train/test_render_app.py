"""The dashboard's screen: what is on it at every size, and what its keys do."""

import asyncio
import re
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from html import unescape
from math import nan
from typing import Any

import pytest

pytest.importorskip("textual", reason="textual, of the extra `train`, is not installed")

from textual.pilot import Pilot

from brimstone.train import Ended, EpochEnded, Event, Progress, Started
from brimstone.train.render.app import KEYS, DashboardApp
from brimstone.train.render.budget import AT_ONCE, AWAY, SHARE, Budget
from brimstone.train.render.health import Health
from brimstone.train.render.help import Help
from brimstone.train.render.panels import Gauges, Header, Notes, Part, Plot, Status
from kit.played_runs import told

RUN = list(told(epochs=3, batches=40))
HALF = RUN[: len(RUN) // 2]
Body = Callable[[DashboardApp, Pilot[None]], Awaitable[None]]


def piloted(
    body: Body,
    events: Iterable[Event | Health | None] = HALF,
    size: tuple[int, int] = (120, 40),
    ask: Callable[[], None] = lambda: None,
) -> DashboardApp:
    """A screen that has taken these events, and what a test does with it."""
    app = DashboardApp(deque(events), ask, lambda: Budget(spent=lambda: 0.0))

    async def run() -> None:
        async with app.run_test(size=size) as pilot:
            app.look()
            await pilot.pause()
            await body(app, pilot)

    asyncio.run(run())
    return app


def text_of(app: DashboardApp) -> str:
    """What stands on the screen."""
    drawn = app.export_screenshot()
    return unescape("".join(re.findall(r"<text[^>]*>(.*?)</text>", drawn))).replace("\xa0", " ")


def test_time_is_not_saved_up_while_nobody_looks() -> None:
    now = spent = 0.0
    budget = Budget(lambda: spent, lambda: now)
    spent = 0.9 * AT_ONCE
    assert not budget.is_over()
    spent = 1.1 * AT_ONCE
    assert budget.is_over()
    for _ in range(100):
        now += AWAY / 2
        budget.is_over()
    spent = AT_ONCE + 49 * AWAY * SHARE
    assert not budget.is_over()
    now += 1000 * AWAY  # stopped, or asleep
    spent = AT_ONCE + 52 * AWAY * SHARE
    assert budget.is_over()


def test_everything_is_there() -> None:
    async def body(app: DashboardApp, pilot: Pilot[None]) -> None:
        shown = text_of(app)
        for part in (
            "spirals", "training", "on cpu", "2/3", "62/120", "0:29", "16", "87.0 MiB", "120.0 MiB",
            "34", "1,234", "▸ loss", "accuracy", "learning rate", "━ train ", "━ valid ",
            "all steps", "epoch 2/3  0:29 left", "52%", "22/40", "step 40 is saved", "stop", "help",
        ):  # fmt: skip
            assert part in shown, part

    piloted(body, [*HALF, Health(87 << 20, 120 << 20, 34)])


@pytest.mark.parametrize(
    ("size", "parts"),
    [
        ((120, 40), {Header, Plot, Status, Gauges, Notes}),
        ((80, 24), {Header, Plot, Status, Gauges, Notes}),
        ((60, 24), {Header, Plot, Gauges, Notes}),
        ((40, 12), {Header, Plot, Gauges}),
        ((12, 6), {Header, Plot, Gauges}),
    ],
    ids=lambda value: "x".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_what_there_is_room_for(size: tuple[int, int], parts: set[type]) -> None:
    async def body(app: DashboardApp, pilot: Pilot[None]) -> None:
        seen = {type(part): part for part in app.query(Part) if part.region}
        assert set(seen) == parts
        assert all(part.region in app.screen.region for part in seen.values())
        plot = str(seen[Plot].render()).splitlines()
        assert max(len(line) for line in plot[1:]) <= seen[Plot].size.width

    piloted(body, size=size)


def test_a_terminal_that_shrinks() -> None:
    async def body(app: DashboardApp, pilot: Pilot[None]) -> None:
        assert app.query_one(Status).region
        await pilot.resize_terminal(40, 12)
        await pilot.pause()
        assert not app.query_one(Status).region
        assert "epoch 2/3" in text_of(app)

    piloted(body)


def test_keys_change_what_is_plotted() -> None:
    async def body(app: DashboardApp, pilot: Pilot[None]) -> None:
        plot = app.query_one(Plot)
        titles = list[Any]()
        for key in ("right", "right", "right", "left"):
            await pilot.press(key)
            await pilot.pause()
            titles.append(plot.border_title)
        assert titles == ["learning rate", "accuracy", "loss", "accuracy"]
        await pilot.press("f", "s")
        await pilot.pause()
        assert (app.view.recent, app.view.smoothed) == (True, False)
        assert plot.border_subtitle == "recent"

    piloted(body)


def test_names_are_taken_as_they_are() -> None:
    names = ["loss[0]", "[bold]", "nan"]
    batch = Progress("train", 1, 1, 1, 1, dict.fromkeys(names, nan), 8, 0.5)

    async def body(app: DashboardApp, pilot: Pilot[None]) -> None:
        for name in names:
            assert text_of(app).count(name) >= 2
            await pilot.press("right")
            await pilot.pause()

    piloted(body, [Started("[red]run", 1, 1), batch])


def test_another_run_may_have_other_metrics() -> None:
    async def body(app: DashboardApp, pilot: Pilot[None]) -> None:
        await pilot.press("left")
        app._inbox.extend([Started("next", 1, 1), EpochEnded("valid", 1, 1, {"error": 2.0}, 1.0)])
        app.look()
        await pilot.press("right", "left")
        await pilot.pause()
        assert app.query_one(Plot).border_title == "error"

    piloted(body)


def test_keys_do_nothing_before_there_is_something() -> None:
    async def body(app: DashboardApp, pilot: Pilot[None]) -> None:
        await pilot.press("right", "left", "f", "s")
        shown = text_of(app)
        assert "nothing to plot yet" in shown
        assert "starting" in shown

    piloted(body, [])


def test_the_help_names_every_key() -> None:
    async def body(app: DashboardApp, pilot: Pilot[None]) -> None:
        await pilot.press("question_mark")
        await pilot.pause()
        assert isinstance(app.screen, Help)
        shown = text_of(app)
        for binding in KEYS:
            assert binding.tooltip.split(";")[0] in shown
        await pilot.press("x")
        await pilot.pause()
        assert not isinstance(app.screen, Help)

    piloted(body)


def test_the_help_fits_where_it_is_small_and_lets_a_run_be_stopped() -> None:
    asked = list[None]()

    async def body(app: DashboardApp, pilot: Pilot[None]) -> None:
        await pilot.press("question_mark")
        await pilot.pause()
        assert app.screen.query_one("#help").region in app.screen.region
        await pilot.press("ctrl+c")
        assert len(asked) == 1

    piloted(body, size=(40, 12), ask=lambda: asked.append(None))


@pytest.mark.parametrize("key", ["q", "ctrl+c", "ctrl+q"])
def test_a_run_is_asked_to_stop_and_the_third_time_the_screen_is_left(key: str) -> None:
    asked = list[None]()

    async def body(app: DashboardApp, pilot: Pilot[None]) -> None:
        await pilot.press(key)
        await pilot.pause()
        assert "stopping after this step" in text_of(app)
        await pilot.press(key)
        assert len(asked) == 2
        assert not app._exit
        await pilot.press(key)
        assert app._exit

    piloted(body, ask=lambda: asked.append(None))


def test_the_end_of_a_run_and_of_its_messages() -> None:
    async def body(app: DashboardApp, pilot: Pilot[None]) -> None:
        assert "all epochs are done" in text_of(app)
        assert "100%" in text_of(app)
        app._inbox.append(None)
        app.look()
        assert app._exit

    piloted(body, RUN)


def test_a_run_that_was_stopped_is_done_and_says_why() -> None:
    async def body(app: DashboardApp, pilot: Pilot[None]) -> None:
        app.view.stopping = True
        app.draw()
        await pilot.pause()
        shown = text_of(app)
        assert "● done" in shown
        assert "stopping" not in shown
        assert "interrupted" in shown

    piloted(body, [*HALF, Ended(60, "interrupted", 1.0)])


def test_what_has_come_is_drawn_and_the_plot_now_and_then() -> None:
    drawn = list[int]()

    async def body(app: DashboardApp, pilot: Pilot[None]) -> None:
        app.draw = lambda frame=0: drawn.append(frame)
        app.look()
        assert not drawn, "nothing has come"
        for _ in range(2):
            app._inbox.extend(HALF)
            app.look()
        assert drawn == [1, 2], "one frame each, the first of which was before"
        app.look()
        app.look()
        assert drawn == [1, 2, 0], "all of it once, when nothing more comes"

    piloted(body)


def test_parts_are_drawn_where_they_show_something_else(monkeypatch: pytest.MonkeyPatch) -> None:
    refreshed = list[str]()

    async def body(app: DashboardApp, pilot: Pilot[None]) -> None:
        for part in app.query(Part):
            monkeypatch.setattr(part, "refresh", partial(refreshed.append, type(part).__name__))
        app.draw(1)
        assert not refreshed, "nothing is new, and it is not the plot's turn"
        app.draw(Plot.every)
        assert refreshed == ["Plot"]
        app.view.watched.take(Progress("train", 2, 63, 23, 40, {"loss": 0.125}, 8, 0.5))
        app.draw(Status.every)
        assert refreshed == ["Plot", "Status", "Gauges"]

    piloted(body)
