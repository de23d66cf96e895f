"""`brimstone trace`: the command, and its page in a real browser.

What is done in the page is in `trace_page.js`, by the names that stand here.
"""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from brimstone.command import application
from brimstone.ir.func import Func
from brimstone.ir.parser import parse
from brimstone.passes import Context, PassError, Settings, pipeline_pass, pipelines, run_pipeline
from brimstone.passes.trace import Recorder, describe, page
from kit.browser import dom, needs_browser, tales
from kit.layers import SOURCE, network

SCENARIOS = Path(__file__).with_name("trace_page.js")
PIPELINE = "simplify,cse,dead,simplify"
IN_NETWORK = (
    "start", "passes", "marks", "changes", "folds", "toggles", "values", "keyboard", "source",
    "rewrites", "search", "funcs", "address", "nonsense", "names", "contrast",
)  # fmt: skip
LIGHT, DARK = (f"--blink-settings=preferredColorScheme={number}" for number in (1, 0))
HOSTILE = (
    "</script><script>window.hacked = 1</script> \"q\" 'a' & &amp; <!-- {{data}} \u2028 é中😀/"
)


@pipeline_pass("fragile")
def fragile(func: Func, context: Context, *, on: str = "") -> None:
    """Fail at a tanh."""
    for op in func.walk():
        if op.name == "tensor.tanh":
            raise KeyError(f"lost {on}")


def made(text: str, passes: Any, known: dict[str, str] | None = None, title: str = "a.ir") -> str:
    """The page of a run, which may fail."""
    module = parse(text, title)
    recorder = Recorder(module)
    context = Context(settings=Settings(reproduce=False), observers=[recorder])
    try:
        run_pipeline(module, passes, context)
    except PassError as error:
        recorder.fail(error, context)
    return page(describe(recorder, title, known))


def network_page(layers: int = 3) -> str:
    return made(network(layers, "model.py"), PIPELINE, {"model.py": SOURCE})


def play(html: str, folder: Path, *names: str, scheme: str = LIGHT) -> dict[str, Any]:
    """What is seen in some scenarios; a scenario that fails is the text of its error."""
    script = f"{SCENARIOS.read_text(encoding='utf-8')}\nrun({list(names)});"
    seen = tales(html, script, folder, scheme)
    assert seen["problems"] == []
    return seen


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """All that is seen in the page of a small network: starting a browser takes its time."""
    return play(network_page(), tmp_path_factory.mktemp("page"), *IN_NETWORK)


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(pipelines.PASSES, "fragile", fragile)
    (tmp_path / "model.py").write_text(SOURCE)
    (tmp_path / "a.ir").write_text(network(1, "model.py"))
    return tmp_path


def trace(*arguments: str) -> Result:
    return CliRunner().invoke(application(), ["trace", *arguments])


def test_the_command_writes_a_page(elsewhere: Path) -> None:
    shown = trace("a.ir", "--passes", PIPELINE)
    assert (shown.exit_code, shown.stdout, shown.stderr) == (0, "trace.html\n", "")
    line = "product - product.max(1, keepdims=True)"
    assert line in (elsewhere / "trace.html").read_text()
    assert trace("a.ir", "--passes", "cse", "-o", "b.html", "--no-sources").stdout == "b.html\n"
    assert line not in (elsewhere / "b.html").read_text()


