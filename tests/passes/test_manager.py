"""The pass manager: how passes are declared, named, run, watched, and what a failing one leaves."""

import json
import os
import re
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from brimstone.ir import tensor  # noqa: F401 # declares the ops of the texts
from brimstone.ir.errors import ParseError, Unmet
from brimstone.ir.func import Func, Module
from brimstone.ir.parser import parse
from brimstone.ir.printer import print_module
from brimstone.passes import manager, pipelines
from brimstone.passes.context import Context, Settings
from brimstone.passes.cse import cse
from brimstone.passes.dead import dead
from brimstone.passes.declare import Pass, pipeline_pass
from brimstone.passes.manager import PassError, run_pipeline
from brimstone.passes.notation import parse_pipeline, pipeline_text, run_line
from brimstone.passes.report import chrome_trace, coloured, stage_diff, timing_table
from brimstone.passes.reproducer import write_aside
from brimstone.passes.stage import Stage

TEXT = """
func @f<n: 1..64>(%x: tensor<[n], f32>) -> tensor<[n], f32> {
  %a = tensor.exp %x : tensor<[n], f32>
  %b = tensor.exp %x : tensor<[n], f32>
  %unread = tensor.tanh %b : tensor<[n], f32>
  %c = tensor.add %a, %b : tensor<[n], f32>
  return %c
}

func @g(%x: tensor<[4], f32>) -> tensor<[4], f32> {
  %unread = tensor.exp %x : tensor<[4], f32>
  return %x
}
"""
QUIET = Settings(reproduce=False)


class Speed(Enum):
    SLOW = "slow"
    FAST = "fast"


@pipeline_pass("choosy")
def choosy(
    func: Func,
    context: Context,
    *,
    rounds: int = 3,
    eager: bool = False,
    scale: float = 1.5,
    name: str = "x",
    speed: Speed = Speed.SLOW,
    axes: tuple[int, ...] = (),
) -> None:
    """Keep what it was given.

    This line is not in the summary.
    """
    given.append((rounds, eager, scale, name, speed, axes))


given: list[tuple[Any, ...]] = []


@pipeline_pass("fragile")
def fragile(func: Func, context: Context, *, on: str = "f") -> None:
    """Fail on a func."""
    if func.name == on:
        raise KeyError("lost")


@pipeline_pass("breaks")
def breaks(func: Func, context: Context) -> None:
    """Let the first op of a block read the last one."""
    first, last = func.body.first, func.body.terminator.previous
    if first is not None and last is not None:
        first.set_operands((*last.results,))


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    for each in (choosy, fragile, breaks):
        monkeypatch.setitem(pipelines.PASSES, each.name, each)
    given.clear()


def test_a_pass_can_be_called_as_its_function() -> None:
    choosy(parse(TEXT).main, Context(), rounds=5)
    assert given == [(5, False, 1.5, "x", Speed.SLOW, ())]


def test_a_pass_tells_its_options_and_the_first_line_of_its_docstring() -> None:
    assert choosy.summary == "Keep what it was given."
    shown = 'choosy{rounds=3, eager=false, scale=1.5, name="x", speed=slow, axes=[]}'
    assert str(choosy) == shown


def test_options_are_checked() -> None:
    with pytest.raises(Unmet, match="choosy has no option 'round'"):
        choosy.with_options(round=3)
    with pytest.raises(Unmet, match="the option rounds of choosy: expected an integer, got 'a'"):
        choosy.with_options(rounds="a")


def test_declarations_are_checked() -> None:
    def silent(func: Func, context: Context) -> None: ...

    def positional(func: Func, context: Context, rounds: int = 3) -> None:
        """Count."""

    def required(func: Func, context: Context, *, rounds: int) -> None:
        """Count."""

    with pytest.raises(TypeError, match="the pass silent has no docstring"):
        pipeline_pass("silent")(silent)
    for wrong in (positional, required):
        with pytest.raises(TypeError, match="rounds, an option of the pass wrong, needs"):
            pipeline_pass("wrong")(wrong)


def test_a_pipeline_as_text_gives_options_their_types() -> None:
    text = 'choosy{rounds=-2, eager=true,scale=2, name="a,}", speed=fast, axes=[1, 0]} , dead'
    steps = parse_pipeline(text)
    assert [step.name for step in steps] == ["choosy", "dead"]
    run_pipeline(Module([parse(TEXT).main]), text)
    assert given == [(-2, True, 2.0, "a,}", Speed.FAST, (1, 0))]


@pytest.mark.parametrize(
    "text", ["", "cse,dead", "choosy{rounds=4, speed=fast},dead", "choosy{scale=0.1}"]
)
def test_the_text_of_a_pipeline_reads_back(text: str) -> None:
    assert pipeline_text(parse_pipeline(text)) == text


