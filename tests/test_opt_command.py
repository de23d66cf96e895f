"""`brimstone opt`: what it reads, prints, writes, and how it fails."""

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from brimstone.command import application
from brimstone.ir import tensor  # noqa: F401 # declares the ops of the texts
from brimstone.ir.func import Func
from brimstone.ir.parser import parse
from brimstone.ir.printer import print_module
from brimstone.passes import pipelines
from brimstone.passes.context import Context
from brimstone.passes.declare import pipeline_pass
from brimstone.passes.oracle import disagreement, observe

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "softmax.ir"
TEXT = """\
func @f(%x: tensor<[4], f32>) -> tensor<[4], f32> {
  %a = tensor.exp %x : tensor<[4], f32>
  %b = tensor.exp %x : tensor<[4], f32>
  %unread = tensor.tanh %x : tensor<[4], f32>
  %c = tensor.add %a, %b : tensor<[4], f32>
  return %c
}
"""
CLEANED = """\
func @f(%x: tensor<[4], f32>) -> tensor<[4], f32> {
  %a = tensor.exp %x : tensor<[4], f32>
  %c = tensor.add %a, %a : tensor<[4], f32>
  return %c
}
"""


@pipeline_pass("fragile")
def fragile(func: Func, context: Context) -> None:
    """Fail at a tanh."""
    for op in func.walk():
        if op.name == "tensor.tanh":
            raise KeyError("lost")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(pipelines.PASSES, "fragile", fragile)
    (tmp_path / "a.ir").write_text(TEXT)


def opt(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(application(), ["opt", *arguments], input=stdin)


def test_without_passes_the_text_comes_back() -> None:
    shown = opt("a.ir")
    assert (shown.exit_code, shown.stdout, shown.stderr) == (0, TEXT, "")


def test_passes_change_the_text() -> None:
    assert opt("a.ir", "--passes", "cse,dead").stdout == CLEANED
    assert opt("a.ir", "--passes", "clean").stdout == CLEANED


def test_standard_input() -> None:
    assert opt("-", "--passes", "clean", stdin=TEXT).stdout == CLEANED


def test_run_lines_stand_in_for_passes() -> None:
    assert opt("-", stdin=f"// RUN: cse\n// RUN: dead\n{TEXT}").stdout == CLEANED
    assert opt("-", "--passes", "dead", stdin=f"// RUN: cse\n{TEXT}").stdout.count("exp") == 2


def test_fuel() -> None:
    shown = opt("a.ir", "--passes", "clean", "--fuel", "1").stdout
    assert "%unread" in shown
    assert "%b" not in shown


def test_locations() -> None:
    assert (
        '%a = tensor.exp %x : tensor<[4], f32> at "a.ir":2\n' in opt("a.ir", "--locations").stdout
    )


def test_output_goes_to_a_file() -> None:
    assert opt("a.ir", "--passes", "clean", "-o", "a.ir").stdout == ""
    assert Path("a.ir").read_text() == CLEANED
    assert [path.name for path in Path().iterdir()] == ["a.ir"]


def test_diffs_and_times_leave_the_text_alone() -> None:
    shown = opt("a.ir", "--passes", "clean", "--diff", "--timing")
    assert shown.stdout == CLEANED
    assert "--- before cse\n+++ after cse\n" in shown.stderr
    assert "-  %unread = tensor.tanh %x : tensor<[4], f32>\n" in shown.stderr
    assert "total" in shown.stderr
    assert "\x1b" not in shown.stderr


def test_the_trace_is_json() -> None:
    opt("a.ir", "--passes", "clean", "--trace-json", "trace.json")
    events = json.loads(Path("trace.json").read_text())["traceEvents"]
    assert [event["name"] for event in events if event["cat"] == "pass"] == ["cse", "dead"]


def test_list_shows_passes_and_pipelines() -> None:
    shown = opt("--list")
    assert shown.exit_code == 0
    for each in pipelines.PASSES.values():
        assert f"{each}  " in shown.stdout
        assert each.summary in shown.stdout
    assert "cse → dead" in shown.stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            TEXT.replace("%b = tensor.exp %x", "%b = tensor.exp %y"),
            "error: <stdin>:3:19: %y is not defined here\n"
            "    %b = tensor.exp %y : tensor<[4], f32>\n"
            "                    ^\n",
        ),
        (
            TEXT.replace("tanh %x : tensor<[4], f32>", "tanh %x : tensor<[5], f32>"),
            "error: <stdin>:4:3: tensor.tanh: the result has type tensor<[5], f32>, expected "
            "tensor<[4], f32>\n"
            "    %unread = tensor.tanh %x : tensor<[5], f32>\n"
            "    ^\n",
        ),
        (
            TEXT.replace("%a = tensor.exp %x", "%a = tensor.call %x {callee = @g}"),
            "error: <stdin>:2:3: tensor.call: there is no func @g in the module\n"
            "    %a = tensor.call %x {callee = @g} : tensor<[4], f32>\n"
            "    ^\n",
        ),
    ],
)
def test_wrong_ir_is_shown_with_a_caret(text: str, message: str) -> None:
    shown = opt("-", stdin=text)
    assert (shown.exit_code, shown.stdout) == (1, "")
    assert shown.stderr.startswith(message)