def test_the_command_opens_the_page(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    trace("a.ir", "--passes", "cse", "--open")
    assert opened == [(elsewhere / "trace.html").as_uri()]


def test_the_command_takes_fuel_and_run_lines(elsewhere: Path) -> None:
    (elsewhere / "b.ir").write_text("// RUN: cse\n" + network(1, "model.py"))
    assert trace("b.ir", "--fuel", "1").exit_code == 0
    text = (elsewhere / "trace.html").read_text()
    assert '"pipeline":"cse"' in text
    assert '"shares":[[0,1],[1,0]]' in text


def test_no_passes_is_a_wrong_call(elsewhere: Path) -> None:
    shown = trace("a.ir")
    assert shown.exit_code == 2
    assert "no passes are named" in shown.stderr


def test_a_pass_that_fails_is_in_the_page_too(elsewhere: Path) -> None:
    shown = trace("a.ir", "--passes", "cse,fragile")
    assert shown.exit_code == 1
    assert "the pass fragile failed on @main" in shown.stderr
    assert "the pass fragile failed on @main" in (elsewhere / "trace.html").read_text()


@needs_browser
def test_the_page_as_it_is_written_runs_under_its_own_policy(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(network_page())
    shown = dom(path, "#pass=2")
    assert '<h2 id="name">cse' in shown
    assert shown.count('<tr class="removed"') == 3


@needs_browser
def test_what_one_sees_first(seen: dict[str, Any]) -> None:
    start = seen["start"]
    assert (start["pass"], start["file"], start["pipeline"]) == ("simplify", "a.ir", PIPELINE)
    assert start["facts"][:3] == ["ops 71 → 45 −37 %", "rewrites 19", "passes 4"]
    assert start["passes"] == ["All passes", *PIPELINE.split(",")]
    assert start["quiet"] == ["dead", "simplify"]
    assert start["counts"][2:4] == ["49 → 45 ops 4 rewrites", "45 ops no change"]


@needs_browser
def test_keys_and_links_go_from_pass_to_pass(seen: dict[str, Any]) -> None:
    assert seen["passes"] == [
        ["simplify", "#pass=1", "simplify", 2],
        ["cse", "#pass=2", "cse", 2],
        ["simplify", "#pass=4", "simplify", 2],
        ["dead", "#pass=3", "dead", 2],
        ["All passes", "#pass=0", "All passes", 1],
        ["cse", "#pass=2", "cse", 2],
    ]


@needs_browser
def test_changes_are_marked(seen: dict[str, Any]) -> None:
    marks = seen["marks"]
    assert marks["before"] == ["%8", "%22", "%36"]
    assert marks["after"] == ["%above_0", "%above_1", "%above_2"]
    assert marks["kinds"] == [42, 3, 3, 0, 0]
    assert marks["aligned"] is True
    assert marks["signs"] == ['"−"', '"~"']


@needs_browser
def test_keys_go_from_change_to_change(seen: dict[str, Any]) -> None:
    places, cursors = zip(*seen["changes"], strict=True)
    assert places == (
        "3 changes", "1 of 3 changes", "2 of 3 changes", "1 of 3 changes", "3 of 3 changes",
    )  # fmt: skip
    assert [each and each.split(" %")[0] for each in cursors] == [
        None, "%8 = tensor.exp", "%22 = tensor.exp", "%8 = tensor.exp", "%36 = tensor.exp",
    ]  # fmt: skip


@needs_browser
def test_what_is_unchanged_is_folded(seen: dict[str, Any]) -> None:
    folds = seen["folds"]
    assert folds["label"] == f"… {folds['opened']} unchanged lines"
    assert folds["opened"] > 4
    assert (folds["all"], folds["pressed"], folds["again"]) == (True, "false", True)


@needs_browser
def test_long_lines_are_cut_and_sources_shown_on_demand(seen: dict[str, Any]) -> None:
    toggles = seen["toggles"]
    assert toggles["shorter"] is True
    assert (toggles["hidden"], toggles["shown"]) == ("none", ["inline", "def main(x, weights):"])


@needs_browser
def test_values_show_their_uses_and_lead_to_their_definition(seen: dict[str, Any]) -> None:
    values = seen["values"]
    assert values["hovered"] == [3, 3, 0]
    assert values["left"] == 0
    definition = "%shifted_0 = tensor.subtract %product_0, %7 : tensor<[n, 256], f32>"
    assert values["jumped"] == [definition, "#pass=2&func=main&before=7"]
    assert values["back"] == "#pass=2"


@needs_browser
def test_lines_and_values_are_reached_without_a_mouse(seen: dict[str, Any]) -> None:
    keyboard = seen["keyboard"]
    assert keyboard["line"].startswith("%weight_0 = tensor.reshape %0 ")
    assert keyboard["value"] == "%0"
    assert keyboard["definition"].startswith("%0 = tensor.slice ")
    assert "%0 = tensor.slice " in keyboard["spoken"]
    assert keyboard["chosen"] == "#pass=1&func=main&source=model.py%3A4"


@needs_browser
def test_lines_and_their_source_show_each_other(seen: dict[str, Any]) -> None:
    source = seen["source"]
    assert source["uses"] == "3 → 0"
    assert source["fromLine"].pop("cursor").startswith("%11 = tensor.tanh ")
    hash_of_line = "#pass=1&func=main&source=model.py%3A9"
    assert source["fromLine"] == {"before": ["tensor.tanh"] * 3, "after": [], "hash": hash_of_line}
    assert source["fromRow"] == ["product = (x * 1.0) @ weight.T.T"]
    assert (source["forgotten"], source["hash"]) == (0, "#pass=1&func=main")


@needs_browser
def test_rewrites_say_what_they_do_and_where(seen: dict[str, Any]) -> None:
    rewrites = seen["rewrites"]
    assert rewrites["title"] == "Rewrites · 15"
    assert "3× multiply_by_one x * 1 -> x" in rewrites["groups"]
    (item,) = rewrites["items"]
    assert item == "tensor.permute model.py:5 product = (x * 1.0) @ weight.T.T 3×"
    assert rewrites["hash"] == "#pass=1&func=main&source=model.py%3A5"
    assert "tensor.permute" in rewrites["cursor"]


@needs_browser
def test_search(seen: dict[str, Any]) -> None:
    search = seen["search"]
    assert search["focused"] == "query"
    assert search["found"] == ["3 lines", 3, ["", "3 found in changes", "", "", ""]]
    assert search["seen"] == ["%11", "%25", "%39", "%11"]
    assert search["typing"] == "simplify"
    assert search["left"] == ["", 0]


@needs_browser
def test_the_func_is_chosen(seen: dict[str, Any]) -> None:
    funcs = seen["funcs"]
    assert funcs["options"] == ["@main · 6 changed lines", "@penalty · 2 changed lines"]
    assert [each[:2] for each in funcs["seen"]] == [
        ["main", "func @main<n: 1..65536>"],
        ["penalty", "func @penalty"],
        ["penalty", "func @penalty"],
        ["main", "func @main<n: 1..65536>"],
    ]
    addresses = [each[2] for each in funcs["seen"]]
    assert addresses == ["#pass=2", "#pass=2&func=penalty", "#pass=3", "#pass=3&func=main"]


@needs_browser
def test_an_address_leads_to_a_line(seen: dict[str, Any]) -> None:
    line = "%both = tensor.multiply %doubled, %doubled : tensor<[8], f32>"
    assert seen["address"] == ["All passes", line, "2 lines"]
    assert seen["nonsense"] == ["simplify", None]


@needs_browser
def test_everything_has_a_name_and_few_things_are_stops(seen: dict[str, Any]) -> None:
    names = seen["names"]
    assert (names["unnamed"], names["doubled"]) == ([], [])
    assert names["stops"] < 50
    assert names["line"].startswith("4")
    assert names["help"] is True


@needs_browser
def test_everything_can_be_read(seen: dict[str, Any], tmp_path: Path) -> None:
    """Text stands out from what is behind it as much as WCAG's level AA asks for."""
    dark = play(network_page(), tmp_path, "contrast", scheme=DARK)["contrast"]
    assert (sum(seen["contrast"]["behind"]), sum(dark["behind"]) < 100) == (3 * 255, True)
    for contrast in (seen["contrast"], dark):
        assert contrast["shown"] > 200
        assert contrast["weak"] == []


@needs_browser
def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    quoted = HOSTILE.replace('"', '\\"')
    text = f"""\
func @f(%x: tensor<[4], f32>) -> tensor<[4], f32> with {{note: "{quoted}"}} {{
  %b = tensor.tanh %x : tensor<[4], f32> at "{quoted}":2, "other.py":3
  return %b
}}
"""
    passes = (pipelines.PASSES["dead"], fragile.with_options(on=HOSTILE))
    html = made(text, passes, {HOSTILE: f"one\n{HOSTILE}"}, HOSTILE)
    found = play(html, tmp_path, "hostile")["hostile"]
    assert (found["hacked"], found["images"], found["scripts"]) == (None, 0, 4)
    assert found["title"].startswith("</script><script>window.hacked = 1</script>")
    assert found["strings"] == [f'"{" ".join(quoted.split())}"']
    for shown in (found["error"], found["options"], found["line"]):
        assert shown.startswith(("the pass", "{on=", "one"))
    assert "<script>window.hacked" in found["error"]
    assert "%3C%2Fscript%3E" in found["hash"]


@needs_browser
def test_a_pass_that_failed_is_what_one_sees_first(tmp_path: Path) -> None:
    html = made(network(1, "model.py"), (pipelines.PASSES["cse"], fragile))
    failure = play(html, tmp_path, "failure")["failure"]
    error = "the pass fragile failed on @main: KeyError: 'lost '"
    assert failure.pop("error").startswith(error)
    assert failure == {"pass": "fragile", "hidden": False, "label": "failed"}


@needs_browser
def test_a_large_page_makes_only_what_is_near_the_screen(tmp_path: Path) -> None:
    large = play(network_page(250), tmp_path, "large")["large"]
    assert large["rows"] > 5000
    assert 30 < large["made"] < 300
    assert large["end"] == "}"
    assert large["groups"][0] == "250×"
    assert large["open"] == 0
