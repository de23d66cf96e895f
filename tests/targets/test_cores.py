"""How many cores a process may use, as the system says in files."""

import os
from pathlib import Path

import pytest

from brimstone.targets.cores import GROUPS, usable_cores

AFFINITY = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def system(root: Path, group: str, limits: dict[str, str]) -> Path:
    """A system in which the process is in a group, where groups have limits."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(group)
    for name, limit in limits.items():
        folder = root / GROUPS / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cpu.max").write_text(limit)
    return root


@pytest.mark.parametrize(
    ("group", "limits"),
    [
        ("0::/a/b\n", {"a/b": "100000 100000\n"}),
        ("0::/a/b\n", {"a": "50000 100000\n", "a/b": "max 100000\n"}),
        ("12:cpu:/other\n0::/\n", {"": "1 100000\n"}),
    ],
    ids=["its own", "one around it", "of a container"],
)
def test_a_limit_of_time_is_a_limit_of_cores(
    tmp_path: Path, group: str, limits: dict[str, str]
) -> None:
    assert usable_cores(system(tmp_path, group, limits)) == 1


@pytest.mark.parametrize(
    ("group", "limits"),
    [
        ("0::/a\n", {"a": "max 100000\n"}),
        ("0::/a\n", {"a": "100000000 100000\n"}),
        ("0::/a\n", {"a": "a lot"}),
        ("0::/a\n", {"a": "100000 0\n"}),
        ("0::/a\n", {"b": "1 100000\n"}),
        ("1:cpu:/a\n", {"a": "1 100000\n"}),
        ("", {}),
    ],
    ids=["none", "many", "words", "no period", "of others", "an old group", "no file"],
)
def test_else_the_process_may_use_all_that_it_may_run_on(
    tmp_path: Path, group: str, limits: dict[str, str]
) -> None:
    assert usable_cores(system(tmp_path, group, limits)) == AFFINITY


def test_a_system_that_says_nothing(tmp_path: Path) -> None:
    assert usable_cores(tmp_path) == AFFINITY
