"""`passes.trace`: what is remembered of a run, how lines go together, and the data of the page."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from brimstone.ir import tensor
from brimstone.ir.func import Func, Module
from brimstone.ir.parser import parse
from brimstone.ir.printer import print_module
from brimstone.ir.rewriter import Rewriter, Rules, apply, rewrite
from brimstone.ir.values import Value
from brimstone.passes import Context, Pass, PassError, Settings, pipeline_pass, run_pipeline
from brimstone.passes.copying import copy_module
from brimstone.passes.cse import cse
from brimstone.passes.notation import Pipeline
from brimstone.passes.trace import Recorder, describe, page
from brimstone.passes.trace.align import Row, align, in_order
from brimstone.passes.trace.describe import shortened
from brimstone.passes.trace.lines import Line, lines_of
from brimstone.passes.trace.names import Names
from brimstone.passes.trace.page import json_for_html
from brimstone.passes.trace.rules import summaries
from brimstone.passes.trace.sources import excerpts
from kit.layers import SOURCE, network

UNNAMED = """\
func @f(%x: tensor<[4], f32>) -> tensor<[4], f32> {
  %0 = tensor.exp %x : tensor<[4], f32>
  %1 = tensor.tanh %x : tensor<[4], f32>
  %2 = tensor.exp %x : tensor<[4], f32>
  %3 = tensor.add %0, %2 : tensor<[4], f32>
  return %3
}
"""
NESTED = """\
func @f(%x: tensor<[4], f32>, %yes: tensor<[], bool>) -> tensor<[4], f32> {
  %y = tensor.cond %yes, %x (%a: tensor<[4], f32>) {
    %t = tensor.exp %a : tensor<[4], f32>
    yield %t
  } (%b: tensor<[4], f32>) {
    yield %b
  } : tensor<[4], f32>
  return %y
}
"""
HOSTILE = "</script><script>alert(1)</script> \"q\" 'a' & &amp; <!-- {{data}} \u2028 é中😀"
KEEP, REMOVE, ADD, CHANGE, MOVE_HOME = range(5)


@rewrite(tensor.Multiply)
def doubled(op: tensor.Multiply, rewriter: Rewriter) -> Value[Any] | None:
    """x * y -> x + y"""
    return rewriter.emit(tensor.Add, op.left, op.right)


MINE = Rules(doubled)


@pipeline_pass("adding")
def adding(func: Func, context: Context) -> None:
    """Apply the rule above, and drop what is dead."""
    apply(MINE, func, context)


@pipeline_pass("rebuild")
def rebuild(func: Func, context: Context) -> None:
    """Make every op anew."""
    copy = copy_module(Module([func]))[func.name]
    context.module.funcs[func.name] = copy


@pipeline_pass("reverse")
def reverse(func: Func, context: Context) -> None:
    """Move the second op to the front."""
    first, second, *_ = func.body
    func.body.move(second, first)


@pipeline_pass("fragile")
def fragile(func: Func, context: Context) -> None:
    """Drop a tanh, and fail."""
    for op in list(func.walk()):
        if op.name == "tensor.tanh":
            context.allow("fragile", op)
            op.erase()
            raise KeyError("lost")


@pipeline_pass("outline")
def outline(func: Func, context: Context) -> None:
    """Leave the module with a func more, and without one."""
    if func.name == "penalty":
        del context.module.funcs["penalty"]
        context.module.add(parse(UNNAMED)["f"])


def record(text: str, pipeline: Pipeline) -> Recorder:
    module = parse(text, "a.ir")
    recorder = Recorder(module)
    settings = Settings(reproduce=False)
    run_pipeline(module, pipeline, Context(settings=settings, observers=[recorder]))
    return recorder


def texts(lines: Sequence[Line]) -> list[str]:
    return [line.text.strip() for line in lines]


def changes(recorder: Recorder, func: str = "f") -> list[tuple[str | None, str | None]]:
    """The rows of the last pass in which not both sides are the same."""
    before = [recorder.start, *(moment.lines for moment in recorder.moments)][-2][func]
    after = recorder.last[func]
    rows = [
        (
            None if row.before is None else before[row.before].text.strip(),
            None if row.after is None else after[row.after].text.strip(),
        )
        for row in align(before, after)
    ]
    return [row for row in rows if row[0] != row[1]]


def rebuilt(described: dict[str, Any]) -> list[dict[str, list[str]]]:
    """The texts before the first pass and after each, as the page makes them from the edits."""
    version: dict[int, list[int]] = {}
    versions = [replay(version, described["start"])]
    for each in described["passes"]:
        versions.append(replay(versions[-1], each["edits"]))
    assert replay(versions[0], described["whole"]) == versions[-1]
    lines, funcs = described["lines"], described["funcs"]
    return [
        {funcs[func]: [lines[line] for line in found] for func, found in each.items() if found}
        for each in versions
    ]


def replay(version: dict[int, list[int]], edits: dict[int, list[int]]) -> dict[int, list[int]]:
    after = dict(version)
    for func, runs in edits.items():
        old, new = iter(version.get(func, [])), list[int]()
        for kind, count, first in zip(runs[::3], runs[1::3], runs[2::3], strict=True):
            for place in range(count):
                line = next(old) if kind != ADD else -1
                if kind != REMOVE:
                    new.append(line if kind == KEEP else first + place)
        assert next(old, None) is None
        after[func] = new
    return after


def test_lines_know_their_ops() -> None:
    func = parse(NESTED, "a.ir").main
    lines = lines_of(func, Names())
    assert "\n".join(line.text for line in lines) + "\n" == NESTED
    assert [line.location.places[0][1] for line in lines] == [1, 2, 3, 4, 2, 6, 2, 8, 1]
    assert len({line.key for line in lines}) == len(lines)


def test_a_value_keeps_its_number_while_others_go() -> None:
    recorder = record(UNNAMED, "dead,cse")
    assert texts(recorder.last["f"])[1:-1] == [
        "%0 = tensor.exp %x : tensor<[4], f32>",
        "%3 = tensor.add %0, %0 : tensor<[4], f32>",
        "return %3",
    ]


def test_a_number_is_not_given_twice() -> None:
    recorder = record(UNNAMED.replace("tensor.add", "tensor.multiply"), (adding,))
    assert "%4 = tensor.add %0, %2 : tensor<[4], f32>" in texts(recorder.last["f"])


def test_hints_are_as_before() -> None:
    module = parse(NESTED)
    Recorder(module)
    assert print_module(module) == NESTED
    assert [value.name for value in parse(UNNAMED).main.arguments] == ["x"]
    unnamed = parse(UNNAMED)
    Recorder(unnamed)
    assert all(op.results[0].name is None for op in unnamed.main.body if op.results)


def test_names_that_two_values_want_are_told_apart() -> None:
    func = parse(NESTED).main
    for op in func.walk():
        for result in op.results:
            result.name = "x"
    names = Names()
    assert sorted(names.of(func).values()) == ["a", "b", "x", "x_1", "x_2", "yes"]
    assert names.of(func) == names.of(func)


def test_a_func_that_was_built_anew_is_compared_by_its_text() -> None:
    assert changes(record(UNNAMED, (rebuild,))) == []
    assert changes(record(NESTED, (rebuild,))) == []


def test_readers_of_another_value_are_changed_lines() -> None:
    recorder = record(UNNAMED, "dead,cse")
    assert changes(recorder) == [
        ("%2 = tensor.exp %x : tensor<[4], f32>", None),
        ("%3 = tensor.add %0, %2 : tensor<[4], f32>", "%3 = tensor.add %0, %0 : tensor<[4], f32>"),
    ]


def test_an_op_that_takes_over_a_name_stands_beside_the_old_one() -> None:
    text = UNNAMED.replace("%3 = tensor.add", "%sum = tensor.multiply").replace("%3", "%sum")
    assert changes(record(text, (adding,)))[-1] == (
        "%sum = tensor.multiply %0, %2 : tensor<[4], f32>",
        "%sum = tensor.add %0, %2 : tensor<[4], f32>",
    )


def test_what_moves_is_taken_out_and_put_in() -> None:
    moved = "%1 = tensor.tanh %x : tensor<[4], f32>"
    other = "%0 = tensor.exp %x : tensor<[4], f32>"
    found = changes(record(UNNAMED, (reverse,)))
    assert found in ([(None, moved), (moved, None)], [(other, None), (None, other)])


def test_places_in_order_do_not_cross() -> None:
    assert in_order("abcde", "bacde") in (
        [(0, 1), (2, 2), (3, 3), (4, 4)],
        [(1, 0), (2, 2), (3, 3), (4, 4)],
    )
    assert in_order("abc", "") == []
    assert in_order("aab", "aab") == [(2, 2)]
    assert in_order([None, "x"], [None, "x"]) == [(1, 1)]
    assert in_order("dabc", "abcd") == [(1, 0), (2, 1), (3, 2)]


def test_every_line_stands_in_one_row() -> None:
    recorder = record(network(2, "model.py"), "simplify")
    before, after = recorder.start["main"], recorder.last["main"]
    rows = align(before, after)
    assert [row.before for row in rows if row.before is not None] == list(range(len(before)))
    assert [row.after for row in rows if row.after is not None] == list(range(len(after)))
    assert rows[0] == Row(0, 0)


def test_the_edits_make_every_text() -> None:
    recorder = record(network(3, "model.py"), "simplify,cse,dead,simplify")
    expected = [recorder.start, *(moment.lines for moment in recorder.moments)]
    found = rebuilt(describe(recorder, "a.ir"))
    assert found == [
        {name: [line.text for line in lines] for name, lines in each.items()} for each in expected
    ]


def test_funcs_may_come_and_go() -> None:
    recorder = record(network(1, "model.py"), (outline,))
    described = describe(recorder, "a.ir")
    assert described["funcs"] == ["main", "penalty", "f"]
    assert [list(each) for each in rebuilt(described)] == [["main", "penalty"], ["main", "f"]]


def test_a_pass_that_changes_nothing_has_no_edits() -> None:
    first, second = describe(record(UNNAMED, "dead,dead"), "a.ir")["passes"]
    assert first["edits"]
    assert second["edits"] == {}
    assert second["ops"] == [4, 4]


def test_a_change_of_the_location_alone_is_told_apart() -> None:
    described = describe(record(UNNAMED, "cse"), "a.ir")
    (runs,) = described["passes"][0]["edits"].values()
    assert MOVE_HOME in runs[::3]
    homes = [described["homes"][home] for home in described["homeOfLine"]]
    exp = "  %0 = tensor.exp %x : tensor<[4], f32>"
    found = [home for home, line in zip(homes, described["lines"], strict=True) if line == exp]
    places = described["places"]
    assert [[places[place] for place in home] for home in found] == [[[0, 2]], [[0, 2], [0, 4]]]


def test_what_is_said_of_a_pass() -> None:
    described = describe(record(UNNAMED, "simplify,dead"), "a.ir")
    (simplify, _) = described["passes"]
    assert described["title"] == "a.ir"
    assert described["pipeline"] == "simplify,dead"
    assert described["ops"] == [5, 4]
    assert (simplify["name"], simplify["options"], simplify["error"]) == ("simplify", "", None)
    assert simplify["summary"] == "Algebra that never changes a result's bits."
    assert simplify["seconds"] > 0
    assert simplify["shares"] == [[0, len(simplify["applications"]) // 3]]


def test_applications_name_their_rule_their_op_and_the_users_line() -> None:
    described = describe(record(UNNAMED, "cse"), "a.ir")
    rule, op, home = described["passes"][0]["applications"]
    assert described["rules"][rule] == ["cse", cse.summary]
    assert described["opNames"][op] == "tensor.exp"
    assert [described["places"][place] for place in described["homes"][home]] == [[0, 4]]


def test_rules_are_described_by_the_modules_of_the_passes() -> None:
    found = summaries([adding])
    assert found["doubled"] == "x * y -> x + y"
    assert found["adding"] == "Apply the rule above, and drop what is dead."
    assert "->" in found["fold"]
    elsewhere = Pass("lost", "Nowhere.", lambda: None, {})
    elsewhere.function.__module__ = "not.there"
    assert summaries([elsewhere])["lost"] == "Nowhere."


def test_options_are_shown() -> None:
    @pipeline_pass("chosen")
    def chosen(func: Func, context: Context, *, on: str = "") -> None:
        """Do nothing."""

    recorder = record(UNNAMED, (chosen.with_options(on=HOSTILE),))
    assert describe(recorder, "a.ir")["passes"][0]["options"].startswith('{on="</script>')


def test_a_pass_that_fails_is_shown_with_what_it_left() -> None:
    module = parse(UNNAMED, "a.ir")
    recorder = Recorder(module)
    context = Context(settings=Settings(reproduce=False), observers=[recorder])
    with pytest.raises(PassError) as caught:
        run_pipeline(module, (cse, fragile), context)
    recorder.fail(caught.value, context)
    described = describe(recorder, "a.ir")
    passed, failed = described["passes"]
    assert passed["error"] is None
    assert "KeyError: 'lost'" in failed["error"]
    assert failed["ops"] == [4, 3]
    assert described["rules"][failed["applications"][0]][0] == "fragile"
    assert "tanh" not in str(rebuilt(described)[-1])


def test_ir_too_broken_to_be_printed_does_not_hide_the_failure() -> None:
    @pipeline_pass("breaks")
    def breaks(func: Func, context: Context) -> None:
        """Leave something that is no block."""
        func.body.last = func.body.first = None  # ops that nobody can find
        context.module.funcs["none"] = None  # pyright: ignore[reportArgumentType]
        raise ValueError("broken")

    module = parse(UNNAMED, "a.ir")
    recorder = Recorder(module)
    context = Context(settings=Settings(reproduce=False), observers=[recorder])
    with pytest.raises(PassError) as caught:
        run_pipeline(module, (breaks,), context)
    recorder.fail(caught.value, context)
    described = describe(recorder, "a.ir")
    assert "broken" in described["passes"][0]["error"]
    assert described["ops"] == [5, 5]


def test_excerpts_have_the_lines_around(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text("".join(f"line {number}\n" for number in range(1, 31)))
    found = excerpts([(str(path), 2), (str(path), 20), (str(path), 99)], {})
    assert list(found[str(path)]) == [1, 2, 3, 4, 5, 17, 18, 19, 20, 21, 22, 23]
    assert found[str(path)][20] == "line 20"


def test_excerpts_leave_out_what_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    names = [tmp_path / "binary", tmp_path, tmp_path / "missing", "\0", "x" * 5000, "/dev/zero"]
    assert excerpts([(str(name), 1) for name in names], {}) == {}
    assert excerpts([("<stdin>", 1)], {"<stdin>": "known"}) == {"<stdin>": {1: "known"}}


def test_sources_can_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(SOURCE)
    recorder = record(network(1, str(tmp_path / "model.py")), "cse")
    (file,) = describe(recorder, "a.ir")["files"]
    (part,) = file["parts"]
    assert part == [1, SOURCE.splitlines()]
    (file,) = describe(recorder, "a.ir", sources=False)["files"]
    assert file["parts"] == []


def test_a_line_that_is_very_long_is_cut() -> None:
    assert shortened("x" * 4000) == "x" * 4000
    assert re.fullmatch(r"a{2000} … 3000 characters … b{2000}", shortened("a" * 3500 + "b" * 3500))


def test_nothing_in_the_data_can_end_its_element() -> None:
    text = json_for_html({HOSTILE: [HOSTILE, "\udcff"]})
    assert json.loads(text) == {HOSTILE: [HOSTILE, "\udcff"]}
    assert not set(text) & set("<>&")
    assert text.isascii()


def test_the_page_is_whole_and_asks_for_nothing() -> None:
    text = page(describe(record(UNNAMED, "cse"), HOSTILE))
    assert text.startswith("<!doctype html>")
    assert text.count("<script") == text.count("</script>") == 2
    assert "{{" not in text.replace(json_for_html(HOSTILE)[1:-1], "").replace("{{data}} ", "")
    assert "default-src 'none'" in text
    assert not re.search(r"""(?:src|href|url)\s*[=(]\s*["']?(?:https?:)?//""", text)


def test_a_page_without_passes_can_be_made() -> None:
    described = describe(Recorder(parse(UNNAMED)), "a.ir")
    assert described["passes"] == []
    assert described["whole"] == {}
    assert rebuilt(described)[0]["f"] == UNNAMED.splitlines()


def test_5000_ops_and_8_passes_make_a_small_page() -> None:
    recorder = record(network(250, "model.py"), "simplify,cse,dead,simplify,cse,dead,simplify,dead")
    assert recorder.ops > 5000
    assert len(page(describe(recorder, "a.ir"))) < 2_000_000
