"""`brimstone reduce` and `brimstone bisect`, from the command line."""

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from brimstone.command import application
from brimstone.ir import tensor
from brimstone.ir.func import Func
from brimstone.ir.rewriter import Rewriter, Rules, apply, rewrite
from brimstone.ir.values import AnyValue
from brimstone.passes import pipelines
from brimstone.passes.context import Context
from brimstone.passes.declare import pipeline_pass

TEXT = """\
func @f<n: 1..9>(%x: tensor<[n], f32>, %y: tensor<[n], f32>) -> tensor<[n], f32> {
  %a = tensor.exp %x : tensor<[n], f32>
  %b = tensor.negate %a : tensor<[n], f32>
  %c = tensor.absolute %b : tensor<[n], f32> at "model.py":7
  %d = tensor.add %c, %y : tensor<[n], f32>
  %unread = tensor.negate %d : tensor<[n], f32>
  return %d
}
"""
SMALL = """\
// RUN: careless
func @f(%0: tensor<[1], f32>) -> tensor<[1], f32> {
  %c = tensor.absolute %0 : tensor<[1], f32>
  return %c
}
"""


@rewrite(tensor.Absolute)
def no_absolute(op: tensor.Absolute, rewriter: Rewriter) -> AnyValue | None:
    """|x| -> x"""
    return op.x


@pipeline_pass("careless")
def careless(func: Func, context: Context) -> None:
    """Rewrite wrongly."""
    apply(Rules(no_absolute), func, context)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(pipelines.PASSES, "careless", careless)
    (tmp_path / "a.ir").write_text(TEXT)


def brimstone(*arguments: str) -> Result:
    return CliRunner().invoke(application(), arguments)


def test_reduce_prints_a_small_program_that_runs_the_same_passes() -> None:
    shown = brimstone("reduce", "a.ir", "--passes", "careless")
    assert (shown.exit_code, shown.stdout) == (0, SMALL)
    assert "result 0 differs" in shown.stderr
    assert "6 ops became 2" in shown.stderr


def test_reduce_reads_run_lines_and_writes_files() -> None:
    Path("b.ir").write_text("// RUN: dead,careless\n" + TEXT)
    shown = brimstone("reduce", "b.ir", "-o", "c.ir")
    assert (shown.exit_code, shown.stdout) == (0, "")
    assert Path("c.ir").read_text() == SMALL.replace("RUN: ", "RUN: dead,")


def test_reduce_keeps_what_a_command_does() -> None:
    check = "import sys; text = open(sys.argv[1]).read(); sys.exit(3 * ('absolute' in text))"
    Path("check.py").write_text(check)
    shown = brimstone("reduce", "a.ir", "--command", f"{sys.executable} check.py")
    assert (shown.exit_code, shown.stdout) == (0, SMALL.split("\n", 1)[1])


def test_reduce_keeps_what_a_command_says() -> None:
    Path("check.py").write_text("import sys; print(open(sys.argv[2]).read().count('negate'))")
    command = f"{sys.executable} check.py --file {{}}"
    shown = brimstone("reduce", "a.ir", "--command", command, "--error", "2")
    assert shown.stdout.count("negate") == 2
    assert "2 ops" not in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--passes", "dead"), 1, "error: nothing is wrong"),
        (("--passes", "careless", "--error", "zzz"), 1, "error: it does not say 'zzz' to begin"),
        (("--command", "true"), 1, "error: nothing is wrong: the command exits with 0"),
        (("--command", "no-such-command"), 2, "no-such-command: No such file or directory"),
        (("--passes", "carless"), 2, "is it careless?"),
        (("--command", "check 'a"), 2, "No closing quotation"),
        (("--command", ""), 2, "the command is empty"),
        (("--seed", "-1", "--passes", "careless"), 2, "--seed"),
    ],
)
def test_reduce_refuses(arguments: tuple[str, ...], code: int, message: str) -> None:
    shown = brimstone("reduce", "a.ir", *arguments)
    assert (shown.exit_code, shown.stdout) == (code, "")
    assert message in shown.stderr


def test_reduce_takes_commands_that_print_bytes() -> None:
    code = "import sys; sys.stdout.buffer.write(b'\\xff'); sys.exit('absolute' in sys.stdin.read())"
    Path("check.py").write_text(code.replace("sys.stdin", "open(sys.argv[1])"))
    shown = brimstone("reduce", "a.ir", "--command", f"{sys.executable} check.py")
    assert (shown.exit_code, shown.stdout) == (0, SMALL.split("\n", 1)[1])


def test_reduce_prints_what_it_cannot_write() -> None:
    shown = brimstone("reduce", "a.ir", "--passes", "careless", "-o", "missing/b.ir")
    assert (shown.exit_code, shown.stdout) == (1, SMALL)
    assert "error: missing/b.ir: this cannot be written: No such file" in shown.stderr


@pytest.mark.parametrize("subcommand", ["reduce", "bisect"])
def test_giant_programs_are_not_run_and_said_so(subcommand: str) -> None:
    Path("b.ir").write_text(TEXT.replace("[n]", "[n, 99999999999]"))
    shown = brimstone(subcommand, "b.ir", "--passes", "careless")
    assert (shown.exit_code, shown.stdout) == (1, "")
    assert "@f was not run" in shown.stderr
    assert "more than 4194304 elements" in shown.stderr


def test_an_interrupted_reduce_keeps_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    @pipeline_pass("careless")
    def interrupted(func: Func, context: Context) -> None:
        """Be interrupted after some time."""
        calls.append(0)
        if len(calls) > 6:
            raise KeyboardInterrupt
        careless(func, context)

    monkeypatch.setitem(pipelines.PASSES, "careless", interrupted)
    shown = brimstone("reduce", "a.ir", "--passes", "careless")
    assert shown.exit_code == 0
    assert "interrupted: this is the smallest so far" in shown.stderr
    assert "tensor.absolute" in shown.stdout
    assert shown.stdout.count("tensor.") < TEXT.count("tensor.")


def test_bisect_names_the_change_the_line_the_fuel_and_the_diff() -> None:
    shown = brimstone("bisect", "a.ir", "--passes", "dead,careless")
    assert shown.exit_code == 0
    first, second, third, *diff = shown.stdout.splitlines()
    assert first == "careless: no_absolute on tensor.absolute at model.py:7"
    assert second.startswith("change 2 of 2: @f, n = ")
    assert third == "replay: brimstone opt a.ir --passes 'dead,careless' --fuel 2"
    assert "-  %c = tensor.absolute %b : tensor<[n], f32>" in diff
    assert "\x1b" not in shown.stdout


def test_bisect_finds_nothing_wrong() -> None:
    shown = brimstone("bisect", "a.ir", "--passes", "dead")
    assert (shown.exit_code, shown.stdout) == (1, "")
    assert shown.stderr.startswith("error: nothing is wrong")
    assert brimstone("bisect", "a.ir", "--passes", "dead", "--seed", "-1").exit_code == 2
