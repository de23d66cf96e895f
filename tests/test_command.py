"""The command `brimstone` itself: the table of subcommands, and `info`."""

import io
import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner, Result

import brimstone
from brimstone import command
from brimstone.command import SUBCOMMANDS, application, info, load, main
from brimstone.runtime import native


def test_help_lists_every_subcommand() -> None:
    shown = run("--help")
    assert shown.exit_code == 0
    for name, (_, summary) in SUBCOMMANDS.items():
        assert name in shown.output
        assert summary.split()[0] in shown.output


def test_help_imports_no_subcommand_and_no_library() -> None:
    code = "import sys; from brimstone.command import application; application()(['--help'], "
    code += "standalone_mode=False); print(*sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded = set(shown.stdout.split())
    assert "brimstone.command" in loaded
    assert not loaded & {"numpy", "cffi", "brimstone.command.info", "brimstone.ir"}


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_every_subcommand_can_be_loaded(name: str) -> None:
    assert load(name).name == name
    assert run(name, "--help").exit_code == 0


def test_wrong_calls_exit_with_2() -> None:
    unknown = run("inf")
    assert unknown.exit_code == 2
    assert "Did you mean 'info'?" in unknown.output
    assert run("info", "--nothing").exit_code == 2


def test_version() -> None:
    assert run("--version").output == f"brimstone {brimstone.__version__}\n"


def test_module_is_the_command() -> None:
    command = [sys.executable, "-m", "brimstone", "--version"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True)
    assert shown.stdout == f"brimstone {brimstone.__version__}\n"


def test_info_as_json() -> None:
    facts = json.loads(run("info", "--json").stdout)
    assert facts["schema"] == info.SCHEMA
    assert facts["brimstone"] == facts["native"]["version"] == brimstone.__version__
    assert facts["libraries"]["numpy"]


def test_info_shows_the_same_facts_as_text() -> None:
    shown = dict(line.split(maxsplit=1) for line in run("info").stdout.splitlines())
    assert shown["brimstone"] == brimstone.__version__
    assert shown["native.path"] == str(native.library_path())


def test_info_says_why_there_is_no_native_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "package_folders", ["/nowhere"])
    facts = json.loads(run("info", "--json").stdout)
    assert facts["native"]["path"] is None
    assert "/nowhere" in facts["native"]["error"]


class Full(io.StringIO):
    """A file on a disk that has no room: a flush fails for as long as there is text to write."""

    def __init__(self, error: OSError) -> None:
        super().__init__()
        self.error = error

    def flush(self) -> None:
        if not self.closed and self.getvalue():
            raise self.error


def exit_code(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    monkeypatch.setattr(sys, "argv", ["brimstone", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


def test_a_full_disk_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    full = Full(OSError(28, "No space left on device"))
    monkeypatch.setattr(sys, "stdout", full)
    assert exit_code(monkeypatch, "--version") == 1
    assert "No space left on device" in capsys.readouterr().err
    assert full.closed


def test_a_full_disk_for_errors_too_still_exits_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream in ("stdout", "stderr"):
        monkeypatch.setattr(sys, stream, Full(OSError(28, "No space left on device")))
    assert exit_code(monkeypatch, "--version") == 1


def test_a_reader_that_has_gone_is_no_error_to_speak_of(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Pipe(Full):
        def flush(self) -> None:
            """Only the last flush, by `main`, finds that the reader has gone."""

    pipe = Pipe(BrokenPipeError(32, "Broken pipe"))
    monkeypatch.setattr(sys, "stdout", pipe)
    monkeypatch.setattr(command, "flush", lambda: Full.flush(pipe))
    assert exit_code(monkeypatch, "--version") == 1
    assert not capsys.readouterr().err


@pytest.mark.parametrize("place", ["application", "import_module"])
def test_an_interrupt_at_any_time_is_quiet(
    place: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, place, interrupt)
    assert exit_code(monkeypatch, "info") == 130
    assert capsys.readouterr() == ("", "")


def test_closed_streams_are_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert exit_code(monkeypatch, "--version") == 0
    monkeypatch.setattr(sys, "stdin", None)
    assert exit_code(monkeypatch, "opt", "-") == 2
    assert "standard input is closed" in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdin", io.StringIO("func @f() { return }"))
    assert exit_code(monkeypatch, "opt", "-") == 1
    assert capsys.readouterr().err == "error: standard output is closed\n"
    monkeypatch.setattr(sys, "stderr", None)
    assert exit_code(monkeypatch, "opt", "-") == 1


def run(*arguments: str) -> Result:
    return CliRunner().invoke(application(), arguments)