@pytest.mark.parametrize("line", [0, 90])
def test_a_line_that_the_file_does_not_have_is_only_named(line: int) -> None:
    wrong = f'%a = tensor.exp %x : tensor<[5], f32> at "<stdin>":{line}'
    shown = opt("-", stdin=TEXT.replace("%a = tensor.exp %x : tensor<[4], f32>", wrong))
    assert shown.exit_code == 1
    assert shown.stderr.startswith(f"error: <stdin>:{line}: tensor.exp: the result has type")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a.ir", "--passes", "deda"), "there is no pass named 'deda'; is it dead?"),
        (("a.ir", "--passes", "dead{x=1}"), "no option of dead named 'x'"),
        (("b.ir",), "b.ir: No such file or directory"),
        (("a.ir", "--fuel", "-1"), "--fuel"),
        ((), "Missing argument"),
    ],
)
def test_wrong_calls_exit_with_2(arguments: tuple[str, ...], message: str) -> None:
    shown = opt(*arguments)
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert message in shown.stderr


def test_what_is_not_text() -> None:
    Path("b.ir").write_bytes(b"\xff\xfe\x00")
    shown = opt("b.ir")
    assert shown.exit_code == 1
    assert "this is not text" in shown.stderr


def test_standard_input_that_is_not_text() -> None:
    shown = CliRunner().invoke(application(), ["opt", "-"], input=b"// \xff\n")
    assert shown.exit_code == 1
    assert "this is not text" in shown.stderr


def test_a_run_line_that_is_no_command() -> None:
    shown = opt("-", stdin=f"// RUN: brimstone opt 'a.ir\n{TEXT}")
    assert shown.exit_code == 2
    assert "the RUN line: No closing quotation" in shown.stderr


def test_programs_are_printed_byte_for_byte() -> None:
    Path("\x1b[1ma.ir").write_text("func @f() {\n  return\n}\n")
    shown = opt("\x1b[1ma.ir", "--locations")
    assert '"\x1b[1ma.ir"' in shown.stdout
    assert opt("\x1b[1ma.ir", "--locations", "-o", "b.ir").exit_code == 0
    assert shown.stdout == Path("b.ir").read_text()


@pytest.mark.parametrize("place", ["missing/b.ir", ".", ""])
@pytest.mark.parametrize("arguments", [("opt", "-o"), ("opt", "--trace-json"), ("trace", "-o")])
def test_what_cannot_be_written_is_an_error(arguments: tuple[str, str], place: str) -> None:
    subcommand, option = arguments
    words = [subcommand, "a.ir", "--passes", "clean", option, place]
    shown = CliRunner().invoke(application(), words)
    assert shown.exit_code == 1
    assert shown.stderr.startswith(f"error: {place or '.'}: this cannot be written: ")
    assert [path.name for path in Path().iterdir()] == ["a.ir"]


def test_output_follows_links_and_keeps_modes() -> None:
    Path("folder").mkdir()
    Path("folder/b.ir").write_text("old")
    Path("folder/b.ir").chmod(0o640)
    Path("link.ir").symlink_to("folder/b.ir")
    Path("dangling.ir").symlink_to("folder/c.ir")
    for name in ("link.ir", "dangling.ir"):
        assert opt("a.ir", "-o", name).exit_code == 0
        assert Path(name).is_symlink()
        assert Path(name).read_text() == TEXT
    assert Path("folder/b.ir").stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in Path("folder").iterdir()) == ["b.ir", "c.ir"]


def test_output_goes_into_a_pipe() -> None:
    os.mkfifo("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert opt("a.ir", "-o", "pipe").exit_code == 0
        assert os.read(reader, 1 << 16).decode() == TEXT
    finally:
        os.close(reader)
    assert Path("pipe").is_fifo()


def test_a_failing_pass_leaves_a_reproducer_that_fails_again(tmp_path: Path) -> None:
    shown = opt("a.ir", "--passes", "cse,fragile,dead", "-o", "out.ir", "--fuel", "9")
    assert (shown.exit_code, shown.stdout) == (1, "")
    assert "error: the pass fragile failed on @f: KeyError: 'lost' (in fragile, " in shown.stderr
    assert f"reproducer: {tmp_path / 'reproducer.ir'}" in shown.stderr
    assert not Path("out.ir").exists()
    text = Path("reproducer.ir").read_text()
    assert text.startswith("// RUN: brimstone opt reproducer.ir --passes fragile --fuel 8\n")
    again = opt("reproducer.ir")
    assert again.exit_code == 1
    assert "the pass fragile failed on @f" in again.stderr


def test_the_example_can_be_cleaned() -> None:
    shown = opt(str(EXAMPLE), "--passes", "clean")
    module, cleaned = parse(EXAMPLE.read_text()), parse(shown.stdout)
    assert "entropy" not in shown.stdout
    assert print_module(cleaned) == shown.stdout
    assert disagreement(observe(module), cleaned) is None


def test_the_example_can_be_simplified() -> None:
    shown = opt(str(EXAMPLE), "--passes", "simplify")
    simplified = parse(shown.stdout)
    names = [op.name for op in simplified.main.walk()]
    assert len(names) == 8
    assert not {"tensor.multiply", "tensor.reshape", "tensor.permute"} & set(names)
    assert disagreement(observe(parse(EXAMPLE.read_text())), simplified) is None
