"""`brimstone trace`: the command, and its page in a real browser."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from kit.browser import dom, drive, needs_browser
from kit.layers import SOURCE, network
from typer.testing import CliRunner, Result

from brimstone.command import application
from brimstone.ir.func import Func
from brimstone.ir.parser import parse
from brimstone.passes import Context, PassError, Settings, pipeline_pass, pipelines, run_pipeline
from brimstone.passes.trace import Recorder, describe, page

HOSTILE = '</script><script>window.hacked = 1</script> \\"q\\" & &amp; <!-- {{data}} \u2028 é中😀/'
PIPELINE = "simplify,cse,dead,simplify"
DARK, LIGHT = "--blink-settings=preferredColorScheme=0", "--blink-settings=preferredColorScheme=1"


@pipeline_pass("fragile")
def fragile(func: Func, context: Context, *, on: str = "") -> None:
    """Fail at a tanh."""
    for op in func.walk():
        if op.name == "tensor.tanh":
            raise KeyError(f"lost {on}")


@cache
def network_page(layers: int = 3) -> str:
    """A page of equal layers whose source is known."""
    return made(network(layers, "model.py"), PIPELINE, {"model.py": SOURCE})


def made(text: str, passes: Any, known: dict[str, str] | None = None, title: str = "a.ir") -> str:
    module = parse(text, title)
    recorder = Recorder(module)
    context = Context(settings=Settings(reproduce=False), observers=[recorder])
    try:
        run_pipeline(module, passes, context)
    except PassError as error:
        recorder.fail(error, context)
    return page(describe(recorder, title, known))


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
    assert SOURCE.splitlines()[4] in (elsewhere / "trace.html").read_text()
    assert trace("a.ir", "--passes", "cse", "-o", "b.html", "--no-sources").stdout == "b.html\n"
    assert SOURCE.splitlines()[4] not in (elsewhere / "b.html").read_text()


def test_the_command_opens_the_page(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    trace("a.ir", "--passes", "cse", "--open")
    assert opened == [(elsewhere / "trace.html").as_uri()]


def test_the_command_takes_fuel_and_run_lines(elsewhere: Path) -> None:
    (elsewhere / "b.ir").write_text("// RUN: cse\n" + network(1, "model.py"))
    assert trace("b.ir", "--fuel", "1").exit_code == 0
    assert '"applications":[0,0,' in (elsewhere / "trace.html").read_text()


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
def test_the_page_as_it_is_written(tmp_path: Path) -> None:
    """With its policy: the browser runs its script, and no other."""
    path = tmp_path / "page.html"
    path.write_text(network_page())
    shown = dom(path, "#pass=2")
    assert '<h2 id="name">cse' in shown
    assert shown.count('<tr class="removed"') == 4
    assert shown.count('<tr class="changed"') == 3


@needs_browser
def test_passes_are_gone_through_with_keys(tmp_path: Path) -> None:
    script = """
        const shown = () => [$("name").textContent, location.hash, text("#passes [aria-current] .name")];
        const start = shown();
        await press("j"); const next = shown();
        await press("j"); await press("j"); await press("j"); const last = shown();
        await press("k"); const back = shown();
        return [start, next, last, back, texts("#passes .name"), texts("#passes .quiet .name")];
    """
    start, following, last, back, names, quiet = drive(network_page(), tmp_path, script)
    assert start == ["simplify", "", "simplify"]
    assert following == ["cse", "#pass=2", "cse"]
    assert last == ["simplify", "#pass=4", "simplify"]
    assert back == ["dead", "#pass=3", "dead"]
    assert names == ["All passes", *PIPELINE.split(",")]
    assert quiet == ["dead", "simplify"]


@needs_browser
def test_changes_are_marked_and_gone_through(tmp_path: Path) -> None:
    script = """
        const marks = texts('.changed [data-side="before"] .mark').concat(texts('.changed [data-side="after"] .mark'));
        const positions = [text("#position")];
        for (const key of ["n", "n", "p", "p"]) await press(key), positions.push(text("#position"));
        const at = text("tr.cursor [data-side=before]");
        return [marks, positions, at, texts("#rows .fold button"), texts("#rows tr").length];
    """
    marks, positions, at, folds, rows = drive(network_page(), tmp_path, script, "#pass=2")
    assert marks == ["%8", "%22", "%36", "%above_0", "%above_1", "%above_2"]
    assert positions == [
        "4 changes", "1 of 4 changes", "2 of 4 changes", "1 of 4 changes", "4 of 4 changes",
    ]  # fmt: skip
    assert at.strip() == "%40 = tensor.subtract %17, %17 : tensor<[], f32>" or "tensor" in at
    assert all(fold.startswith("… ") and fold.endswith("unchanged lines") for fold in folds)
    assert folds


@needs_browser
def test_folds_open(tmp_path: Path) -> None:
    script = """
        const count = () => document.querySelectorAll("#rows tbody tr[data-row]").length;
        const all = table.rows.length, folded = count(), button = document.querySelector(".fold button");
        const promised = Number(button.textContent.match(/\\d+/)[0]);
        await click(button); const opened = count();
        await press("e", document.body); const everything = count();
        return [opened - folded === promised, everything === all, $("fold").getAttribute("aria-pressed")];
    """
    assert drive(network_page(), tmp_path, script, "#pass=2") == [True, True, "false"]


@needs_browser
def test_values_show_their_uses_and_lead_to_their_definition(tmp_path: Path) -> None:
    script = """
        const side = (name) => [...document.querySelectorAll(`[data-side=${name}] [data-value="%shifted_0"]`)];
        const use = side("before").at(-1);
        const colour = (each) => getComputedStyle(each).backgroundColor;
        const plain = colour(use);
        use.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
        const marked = side("before").filter((each) => colour(each) !== plain).length;
        const other = side("after").filter((each) => colour(each) !== plain).length;
        await click(use);
        const cursor = text("tr.cursor [data-side=before]").trim(), hash = location.hash;
        history.back(); await later();
        return [side("before").length, marked, other, cursor, hash, location.hash];
    """
    found = drive(network_page(), tmp_path, script, "#pass=2")
    cursor = "%shifted_0 = tensor.subtract %product_0, %7 : tensor<[n, 256], f32>"
    assert found == [3, 3, 0, cursor, "#pass=2&func=main&before=7", "#pass=2"]


@needs_browser
def test_lines_and_values_are_reached_without_a_mouse(tmp_path: Path) -> None:
    script = """
        $("scroll").focus();
        for (const key of ["ArrowDown", "ArrowDown", "ArrowDown"]) await press(key);
        const line = text("tr.cursor [data-side=before]").trim();
        await press("ArrowRight"); await press("ArrowRight");
        const value = text(".value.cursor");
        await press("Enter");
        const definition = text("tr.cursor [data-side=before]").trim().slice(0, 18);
        await press("Enter");
        return [line.slice(0, 9), value, definition, location.hash, text("#announcement").includes("tensor.slice")];
    """
    found = drive(network_page(), tmp_path, script, "#pass=1")
    chosen = "#pass=1&func=main&source=model.py%3A4"
    assert found == ["%weight_0", "%0", "%0 = tensor.slice ", chosen, True]


@needs_browser
def test_a_source_line_shows_what_comes_from_it(tmp_path: Path) -> None:
    script = """
        const bars = (side) => [...document.querySelectorAll(`.code[data-side=${side}]`)]
            .filter((cell) => getComputedStyle(cell).backgroundImage !== "none").map((cell) => cell.textContent.trim().split(" ")[2]);
        const line = [...document.querySelectorAll("button.line")].find((each) => each.innerText.includes("activity"));
        const uses = line.querySelector(".uses").textContent;
        await click(line);
        const first = [bars("before"), bars("after"), location.hash, text("tr.cursor .code").includes("tanh")];
        await click([...document.querySelectorAll('.code[data-side="after"]')].find((each) => each.textContent.includes("%product_1 =")));
        const chosen = texts(".line").filter((_, at) => getComputedStyle(document.querySelectorAll(".line")[at]).backgroundImage !== "none");
        await press("Escape");
        return [uses, ...first, chosen.map((each) => each.split("\\n").at(-1).trim()), bars("before"), location.hash];
    """
    uses, before, after, address, cursor, chosen, none, left = drive(
        network_page(), tmp_path, script, "#pass=1"
    )
    assert uses == "3 → 0"
    assert (before, after) == (["tensor.tanh"] * 3, [])
    assert address == "#pass=1&func=main&source=model.py%3A9"
    assert cursor is True
    assert chosen == ["product = (x * 1.0) @ weight.T.T"]
    assert none == []
    assert left == "#pass=1&func=main"


@needs_browser
def test_rewrites_say_what_they_do_and_where(tmp_path: Path) -> None:
    script = """
        const groups = texts("#rewrites summary"), items = texts("#rewrites details:first-child li");
        await click(document.querySelector("#rewrites li button"));
        return [groups, items, location.hash, text("tr.cursor .code").trim().split(" ")[2]];
    """
    groups, items, address, op = drive(network_page(), tmp_path, script, "#pass=1")
    assert "3× multiply_by_one x * 1 -> x" in [" ".join(each.split()) for each in groups]
    assert "model.py:5" in items[0]
    assert items[0].endswith("3×")
    assert address == "#pass=1&func=main&source=model.py%3A5"
    assert op == items[0].split()[0]


@needs_browser
def test_search(tmp_path: Path) -> None:
    script = """
        await press("/");
        const focused = document.activeElement.id;
        $("query").value = "TENSOR.TANH"; $("query").dispatchEvent(new Event("input"));
        const marked = CSS.highlights.get("found").size, found = text("#found");
        await press("Enter"); const first = text("tr.cursor .code").trim().slice(0, 17);
        await press("Enter"); const second = text("tr.cursor .code").trim().slice(0, 17);
        return [focused, marked, found, first, second, texts("#passes .hits")];
    """
    focused, marked, found, first, second, hits = drive(network_page(), tmp_path, script, "#pass=1")
    assert (focused, marked, found) == ("query", 3, "3 lines")
    assert (first, second) == ("%11 = tensor.tanh", "%25 = tensor.tanh")
    assert hits == ["", "3 found in changes", "", "", ""]


@needs_browser
def test_the_func_is_chosen(tmp_path: Path) -> None:
    script = """
        const options = texts("#func option"), start = $("func").value;
        await press("]"); const next = [$("func").value, text("#rows .code"), location.hash];
        await press("j"); const kept = $("func").value;
        $("func").value = "main"; $("func").dispatchEvent(new Event("change")); await later();
        return [options, start, next, kept, text("#rows .code").slice(0, 10)];
    """
    options, start, following, kept, last = drive(network_page(), tmp_path, script, "#pass=2")
    assert options == ["@main · 10 changed lines", "@penalty · 2 changed lines"]
    assert start == "main"
    assert following[0] == kept == "penalty"
    assert following[1].startswith("func @penalty(")
    assert following[2] == "#pass=2&func=penalty"
    assert last == "func @main"


@needs_browser
def test_addresses_lead_to_a_line(tmp_path: Path) -> None:
    script = 'return [text("#name"), text("tr.cursor .code.after").trim(), text("#found")];'
    found = drive(network_page(), tmp_path, script, "#pass=0&func=penalty&after=3&find=both")
    both = "%both = tensor.multiply %doubled, %doubled : tensor<[8], f32>"
    assert found == ["All passes", both, "2 lines"]
    nonsense = "#pass=99&func=none&before=7000&source=nothing:1&=&&after=x"
    assert drive(network_page(), tmp_path, script.replace("tr.cursor ", "tr "), nonsense)[0]


@needs_browser
def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    shown = HOSTILE.replace('\\"', '"')
    text = f"""\
