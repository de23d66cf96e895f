"""Devices: their names, and which is meant where none is named."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

import brimstone as bs
from brimstone.runtime.device import current_device, device_named


def test_a_device_has_one_object() -> None:
    assert device_named("cpu:0") is device_named("cpu")
    assert device_named("cpu") == "cpu" == str(device_named("cpu"))
    assert device_named("cpu") != "cpu:0"
    assert device_named("cpu") in {"cpu"}


@pytest.mark.parametrize("name", ["", ":", "cpu:", "cpu:00", "cpu:1", "cpu:0:0", ":0", "CPU"])
def test_what_is_none_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="there is no device"):
        device_named(name)


def test_tasks_of_one_thread_choose_for_themselves() -> None:
    """Who waits in a context finds his own device afterwards, whatever others chose meanwhile."""

    async def task(name: str, others: asyncio.Barrier) -> None:
        for _ in range(3):
            with bs.device(name):
                await others.wait()
                assert bs.ones(1).device == name
                await others.wait()

    async def all_tasks() -> None:
        others = asyncio.Barrier(2)
        await asyncio.gather(task("cpu", others), task("reference", others))

    before = current_device()
    asyncio.run(all_tasks())
    assert current_device() is before


def test_threads_choose_for_themselves() -> None:
    other = "reference" if current_device() == "cpu" else "cpu"
    with bs.device(other), ThreadPoolExecutor(1) as pool:
        assert current_device() == other
        assert pool.submit(current_device).result() != other
