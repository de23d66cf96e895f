"""The command `brimstone` itself: the table of subcommands, and `info`."""

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner, Result

import brimstone
from brimstone.command import SUBCOMMANDS, application, info, load
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
    command = [sys.executable, "-m", "brimstone.command", "--version"]
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


def run(*arguments: str) -> Result:
    return CliRunner().invoke(application(), arguments)
