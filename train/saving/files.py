"""One checkpoint on the disk: a folder with the tensors as safetensors and the rest as JSON.

Comes in: arrays by path, and a `Position`. Goes out: a folder that is there whole or not at all;
and both again, or the reason why they are not to be trusted.
Never: a folder half written under its own name: it is written aside, flushed and renamed.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

from ...frontend.errors import BrimstoneError
from ...interop import safetensors
from ...interop.aside import flush_folder
from .position import Position
from .strategies import Record

TENSORS, REST = "state.safetensors", "run.json"
FORMAT = 1
_PREFIX, _ASIDE = "step-", ".part"
_BEFORE = f".before{_ASIDE}"
"""How the name of a checkpoint ends whose place another one is taking."""


class Damaged(Exception):
    """Why a checkpoint is not to be trusted."""


def write(folder: Path, arrays: Mapping[str, Any], position: Position) -> Path:
    """Write a checkpoint into a folder of checkpoints; its own folder."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{_PREFIX}{position.step:09d}"
    aside = folder / f".{target.name}.{os.getpid()}{_ASIDE}"
    before = aside.with_suffix(_BEFORE)
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir()
    try:
        safetensors.save(aside / TENSORS, arrays)
        rest = {"format": FORMAT, "checksum": _checksum(aside / TENSORS), **position.as_json()}
        with open(aside / REST, "w", encoding="utf-8") as file:
            json.dump(rest, file, indent=1, allow_nan=False)
            file.flush()
            os.fsync(file.fileno())
        flush_folder(aside)
        if target.exists():  # the same step again: at the end of the epoch, or of another run
            os.rename(target, before)
        os.rename(aside, target)
        flush_folder(folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
        _put_back(before, target)
    return target


def read(checkpoint: Path) -> tuple[dict[str, Any], Position]:
    """The tensors of a checkpoint by path, and where the run was; else `Damaged`."""
    rest = read_rest(checkpoint)
    try:
        if _checksum(checkpoint / TENSORS) != rest["checksum"]:
            raise Damaged(f"the bytes of {TENSORS} are not those that were written")
        return safetensors.load(checkpoint / TENSORS), position_of(rest)
    except (OSError, BrimstoneError) as problem:
        raise Damaged(str(problem)) from None


def read_rest(checkpoint: Path) -> dict[str, Any]:
    """What a checkpoint says beside its tensors; else `Damaged`."""
    try:
        rest = json.loads((checkpoint / REST).read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as problem:
        raise Damaged(f"{REST}: {problem}") from None
    if not isinstance(rest, dict) or rest.get("format") != FORMAT:
        raise Damaged(f"{REST} is not of format {FORMAT}")
    position_of(rest)
    return rest


def position_of(rest: Mapping[str, Any]) -> Position:
    """Where a run was, from what a checkpoint says; else `Damaged`."""
    try:
        return Position.of_json(rest)
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise Damaged(f"{REST} lacks something: {problem!r:.80}") from None


def checkpoints(folder: Path) -> list[Path]:
    """The checkpoints in a folder, oldest first."""
    return sorted([each for each in folder.glob(f"{_PREFIX}*") if _is_named(each)], key=step_of)


def is_checkpoint(path: Path) -> bool:
    """Whether a folder is one checkpoint, by its name, or by what it holds if it has another."""
    return path.is_dir() and (_is_named(path) or (path / REST).exists())


def records(found: Iterable[Path]) -> Iterator[Record]:
    """What is known of the checkpoints that are whole."""
    for each in found:
        try:
            yield Record(step_of(each), position_of(read_rest(each)).values())
        except Damaged:
            continue


def step_of(checkpoint: Path) -> int:
    """After how many steps a checkpoint was written."""
    return int(checkpoint.name[len(_PREFIX) :])


def remove(checkpoint: Path) -> None:
    """Delete a checkpoint, which nobody finds from the first moment on."""
    aside = checkpoint.with_name(f".{checkpoint.name}.{os.getpid()}{_ASIDE}")
    try:
        os.rename(checkpoint, aside)
    except FileNotFoundError:
        return
    shutil.rmtree(aside, ignore_errors=True)


def sweep(folder: Path) -> None:
    """Delete what processes that were killed have left half written; what they were about to
    replace is put back."""
    for before in folder.glob(f".{_PREFIX}*{_BEFORE}"):
        _put_back(before, folder / before.name.split(".")[1])
    for left in folder.glob(f".{_PREFIX}*{_ASIDE}"):
        shutil.rmtree(left, ignore_errors=True)


def _put_back(before: Path, target: Path) -> None:
    """Give a checkpoint its place again, unless another one has it by now."""
    if before.exists() and not target.exists():
        os.rename(before, target)
    shutil.rmtree(before, ignore_errors=True)


def _is_named(path: Path) -> bool:
    return path.name.startswith(_PREFIX) and path.name[len(_PREFIX) :].isdecimal()


def _checksum(path: Path) -> int:
    total = 0
    for block in _blocks(path):
        total = crc32(block, total)
    return total


def _blocks(path: Path) -> Iterator[bytes]:
    with open(path, "rb") as file:
        while block := file.read(1 << 22):
            yield block
