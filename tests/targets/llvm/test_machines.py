"""What a processor says of itself."""

from dataclasses import replace
from pathlib import Path

import pytest

from brimstone.ir.dtypes import f32
from brimstone.passes.tiling import KernelShape
from brimstone.targets.llvm import machines
from brimstone.targets.llvm.schedules import chooser


def caches(folder: Path, *described: tuple[int, str, str]) -> Path:
    """A folder in which Linux describes caches: level, kind, size."""
    for number, texts in enumerate(described):
        (folder / f"index{number}").mkdir()
        for name, text in zip(("level", "type", "size"), texts, strict=True):
            (folder / f"index{number}" / name).write_text(f"{text}\n")
    return folder


@pytest.fixture
def linux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(machines, "CACHES", tmp_path)
    return tmp_path


def test_caches_are_as_large_as_the_system_says(linux: Path) -> None:
    described = [(1, "Data", "48K"), (1, "Instruction", "64K"), (2, "Unified", "2048K")]
    caches(linux, *described)
    found = machines.host.__wrapped__()
    assert (found.level1, found.level2) == (48 << 10, 2048 << 10)


@pytest.mark.parametrize("said", [[], [(2, "Unified", "much"), (1, "Data", "")]])
def test_a_system_that_says_nothing(linux: Path, said: list[tuple[int, str, str]]) -> None:
    caches(linux, *said)
    found = machines.host.__wrapped__()
    model = machines.MODELS[found.name]
    assert (found.level1, found.level2) == (model.level1, model.level2)


def test_instructions_are_no_data(linux: Path) -> None:
    caches(linux, (1, "Instruction", "64K"), (1, "Data", "32K"))
    assert machines.host.__wrapped__().level1 == 32 << 10


@pytest.mark.parametrize(("level2", "near"), [(256 << 10, 128 << 10), (2048 << 10, 512 << 10)])
def test_panels_fill_half_of_a_cache_that_is_not_too_large(level2: int, near: int) -> None:
    machine = replace(machines.AVX512, level2=level2)
    assert chooser(machine)(KernelShape("contract", f32, f32))["near"] == near // 4
