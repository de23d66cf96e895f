"""The installed package: its versions, its native library, and what importing it costs."""

import os
import re
import subprocess
import sys
import time
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import pytest

import brimstone
from brimstone import runtime
from brimstone.runtime import native

TESTS = Path(__file__).resolve().parent


def test_versions_agree() -> None:
    assert brimstone.__version__ == version("brimstone") == runtime.version()


def test_native_clock_counts_nanoseconds() -> None:
    start, before = time.monotonic_ns(), runtime.clock()
    time.sleep(0.01)
    after, end = runtime.clock(), time.monotonic_ns()
    assert 10_000_000 <= after - before <= end - start


def test_native_clock_never_goes_back() -> None:
    readings = [runtime.clock() for _ in range(1000)]
    assert readings == sorted(readings)


def test_missing_native_library_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(native, "package_folders", [str(tmp_path)])
    with pytest.raises(native.NativeLibraryMissing, match=r"pip install \.") as caught:
        native.library_path()
    assert str(tmp_path) in str(caught.value)


def test_types_are_announced() -> None:
    assert files("brimstone").joinpath("py.typed").is_file()


def test_submodules_load_when_used() -> None:
    loaded = modules_after("import brimstone")
    assert not {
        name for name in loaded if re.match(r"brimstone\.(?!frontend(\.names|\.forking)?$)", name)
    }
    assert "brimstone.runtime" in modules_after("import brimstone; brimstone.runtime.clock")


def test_names_are_listed_and_unknown_ones_refused() -> None:
    assert {"__version__", "ir", "passes", "runtime"} <= set(dir(brimstone))
    with pytest.raises(AttributeError, match="module 'brimstone' has no attribute 'nothing'"):
        brimstone.nothing  # noqa: B018


def test_import_loads_nothing_heavy() -> None:
    heavy = {"torch", "triton", "onnx", "llvmlite", "cffi"}
    assert not heavy & modules_after("import brimstone, brimstone.runtime")
    heavy = {"torch", "triton", "onnx", "rich", "textual", "PIL", "brimstone.train.metrics"}
    assert not heavy & modules_after("import brimstone.train")


def test_parts_of_training_load_when_used() -> None:
    assert {"Learner", "log", "metrics", "render"} <= set(dir(brimstone.train))
    for part, code in (
        ("render", "from brimstone.train import render"),
        ("log", "from brimstone import train; train.log.CsvLog"),
        ("metrics", "from brimstone import train; train.metrics.AUROC"),
    ):
        assert f"brimstone.train.{part}" in modules_after(code)
    with pytest.raises(
        AttributeError, match=r"module 'brimstone\.train' has no attribute 'nothing'"
    ):
        brimstone.train.nothing  # noqa: B018 # pyright: ignore[reportAttributeAccessIssue] # is not there


def test_errors_name_the_users_line_where_the_package_is_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "brimstone").symlink_to(Path(runtime.__file__).parents[1])
    script = tmp_path / "script.py"
    lines = [
        f"import sys; sys.path[:0] = {[str(tmp_path), *sys.path]}",
        "import brimstone as bs",
        "assert 'test_errors_name' in bs.__file__",
        "bs.zeros(2) + bs.zeros(3)",
    ]
    script.write_text("\n".join(lines))
    command = [sys.executable, "-S", script]  # without finders of editable installs
    run = subprocess.run(command, check=False, capture_output=True, text=True)
    assert f"at: {script}:4\n" in run.stderr


def test_imported_from_where_it_was_installed() -> None:
    """CI says what it installed, so that no run tests the wrong files."""
    expected = os.environ.get("BRIMSTONE_EXPECT_FROM")
    if expected is None:
        pytest.skip("BRIMSTONE_EXPECT_FROM is not set")
    source = Path(runtime.__file__).resolve()
    places = {"wheel": Path(sys.prefix).resolve(), "checkout": TESTS.parent}
    assert source.is_relative_to(places[expected])
    if expected == "wheel":
        assert native.library_path().parent == source.parents[1]


def modules_after(code: str) -> set[str]:
    """The modules that a fresh Python has loaded after running `code`."""
    show = f"import sys; {code}; print(*sys.modules)"
    command = [sys.executable, "-c", show]
    return set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