def test_a_pipeline_may_name_a_pipeline() -> None:
    assert pipeline_text(parse_pipeline("clean,choosy")) == "cse,dead,choosy"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ces", "passes:1:1: there is no pass named 'ces'; is it cse"),
        ("dead, zzz", "passes:1:7: there is no pass named 'zzz' (there are: cse, "),
        ("choosy{round=1}", "there is no option of choosy named 'round'; is it rounds?"),
        ("dead{x=1}", "there is no option of dead named 'x'"),
        ("choosy{rounds=x}", "expected an integer, found 'x'"),
        ("choosy{speed=warp}", "expected one of slow, fast, found 'warp'"),
        ("choosy{rounds=1, rounds=2}", "the option rounds stands twice"),
        ("choosy{rounds=1", "expected ',' or '}', found the end of the text"),
        ("cse dead", "expected ',', found 'dead'"),
        ("cse,,dead", "expected the name of a pass, found ','"),
    ],
)
def test_errors_in_a_pipeline_name_the_pass_and_what_is_close(text: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_pipeline(text)
    assert message in str(caught.value)


def test_run_lines() -> None:
    assert run_line(TEXT) is None
    assert run_line("// RUN: cse\n\n// words\n  // RUN: dead\nfunc") == ("cse,dead", None)
    assert run_line("func\n// RUN: cse") is None
    command = "// RUN: brimstone opt a.ir --passes 'choosy{rounds=3},dead' --fuel 4\nfunc"
    assert run_line(command) == ("choosy{rounds=3},dead", 4)


def test_every_step_runs_over_every_func_and_is_remembered() -> None:
    module = parse(TEXT)
    first, second = run_pipeline(module, (cse, dead))
    assert (first.name, second.name) == ("cse", "dead")
    assert [(span.func, span.applications) for span in second.spans] == [("f", 1), ("g", 1)]
    assert (first.ops_before, first.ops_after, second.ops_after) == (7, 6, 4)
    assert [change.op for change in second.applications] == ["tensor.tanh", "tensor.exp"]
    assert first.seconds > 0
    assert second.start >= first.start + first.seconds


def test_texts_are_kept_only_if_asked_for() -> None:
    (stage,) = run_pipeline(parse(TEXT), "dead")
    with pytest.raises(ValueError, match="not kept"):
        stage.before  # noqa: B018
    module = parse(TEXT)
    before = print_module(module)
    first, second = run_pipeline(module, "cse,dead", Context(settings=Settings(texts=True)))
    assert first.before == before
    assert first.after == second.before
    assert second.after == print_module(module)


def test_fuel_is_shared_by_all_passes() -> None:
    module, context = parse(TEXT), Context(fuel=2)
    stages = run_pipeline(module, "cse,dead", context)
    assert [len(stage.applications) for stage in stages] == [1, 1]
    assert context.left == 0
    assert [op.name for op in module["g"].walk()] == ["tensor.exp", "return"]


def test_observers_hear_of_each_stage_with_the_module_as_it_is_then() -> None:
    heard: list[tuple[str, int]] = []

    def observe(stage: Stage, module: Module) -> None:
        heard.append((stage.name, manager.count_ops(module)))

    run_pipeline(parse(TEXT), "cse,dead", Context(observers=[observe]))
    assert heard == [("cse", 6), ("dead", 4)]


def test_passes_see_the_module() -> None:
    seen: list[Module] = []

    @pipeline_pass("look")
    def look(func: Func, context: Context) -> None:
        """Look at the module."""
        seen.append(context.module)

    module = parse(TEXT)
    run_pipeline(module, (look,))
    assert seen == [module, module]


def test_broken_ir_is_found_after_the_pass_that_broke_it() -> None:
    with pytest.raises(PassError, match=r"left broken IR: .* not defined above"):
        run_pipeline(parse(TEXT), "dead,breaks,cse", Context(settings=QUIET))
    unchecked = Settings(verify=False, reproduce=False)
    assert len(run_pipeline(parse(TEXT), "dead,breaks", Context(settings=unchecked))) == 2


def test_a_failing_pass_is_named_with_its_func_and_cause() -> None:
    with pytest.raises(PassError) as caught:
        run_pipeline(parse(TEXT), 'dead,fragile{on="g"}', Context(settings=QUIET))
    expected = (
        r"the pass fragile failed on @g: KeyError: 'lost' \(in fragile, test_manager.py:\d+\)"
    )
    assert re.search(expected, str(caught.value))
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_failing_pass_leaves_a_file_whose_first_line_replays_it(tmp_path: Path) -> None:
    path = failing("cse,dead,fragile", tmp_path)
    first, text = path.read_text().split("\n", 1)
    assert first == "// RUN: brimstone opt reproducer.ir --passes fragile"
    expected = parse(TEXT)
    run_pipeline(expected, "cse,dead")
    assert print_module(parse(text)) == print_module(expected)
    assert 'at "<text>":3' in text
    assert os.listdir(tmp_path) == ["reproducer.ir"]


def test_a_reproducer_has_the_options_and_the_fuel_that_was_left(tmp_path: Path) -> None:
    path = failing('cse,fragile{on="f"}', tmp_path, fuel=7)
    found = run_line(path.read_text())
    assert found == ('fragile{on="f"}', 6)


def test_a_reproducer_of_broken_ir_holds_the_ir_before_it_broke(tmp_path: Path) -> None:
    text = failing("dead,breaks", tmp_path).read_text()
    with pytest.raises(PassError, match="left broken IR"):
        run_pipeline(parse(text), "breaks", Context(settings=QUIET))


def test_what_does_not_replay_is_kept_from_the_start(tmp_path: Path) -> None:
    calls: list[str] = []

    @pipeline_pass("moody")
    def moody(func: Func, context: Context) -> None:
        """Fail from the third call on."""
        calls.append(func.name)
        if len(calls) > 2:
            raise RuntimeError("no more")

    with pytest.raises(PassError) as caught:
        settings = Settings(reproducers=tmp_path)
        run_pipeline(parse(TEXT), (moody, fragile), Context(settings=settings))
    text = Path(caught.value.reproducer).read_text()
    assert run_line(text) == ("moody,fragile", None)
    assert print_module(parse(text)) == print_module(parse(TEXT))


def test_reproducers_go_where_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIMSTONE_REPRODUCERS", str(tmp_path / "new"))
    with pytest.raises(PassError):
        run_pipeline(parse(TEXT), "fragile")
    assert (tmp_path / "new" / "reproducer.ir").is_file()
    monkeypatch.delenv("BRIMSTONE_REPRODUCERS")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PassError, match=r"reproducer: .*reproducer\.ir"):
        run_pipeline(parse(TEXT), "fragile")
    assert (tmp_path / "reproducer.ir").is_file()


