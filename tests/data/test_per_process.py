"""Open files: one for each process, closed with their owner."""

import os
import pickle

import pytest

from brimstone.data.per_process import PerProcess

OPENED: list[int] = []
CLOSED: list[int] = []


def begin() -> int:
    OPENED.append(len(OPENED))
    return OPENED[-1]


def test_each_process_opens_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    OPENED.clear()
    CLOSED.clear()
    own = PerProcess(begin, CLOSED.append)
    assert OPENED == []
    assert own() == own() == 0
    with monkeypatch.context() as forked:
        forked.setattr(os, "getpid", lambda: -1)
        assert own() == own() == 1
    del own
    assert sorted(CLOSED) == [0, 1]


def test_a_pickle_has_nothing_open() -> None:
    own = PerProcess(os.getpid, abs)
    own()
    copied = pickle.loads(pickle.dumps(own))
    assert copied._process == 0
    assert copied() == os.getpid()
