"""Whether memory is short, and what then happens to what is recorded."""

import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import brimstone as bs
from brimstone.frontend import pending
from brimstone.frontend.recording import gather
from brimstone.runtime import memory

MEMINFO = """MemTotal:       16000000 kB
MemFree:          100000 kB
MemAvailable:   {available} kB
HugePages_Total:       0
"""
GIB = 1 << 30
V2, V1 = "0::/box\n", "5:cpu,memory:/box\n3:pids:/\n1:name=systemd:/elsewhere\n"
PLENTY = {"proc/meminfo": MEMINFO.format(available=8_000_000)}


def group(limit: object, use: int, **stat: int) -> dict[str, str]:
    """The files of a control group, version 2."""
    lines = "".join(f"{name} {value}\n" for name, value in {"anon": use, **stat}.items())
    texts = {"memory.max": f"{limit}\n", "memory.current": f"{use}\n", "memory.stat": lines}
    return {"proc/self/cgroup": V2} | {
        f"sys/fs/cgroup/box/{name}": text for name, text in texts.items()
    }


def old_group(limit: int, use: int, **stat: int) -> dict[str, str]:
    """The files of a control group, version 1."""
    lines = "".join(f"{name} {value}\n" for name, value in stat.items())
    texts = {"limit_in_bytes": f"{limit}\n", "usage_in_bytes": f"{use}\n", "stat": lines}
    return {"proc/self/cgroup": V1} | {
        f"sys/fs/cgroup/memory/box/memory.{name}": text for name, text in texts.items()
    }


CASES = {
    "nothing is said": ({}, False),
    "the machine has plenty": (PLENTY, False),
    "the machine has little": ({"proc/meminfo": MEMINFO.format(available=1_900_000)}, True),
    "an old system, without MemAvailable": (
        {"proc/meminfo": "MemTotal: 9 kB\nMemFree: 0 kB"},
        False,
    ),
    "what is no table": ({"proc/meminfo": "\n?\n\xff"}, False),
    "a group with plenty": (PLENTY | group(4 * GIB, 3 * GIB), False),
    "a group with little": (PLENTY | group(4 * GIB, 4 * GIB - 5), True),
    "a group without a limit": (PLENTY | group("max", 4 * GIB), False),
    "a group alone": (group(4 * GIB, 4 * GIB - 5), True),
    "files that can be read again": (PLENTY | group(4 * GIB, 4 * GIB, inactive_file=GIB), False),
    "a group above with little": (
        PLENTY
        | group("max", GIB)
        | {"sys/fs/cgroup/memory.max": f"{GIB}\n", "sys/fs/cgroup/memory.current": f"{GIB}\n"},
        True,
    ),
    "a group of another name": (
        PLENTY | group(GIB, GIB) | {"proc/self/cgroup": "0::/../../other\n"},
        False,
    ),
    "version 1 with plenty": (PLENTY | old_group(4 * GIB, 3 * GIB), False),
    "version 1 with little": (PLENTY | old_group(4 * GIB, 4 * GIB - 5), True),
    "version 1 without a limit": (PLENTY | old_group((1 << 63) - 4096, 4 * GIB), False),
    "version 1, a group of another controller": (
        PLENTY
        | old_group(4 * GIB, GIB)
        | {
            "sys/fs/cgroup/memory/elsewhere/memory.limit_in_bytes": f"{GIB}\n",
            "sys/fs/cgroup/memory/elsewhere/memory.usage_in_bytes": f"{GIB}\n",
        },
        False,
    ),
    "version 1, files": (PLENTY | old_group(4 * GIB, 4 * GIB, total_inactive_file=GIB), False),
}


@pytest.mark.parametrize("name", CASES)
def test_what_the_system_says(name: str, tmp_path: Path) -> None:
    files, short = CASES[name]
    for place, text in files.items():
        file = tmp_path / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="latin-1")
    assert memory.short(tmp_path) is short


def test_no_more_is_claimed_than_there_is(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    meminfo = MEMINFO.format(available=100 << 10) + "SwapFree: 10240 kB"
    (tmp_path / "proc/meminfo").write_text(meminfo)
    memory.claim(110 << 20, tmp_path)
    with pytest.raises(MemoryError, match="no memory for 115343361 bytes"):
        memory.claim((110 << 20) + 1, tmp_path)
    memory.claim(1 << 50, tmp_path / "nothing")


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Memory is short, and that is looked at every 64 tensors."""
    bs.sync()
    monkeypatch.setattr(memory, "short", lambda: True)
    monkeypatch.setattr(pending, "COMPACT_AT", 64)
    with monkeypatch.context() as patch:
        patch.setattr(pending.PENDING, "compact_at", 64)
        yield
    bs.sync()


def ramble(x: bs.Tensor, count: int) -> bs.Tensor:
    """A loop without any reading."""
    for _ in range(count):
        x = bs.tanh(x) + x
    return x


def growth(x: bs.Tensor) -> tuple[int, int]:
    """How many more bytes there are after a loop without any reading, and at most within it."""
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()
    ramble(x, 2048)
    after, most = tracemalloc.get_traced_memory()
    return after - before, most - before


@pytest.mark.usefixtures("short")
def test_a_loop_without_any_reading_is_computed() -> None:
    """What a loop keeps, it keeps each time; one loop may meet a table of the process that grows,
    or what another thread allocates."""
    x = bs.asarray(np.linspace(-1, 1, 8))
    ramble(x, 512)
    tracemalloc.start()
    try:
        kept, most = zip(*[growth(ramble(x, 512)) for _ in range(4)], strict=True)
    finally:
        tracemalloc.stop()
    assert min(kept) < 200_000
    assert min(most) < 400_000


def test_with_enough_memory_nothing_is_computed_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "short", lambda: False)
    x = bs.asarray(np.linspace(-1, 1, 8))
    first = bs.tanh(x)
    ramble(first, pending.COMPACT_AT)
    assert first.pending


@pytest.mark.usefixtures("short")
def test_what_is_computed_unasked_is_right() -> None:
    x = bs.asarray(np.linspace(-1, 1, 8))
    first = bs.tanh(x)
    last = ramble(first, 100)
    assert not first.pending
    expected = np.tanh(np.linspace(-1, 1, 8))
    for _ in range(100):
        expected = np.tanh(expected) + expected
    np.testing.assert_allclose(last.numpy(), expected, rtol=1e-12)


@pytest.mark.usefixtures("short")
def test_nothing_is_computed_while_a_function_is_traced() -> None:
    x = bs.asarray(np.linspace(-1, 1, 8))
    outside = bs.tanh(x)

    def run(y: bs.Tensor) -> bs.Tensor:
        ramble(bs.tanh(x), 100)
        assert outside.pending
        return y + 1

    assert bs.jit(run)(x).shape == (8,)


@pytest.mark.usefixtures("short")
def test_what_fails_unasked_is_reported_when_it_is_read() -> None:
    x = bs.asarray(np.arange(3.0))
    broken = x[bs.asarray(np.array([5]))]
    last = ramble(broken, 100)
    with pytest.raises(bs.PlaceError, match="5"):
        last.numpy()


@pytest.mark.usefixtures("short")
def test_what_fails_unasked_does_not_take_the_newest_along() -> None:
    x = bs.asarray(np.arange(3.0))
    broken = x[bs.asarray(np.array([5]))]
    last = ramble(x, 40)
    assert broken.pending
    assert len(gather([last.node]).nodes) < 40  # of 80