def test_a_reproducer_that_cannot_be_written_hides_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    settings = Settings(reproducers=tmp_path / "file")
    with pytest.raises(PassError, match=r"lost' .*\n  reproducer: could not be written"):
        run_pipeline(parse(TEXT), "fragile", Context(settings=settings))


def test_a_file_is_replaced_at_once_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.ir"
    write_aside(path, "old")

    def fail(*arguments: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_aside(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.ir"]


def test_the_diff_of_a_stage() -> None:
    stages = run_pipeline(parse(TEXT), "cse,cse", Context(settings=Settings(texts=True)))
    diff = stage_diff(stages[0])
    assert diff.startswith("--- before cse\n+++ after cse\n@@")
    assert "\n-  %b = tensor.exp %x : tensor<[n], f32>\n" in diff
    assert "\n+  %c = tensor.add %a, %a : tensor<[n], f32>\n" in diff
    assert stage_diff(stages[1]) == "--- cse changed nothing\n"


def test_colours_only_at_a_terminal() -> None:
    diff = "--- a\n+++ b\n@@ -1 +1 @@\n-old [red]\n+new\n same\n"
    assert shown(coloured(diff), terminal=False) == diff
    terminal = shown(coloured(diff), terminal=True)
    assert "\x1b[31m-old" in terminal
    assert "\x1b[32m+new" in terminal


def test_the_timing_table_has_a_row_for_each_stage_and_a_total() -> None:
    lines = shown(timing_table(run_pipeline(parse(TEXT), "cse,dead"))).splitlines()
    rows = [line.split() for line in lines if line.strip(" ─")]
    assert [row[0] for row in rows] == ["pass", "cse", "dead", "total"]
    assert rows[1][3:7] == ["1", "7", "→", "6"]
    assert rows[3][2:6] == ["3", "7", "→", "4"]
    assert "total" in shown(timing_table([]))


def test_the_trace_has_complete_events_for_passes_and_funcs() -> None:
    trace = json.loads(json.dumps(chrome_trace(run_pipeline(parse(TEXT), "cse,dead"))))
    events = trace["traceEvents"]
    names = [(event["cat"], event["name"]) for event in events]
    stage = [("func", "@f"), ("func", "@g"), ("verify", "verify")]
    assert names == [("pass", "cse"), *stage, ("pass", "dead"), *stage]
    assert {event["ph"] for event in events} == {"X"}
    assert events[0]["ts"] == 0
    first, inner = events[0], events[1]
    assert first["ts"] <= inner["ts"]
    assert inner["ts"] + inner["dur"] <= first["ts"] + first["dur"] + 0.01
    assert first["args"]["changes"] == 1
    assert chrome_trace([])["traceEvents"] == []


def test_every_pass_has_a_name_and_a_summary() -> None:
    for name, each in pipelines.PASSES.items():
        assert isinstance(each, Pass)
        assert each.name == name
        assert each.summary.endswith(".")
    assert not set(pipelines.PASSES) & set(pipelines.PIPELINES)


def failing(pipeline: str, folder: Path, fuel: int | None = None) -> Path:
    """Where the reproducer of a failing pipeline is."""
    context = Context(fuel, Settings(reproducers=folder))
    with pytest.raises(PassError) as caught:
        run_pipeline(parse(TEXT), pipeline, context)
    return Path(caught.value.reproducer)


def shown(what: Any, terminal: bool = False) -> str:
    console = Console(
        force_terminal=terminal, color_system="standard" if terminal else None, width=100
    )
    with console.capture() as captured:
        console.print(what, end="")
    return captured.get()