func @f(%x: tensor<[4], f32>) -> tensor<[4], f32> with {{note: "{HOSTILE}"}} {{
  %a = tensor.custom %x {{kernel = "a:b", settings = {{n: "{HOSTILE}"}}}} : tensor<[4], f32> \
at "{HOSTILE}":1
  %b = tensor.tanh %a : tensor<[4], f32> at "{HOSTILE}":2, "other.py":3
  return %b
}}
"""
    passes = ("dead", fragile.with_options(on=shown))
    html = made(text, [pipelines.PASSES["dead"], passes[1]], {shown: f"{shown}\n{shown}"}, shown)
    script = """
        await click(document.querySelector("button.line"));
        return [window.hacked ?? null, document.title, $("error").textContent, text(".string:last-of-type"),
            texts("#source .line .text")[0], document.querySelectorAll("script").length, document.images.length,
            document.querySelectorAll('tr.same').length];
    """
    hacked, title, error, string, line, scripts, images, rows = drive(html, tmp_path, script)
    assert hacked is None
    assert title.startswith("</script><script>window.hacked = 1</script>")
    assert "lost </script><script>" in error
    assert string == f'"{HOSTILE}"'
    assert line.startswith("</script><script>window.hacked")
    assert (scripts, images, rows) == (4, 0, 5)


@needs_browser
def test_a_failed_pass_is_what_one_sees_first(tmp_path: Path) -> None:
    html = made(network(1, "model.py"), [*(pipelines.PASSES[name] for name in ("cse",)), fragile])
    script = 'return [text("#name"), $("error").hidden, text("#error"), text(".pass.failed .applications")];'
    name, hidden, error, applications = drive(html, tmp_path, script)
    assert (name, hidden, applications) == ("fragile", False, "failed")
    assert error.startswith("the pass fragile failed on @main: KeyError: 'lost '")


@needs_browser
def test_a_large_page_makes_only_the_rows_near_the_screen(tmp_path: Path) -> None:
    script = """
        const made = () => document.querySelectorAll("#rows tr[data-row]").length;
        const start = made();
        table.root.scrollTop = 1e9; await later(); await later();
        const end = text("#rows tbody:last-child tr:last-child .code");
        return [table.rows.length, start, end, performance.now()];
    """
    rows, start, end, milliseconds = drive(network_page(250), tmp_path, script, "#pass=1")
    assert rows > 5000
    assert 30 < start < 300
    assert end == "}"
    assert milliseconds < 10_000


@needs_browser
@pytest.mark.parametrize("scheme", [LIGHT, DARK])
def test_everything_can_be_read(scheme: str, tmp_path: Path) -> None:
    """Text stands out from what is behind it as much as WCAG's level AA asks for."""
    found = drive(network_page(), tmp_path, CONTRAST, "#pass=1", scheme)
    assert found["background"] == ("rgb(255, 255, 255)" if scheme is LIGHT else "rgb(21, 24, 29)")
    assert found["checked"] > 200
    assert found["weak"] == []


