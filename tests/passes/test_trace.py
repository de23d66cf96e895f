"""`passes.trace`: what is remembered of a run, and the data of the page."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from brimstone.ir.func import Func
from brimstone.ir.parser import parse
from brimstone.passes import Context, Pass, PassError, Settings, pipeline_pass, run_pipeline
from brimstone.passes.cse import cse
from brimstone.passes.trace import Recorder, describe, page
from brimstone.passes.trace.describe import shortened
from brimstone.passes.trace.page import json_for_html
from brimstone.passes.trace.rules import summaries
from brimstone.passes.trace.sources import excerpts
from kit.layers import SOURCE, network
from kit.traces import UNNAMED, adding, record

HOSTILE = "</script><script>alert(1)</script> \"q\" 'a' & &amp; <!-- {{data}} \u2028 é中😀"
KEEP, REMOVE, ADD, CHANGE, MOVE_HOME = range(5)


@pipeline_pass("fragile")
def fragile(func: Func, context: Context) -> None:
    """Drop a tanh, and fail."""
    for op in list(func.walk()):
        if op.name == "tensor.tanh":
            context.allow("fragile", op)
            op.detach()
            raise KeyError("lost")


@pipeline_pass("outline")
def outline(func: Func, context: Context) -> None:
    """Leave the module with a func more, and without one."""
    if func.name == "penalty":
        del context.module.funcs["penalty"]
        context.module.add(parse(UNNAMED)["f"])


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
    return {**version, **{func: edited(version.get(func, []), edits[func]) for func in edits}}


def edited(lines: list[int], runs: list[int]) -> list[int]:
    old, new = iter(lines), list[int]()
    for kind, count, first in zip(runs[::3], runs[1::3], runs[2::3], strict=True):
        gone = [next(old) for _ in range(count)] if kind != ADD else []
        new += gone if kind == KEEP else range(first, first + count) if kind != REMOVE else []
    assert next(old, None) is None
    return new


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
