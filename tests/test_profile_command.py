"""`brimstone profile`: a script as it would run, then what its kernels took."""

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import sys
import brimstone as bs

print(sys.argv[1:], __name__)
with bs.device("cpu"):
    print(float(bs.sum(bs.exp(bs.zeros((100, 100))))))
{then}
"""


def run(tmp_path: Path, then: str = "", *arguments: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "script.py").write_text(SCRIPT.format(then=then))
    return subprocess.run(
        [sys.executable, "-m", "brimstone", "profile", "script.py", *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_script_is_run_and_measured(tmp_path: Path) -> None:
    done = run(tmp_path, "", "-o", "here.json", "--", "one", "--two")
    assert (done.returncode, done.stderr) == (0, "")
    first, second, *table = done.stdout.splitlines()
    assert first == "['one', '--two'] __main__"
    assert second == "10000.0"
    assert "in kernels" in table[0]
    assert any("script.py:7" in line for line in table)
    assert json.loads((tmp_path / "here.json").read_text())["traceEvents"]


def test_a_script_that_fails(tmp_path: Path) -> None:
    done = run(tmp_path, "raise ValueError('no')")
    assert done.returncode == 1
    assert "ValueError: no" in done.stderr
    assert "in kernels" in done.stdout


def test_the_lines_of_an_error_are_those_of_the_script(tmp_path: Path) -> None:
    told = run(tmp_path, "def f():\n    raise ValueError('no')\nf()").stderr.splitlines()
    assert [line.split(", ")[0] for line in told if "File" in line] == ['  File "script.py"'] * 2


def test_a_script_that_is_no_python(tmp_path: Path) -> None:
    (tmp_path / "trace.json").write_text("of another run")
    done = run(tmp_path, "def f(:")
    assert done.returncode == 1
    assert "SyntaxError" in done.stderr
    assert (done.stdout, (tmp_path / "trace.json").read_text()) == ("", "of another run")


def test_a_trace_that_cannot_be_written(tmp_path: Path) -> None:
    done = run(tmp_path, "", "-o", "absent/trace.json")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: ") and "absent/trace.json" in done.stderr


def test_a_trace_in_the_place_of_the_script(tmp_path: Path) -> None:
    done = run(tmp_path, "", "-o", "./script.py")
    assert done.returncode == 2
    assert "script.py is the script itself" in done.stderr
    assert (tmp_path / "script.py").read_text() == SCRIPT.format(then="")


def test_a_script_that_profiles_itself(tmp_path: Path) -> None:
    done = run(tmp_path, "with bs.profile('own.json'):\n    bs.sync(bs.ones(9) * 2)")
    assert done.returncode == 0, done.stderr
    own, whole = [json.loads((tmp_path / f"{name}.json").read_text()) for name in ("own", "trace")]
    assert 0 < len(own["traceEvents"]) < len(whole["traceEvents"])


def test_a_script_that_exits(tmp_path: Path) -> None:
    assert run(tmp_path, "sys.exit(3)").returncode == 3


def test_no_script(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "brimstone", "profile", "absent.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "absent.py" in done.stderr
