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
        [sys.executable, "-m", "brimstone.command", "profile", "script.py", *arguments],
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


def test_a_script_that_exits(tmp_path: Path) -> None:
    assert run(tmp_path, "sys.exit(3)").returncode == 3


def test_no_script(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "brimstone.command", "profile", "absent.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "absent.py" in done.stderr
