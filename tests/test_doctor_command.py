"""`brimstone doctor`: it finds that all is well, and what is not."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from threading import Thread, current_thread, main_thread
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import brimstone
from brimstone.command import application
from brimstone.command.doctor import SCHEMA, checks
from brimstone.command.doctor.finding import Finding, State
from brimstone.runtime import device, host, native
from brimstone.targets.llvm import cache
from brimstone.targets.llvm.cache import Cache
from brimstone.targets.llvm.library import llvm


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without variables of whoever runs the tests."""
    for name in (*checks.VARIABLES, "BRIMSTONE_EXPECT_FROM"):
        monkeypatch.delenv(name, raising=False)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(application(), ["doctor", *arguments])


def found(*arguments: str) -> dict[str, dict[str, str]]:
    facts = json.loads(run("--json", *arguments).stdout)
    assert facts["schema"] == SCHEMA
    states = {each["state"] for each in facts["findings"]}
    assert facts["healthy"] == ("broken" not in states)
    return {each["about"]: each for each in facts["findings"]}


def with_cache(monkeypatch: pytest.MonkeyPatch, made: Cache) -> dict[str, str]:
    monkeypatch.setattr(cache, "default_cache", lambda: made)
    (finding,) = checks.cache()
    return finding.as_json()


def test_all_is_well_here() -> None:
    shown = run()
    assert shown.exit_code == 0, shown.output
    lines = shown.stdout.splitlines()
    assert lines[0].split()[:3] == ["ok", "brimstone", f"{brimstone.__version__},"]
    for about in ("native core", "processor", "LLVM", "device cpu", "device reference", "cache"):
        assert any(line.startswith("ok") and about in line for line in lines)


def test_as_json() -> None:
    facts = found()
    assert facts["native core"]["text"] == str(native.library_path())
    assert set(facts["brimstone"]) == {"about", "state", "text", "remedy"}
    assert all(each["remedy"] for each in facts.values() if each["state"] != "ok")


def test_a_variable_that_nobody_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRIMSTONE_DEVCE", "cpu")
    monkeypatch.setenv("BRIMSTONE_ZZZ", "1")
    shown = run()
    assert shown.exit_code == 1
    assert "did you mean BRIMSTONE_DEVICE?" in shown.stdout
    assert "there are BRIMSTONE_CACHE, BRIMSTONE_DEVICE" in shown.stdout


def test_a_device_that_there_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRIMSTONE_DEVICE", "quantum")
    facts = found()
    assert facts["default device"]["state"] == "broken"
    assert "'quantum'; there are: cpu, reference" in facts["default device"]["text"]
    assert facts["device cpu"]["state"] == "ok"
    assert facts["BRIMSTONE_DEVICE"]["state"] == "broken"
    assert "unset BRIMSTONE_DEVICE" in facts["default device"]["remedy"]


def test_a_setting_that_means_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for value, state in (("0", "ok"), ("no", "broken")):
        monkeypatch.setenv("BRIMSTONE_FUSE", value)
        assert found()["BRIMSTONE_FUSE"]["state"] == state


def test_a_number_of_threads_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """The devices say so, too, as long as none has been asked for."""
    monkeypatch.setenv("BRIMSTONE_THREADS", "abc")
    monkeypatch.setattr(host, "_SHARED", {})
    monkeypatch.setattr(device, "_DEVICES", {})
    facts = found()
    assert facts["BRIMSTONE_THREADS"]["state"] == "broken"
    assert "BRIMSTONE_DEVICE" not in facts["default device"]["remedy"]
    for about in ("threads", "device cpu", "device reference", "default device"):
        assert facts[about]["state"] == "broken"
        assert "BRIMSTONE_THREADS is 'abc'" in facts[about]["text"]
        assert "\n" not in facts[about]["text"]
    assert "unset BRIMSTONE_THREADS" in facts["threads"]["remedy"]
    assert facts["processor"]["state"] == "ok"


def test_every_variable_that_is_read_is_known() -> None:
    root = Path(native.__file__).parents[1]
    folders = ("command", "frontend", "ir", "passes", "runtime", "targets")
    texts = [path.read_text() for folder in folders for path in (root / folder).rglob("*.py")]
    read = {name for text in texts for name in re.findall(r"\"(BRIMSTONE_[A-Z_]+)\"", text)}
    assert read == set(checks.VARIABLES)


def test_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    private = tmp_path / "mine" / "llvm"
    assert with_cache(monkeypatch, Cache(private))["state"] == "ok", "it will be made"
    stored = Cache(private)
    stored.put("ab" * 32, b"code")
    assert "1 kernels" in with_cache(monkeypatch, stored)["text"]
    private.chmod(0o777)
    foreign = with_cache(monkeypatch, Cache(private))
    assert foreign["state"] == "broken"
    assert "other users" in foreign["text"]
    assert "BRIMSTONE_CACHE" in foreign["remedy"]
    file = tmp_path / "file"
    file.write_text("")
    for folder in (file / "llvm", Path("/proc/nothing/llvm")):
        nowhere = with_cache(monkeypatch, Cache(folder))
        assert nowhere["state"] == "broken"
        assert "cannot be used" in nowhere["text"]
    assert with_cache(monkeypatch, Cache(None))["state"] == "missing"


def test_a_device_that_computes_something_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(np, "allclose", lambda *given, **settings: False)
    states = {each.about: each.state for each in checks.devices()}
    assert states["device cpu"] is states["device reference"] is State.BROKEN


def test_no_native_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "FILE_NAMES", ("nothing.so",))
    (finding,) = checks.native()
    assert finding.state is State.BROKEN
    assert "pip install" in finding.remedy


def test_a_check_that_fails_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def luck() -> Iterator[Finding]:
        raise OSError("out of it")
        yield

    monkeypatch.setattr(checks, "CHECKS", (luck, checks.memory))
    first, second = checks.findings()
    assert (first.about, first.state, first.text) == ("luck", State.BROKEN, "OSError: out of it")
    assert second.state is State.OK


def test_text_says_the_same_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    some: Any = [Finding("a thing", State.MISSING, "is away", "fetch it")]
    monkeypatch.setattr("brimstone.command.doctor.findings", lambda: iter(some))
    shown = run()
    assert shown.exit_code == 0
    first, second = shown.stdout.splitlines()
    assert first.split() == ["missing", "a", "thing", "is", "away"]
    assert second.strip() == "fetch it"


def test_llvm_is_asked_where_no_handler_of_signals_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[Thread]()
    plain = llvm().get_host_cpu_features

    def noted() -> Any:
        asked.append(current_thread())
        return plain()

    monkeypatch.setattr(llvm(), "get_host_cpu_features", noted)
    assert next(checks.processor()).about == "processor"
    assert asked
    assert main_thread() not in asked
