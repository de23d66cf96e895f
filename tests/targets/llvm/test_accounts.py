"""What is told of a step: a kernel that has code is not lowered again to be told so."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import pytest

import brimstone as bs
from brimstone.targets.llvm import accounts, build, code


@contextmanager
def lowered() -> Iterator[list[str]]:
    """The names of kernels that are lowered only to tell of them."""
    names: list[str] = []

    def lower(func: accounts.Func, machine: build.CPU) -> object:
        names.append(func.name)
        return real(func, machine)

    real = accounts.lower
    with mock.patch.object(accounts, "lower", lower), mock.patch.object(accounts, "_REASONS", {}):
        yield names


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[None]:
    """One that has nothing yet, and a process that has compiled nothing."""
    made = build.Cache(tmp_path)
    with (
        bs.device("cpu"),
        mock.patch.object(build, "default_cache", lambda: made),
        mock.patch.object(code, "_KNOWN", {}),
    ):
        yield


def test_kernels_are_lowered_for_the_first_account_only(cache: None) -> None:
    step = bs.jit(lambda x: bs.tanh(x * 11).sum(axis=1))
    with lowered() as names:
        first = str(step.explain(bs.ones((5, 7))))
        count = len(names)
        assert count > 0
        assert str(step.explain(bs.ones((5, 7)))) == first
        assert len(names) == count


def test_a_kernel_with_code_is_not_lowered(cache: None) -> None:
    step = bs.jit(lambda x: bs.tanh(x * 13).sum(axis=1))
    step(bs.ones((5, 7))).sync()
    for kept in (True, False):  # in this process, or only on disk
        if not kept:
            code._KNOWN.clear()
        with lowered() as names:
            told = str(step.explain(bs.ones((5, 7))))
        run = {name for name in code_names(step) if name in told}
        assert run
        assert not run & {*names}


def code_names(step: bs.jit) -> set[str]:
    """The kernels that a step has launched."""
    (plan,) = step.plans
    return {*plan.executable.code._kernels}


def test_a_refusal_is_told_each_time(cache: None) -> None:
    step = bs.jit(lambda x: bs.tanh(x * 17).sum(axis=1))
    refuse = mock.Mock(side_effect=accounts.Refused("no machine does that"))
    with mock.patch.object(accounts, "lower", refuse), mock.patch.object(accounts, "_REASONS", {}):
        for _ in range(2):
            assert "no machine does that" in str(step.explain(bs.ones((5, 7))))
        assert refuse.call_count == len(accounts._REASONS)
