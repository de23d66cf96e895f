"""The page that shows two kernels on every floor is what the compiler writes."""

import re
from pathlib import Path

import pytest

from kit.floors import page

PAGE = Path(__file__).resolve().parents[3] / "docs" / "floors.md"
ASSEMBLY = re.compile(r"\n<details><summary>assembly</summary>.*?</details>\n", re.DOTALL)


@pytest.mark.skipif(not PAGE.exists(), reason="this is a copy of the tests, without the documents")
def test_the_page_is_fresh() -> None:
    written = ASSEMBLY.sub("", PAGE.read_text(encoding="utf-8"))
    assert written == page(assembly=False), "run in tests: python -m kit.floors > ../docs/floors.md"


def test_loops_of_the_interior_spill_nothing() -> None:
    """Full-width vectors, and no stack in either kernel's assembly but what a call saves."""
    for part in re.findall(r"<summary>assembly</summary>(.*?)</details>", page(), re.DOTALL):
        assert "zmm" in part
        assert not re.search(r"zmm\d+.*\(%rsp\)|\(%rsp\).*zmm\d+", part)