CONTRAST = """
    const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const rgba = (colour) => {
        canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const behind = (node) => {
        for (let at = node; at; at = at.parentElement) {
            const colour = rgba(getComputedStyle(at).backgroundColor);
            if (colour[3] === 255) return colour;
        }
        return [255, 255, 255];
    };
    const light = ([r, g, b]) => [r, g, b].map((part) => part / 255)
        .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
        .reduce((total, part, at) => total + part * [0.2126, 0.7152, 0.0722][at], 0);
    const weak = new Set(); let checked = 0;
    for (const node of document.querySelectorAll("body *")) {
        const own = [...node.childNodes].some((each) => each.nodeType === 3 && each.data.trim());
        if (!own || !node.checkVisibility() || node.closest("script, button:disabled")) continue;
        const [one, other] = [rgba(getComputedStyle(node).color), behind(node)].map(light);
        const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
        checked++;
        if (contrast < 4.5) weak.add(`${node.tagName} ${node.className} in ${node.parentElement.className}: ${contrast.toFixed(2)}`);
    }
    return { background: getComputedStyle(document.body).backgroundColor, checked, weak: [...weak] };
"""


@needs_browser
def test_everything_has_a_name_and_can_be_reached(tmp_path: Path) -> None:
    script = """
        const named = (each) => each.ariaLabel || each.innerText.trim() || each.title || each.labels?.length;
        const controls = [...document.querySelectorAll("a, button, select, input, [tabindex='0']")];
        const unnamed = controls.filter((each) => !named(each) && !each.getAttribute("aria-labelledby")).map((each) => each.outerHTML);
        const ids = [...document.querySelectorAll("[id]")].map((each) => each.id);
        const stops = controls.filter((each) => each.tabIndex >= 0).length;
        await press("?"); const open = $("help").open;
        $("source").focus(); await press("ArrowDown"); const first = document.activeElement.className;
        return [unnamed, ids.filter((id, at) => ids.indexOf(id) !== at), stops, open, first, document.documentElement.lang];
    """
    unnamed, doubled, stops, is_open, first, language = drive(network_page(), tmp_path, script)
    assert (unnamed, doubled) == ([], [])
    assert stops < 60
    assert is_open is True
    assert (first.split()[0], language) == ("line", "en")
