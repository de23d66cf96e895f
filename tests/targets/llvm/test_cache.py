"""Machine code on disk: found again, never half, never somebody else's, never in the way."""

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from brimstone.targets.llvm import cache as module
from brimstone.targets.llvm.cache import BYTES_AT_MOST, Cache, CacheWarning, default_cache, key_of
from brimstone.targets.llvm.machines import AVX2, AVX512

KEY, OTHER = "ab" + "1" * 62, "cd" + "2" * 62
TESTS = Path(__file__).resolve().parents[2]


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "objects")


def stored(cache: Cache) -> Path:
    """The file of the only object."""
    assert cache.folder is not None
    (path,) = cache.folder.rglob("*.object")
    return path


def test_what_is_put_is_found(cache: Cache) -> None:
    assert cache.get(KEY) is None
    cache.put(KEY, b"code")
    assert cache.get(KEY) == b"code"
    assert cache.get(OTHER) is None
    assert cache.folder is not None and Cache(cache.folder).get(KEY) == b"code"


def test_the_key_is_of_all_that_the_code_depends_on(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "define void @f() {\n  ; model.py:3\n  ret void\n}\n"
    key = key_of(text, AVX512)
    assert key == key_of(text.replace("model.py:3", "model.py:4"), AVX512)
    assert key == key_of(text.replace("  ; model.py:3\n", ""), AVX512)
    assert key != key_of(text.replace("@f", "@g"), AVX512)
    assert key != key_of(text, AVX2)
    with monkeypatch.context() as other:
        other.setattr(module, "AS_WRITTEN", {})
        assert key != key_of(text, AVX512)
    monkeypatch.setattr(module, "VERSION", module.VERSION + 1)
    assert key != key_of(text, AVX512)


def test_a_file_that_has_the_name_of_another_is_damaged(cache: Cache) -> None:
    for key in (KEY, OTHER):
        cache.put(key, key.encode())
    assert cache.folder is not None
    one, other = sorted(cache.folder.rglob("*.object"))
    other.write_bytes(one.read_bytes())
    with pytest.warns(CacheWarning, match="damaged"):
        found = [cache.get(key) for key in (KEY, OTHER)]
    assert found.count(None) == 1


@pytest.mark.parametrize("damage", ["flip", "truncate", "empty", "lengthen"])
def test_a_damaged_file_is_one_warning_and_goes(cache: Cache, damage: str) -> None:
    for key in (KEY, OTHER):
        cache.put(key, b"code" * 100)
        assert cache.folder is not None
    for path in cache.folder.rglob("*.object"):
        content = path.read_bytes()
        changed = {
            "flip": content[:200] + bytes([content[200] ^ 1]) + content[201:],
            "truncate": content[:-7], "empty": b"", "lengthen": content + b"\0",
        }  # fmt: skip
        path.write_bytes(changed[damage])
    with pytest.warns(CacheWarning, match="damaged") as warned:
        assert cache.get(KEY) is None
        assert cache.get(OTHER) is None
    assert len(warned) == 1
    cache.put(KEY, b"new")
    assert cache.get(KEY) == b"new"


@pytest.mark.parametrize("number", [errno.EROFS, errno.ENOSPC, errno.EACCES])
def test_a_disk_that_cannot_be_written_is_one_warning(
    cache: Cache, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "write_bytes", refuse)
    with pytest.warns(CacheWarning, match=os.strerror(number)) as warned:
        cache.put(KEY, b"code")
        cache.put(KEY, b"code")
        assert cache.get(KEY) is None
    assert len(warned) == 1


def test_trouble_that_nobody_waits_for_is_told_to_who_does(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", refuse)
        cache.unheard().put(KEY, b"code")  # a warning would be an error here
    assert cache.get(KEY) is None
    cache.put(KEY, b"code")
    stored(cache).write_bytes(b"damaged")
    assert cache.unheard().get(KEY) is None
    cache.put(KEY, b"code")
    monkeypatch.setattr(os, "replace", refuse)
    with pytest.warns(CacheWarning, match=os.strerror(errno.ENOSPC)):
        cache.put(OTHER, b"code")


def test_a_folder_that_is_none_is_one_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = Cache(tmp_path / "file" / "objects")
    with pytest.warns(CacheWarning, match="cannot be used") as warned:
        assert cache.get(KEY) is None
        cache.put(KEY, b"code")
    assert len(warned) == 1


def test_code_of_other_users_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    with pytest.warns(CacheWarning, match="other users"):
        Cache(open_to_all).put(KEY, b"code")
    foreign = tmp_path / "foreign"
    Cache(foreign).put(KEY, b"code")
    monkeypatch.setattr(os, "geteuid", lambda: 4321)
    with pytest.warns(CacheWarning, match="other users"):
        assert Cache(foreign).get(KEY) is None


def test_a_file_that_cannot_be_read_is_one_warning(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.put(KEY, b"code")

    def broken(path: Path) -> bytes:
        raise OSError(errno.EIO, "a broken disk")

    monkeypatch.setattr(Path, "read_bytes", broken)
    with pytest.warns(CacheWarning, match="cannot be read"):
        assert cache.get(KEY) is None
    assert cache.get(KEY) is None


@pytest.mark.parametrize("kind", ["a folder", "a pipe", "a link", "a loop", "too large"])
def test_what_is_no_file_that_was_put_there_is_damaged(cache: Cache, kind: str) -> None:
    """To read a pipe, or a link to a device, might never end."""
    cache.put(KEY, b"code")
    path = stored(cache)
    path.unlink()
    if kind == "a folder":
        path.mkdir()
    elif kind == "a pipe":
        os.mkfifo(path)
    elif kind == "a link":
        path.symlink_to("/dev/zero")
    elif kind == "a loop":
        path.symlink_to(path.name)
    else:
        path.touch()
        os.truncate(path, BYTES_AT_MOST + 1)
    with pytest.warns(CacheWarning, match="damaged"):
        assert cache.get(KEY) is None
    cache.put(KEY, b"code")
    assert cache.get(KEY) == b"code"
    assert cache.held()[0] == 1


def test_what_was_used_longest_ago_goes_first(tmp_path: Path) -> None:
    cache = Cache(tmp_path, bytes_at_most=10_000)
    keys = [f"{number:02x}{'3' * 62}" for number in range(12)]
    for age, key in enumerate(keys):
        cache.put(key, bytes(1000))
        os.utime(next((tmp_path / key[:2]).iterdir()), (age, age))
    assert cache.get(keys[0]) is not None  # used now
    cache.trim()
    left = [key for key in keys if cache.get(key) is not None]
    assert left == [keys[0], *keys[-6:]]
    cache.trim()
    assert [key for key in keys if cache.get(key) is not None] == left


def test_a_process_looks_now_and_then_how_much_there_is(tmp_path: Path) -> None:
    cache = Cache(tmp_path, bytes_at_most=1)
    cache.put(KEY, b"code")
    cache.put("ef" + "0" * 62, b"code")
    assert cache.get(KEY) is None


def test_files_that_dead_processes_left_go(cache: Cache) -> None:
    cache.put(KEY, b"code")
    shelf = stored(cache).parent
    for name, age in (("old.aside", 9_000), ("new.aside", 0)):
        (shelf / name).write_bytes(b"half")
        now = (shelf / name).stat().st_mtime
        os.utime(shelf / name, (now - age, now - age))
    cache.trim()
    assert sorted(path.name for path in shelf.iterdir() if path.suffix == ".aside") == ["new.aside"]


def test_the_environment_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = default_cache.__wrapped__
    monkeypatch.setenv(module.VARIABLE, str(tmp_path))
    assert made().folder == tmp_path / "llvm"
    monkeypatch.setenv(module.VARIABLE, "")
    nothing = made()
    nothing.put(KEY, b"code")
    assert nothing.get(KEY) is None
    monkeypatch.delenv(module.VARIABLE)
    folder = made().folder
    assert folder is not None and folder.parent.name == "brimstone"


def test_processes_share_and_die(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kit.cache_stress", str(tmp_path), "200"]
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "200 processes were killed" in done.stdout
