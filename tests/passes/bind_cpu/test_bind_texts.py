"""What four kernels look like: as a person would write them for a machine of 16 lanes.

Each file holds a tile func, as tiling writes it, and its loop func; `--update-golden` writes the
latter.
"""

from pathlib import Path

import pytest

from brimstone.ir.parser import parse
from brimstone.ir.printer import print_func
from kit.bound import AVX512, bound, kernel

FOLDER = Path(__file__).with_name("texts")
BETWEEN = "// ----\n"


@pytest.mark.parametrize("name", ["chain", "columns", "matmul", "softmax"])
def test_texts(name: str, request: pytest.FixtureRequest) -> None:
    path = FOLDER / f"{name}.txt"
    before, _, expected = path.read_text(encoding="utf-8").partition(BETWEEN)
    made = print_func(bound(kernel(before), AVX512))
    assert print_func(parse(made).main) == made
    if request.config.getoption("--update-golden"):
        path.write_text(f"{before}{BETWEEN}{made}", encoding="utf-8")
        return
    assert made == expected, f"{path.name}; --update-golden writes what is made now"
