"""Checkpoints: whole or not there, damaged ones are passed over, a run goes on to the same bits."""

import json
import os
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import brimstone as bs
from brimstone import nn, train
from brimstone.train.saving import Position, Record, files
from kit.training import Momentum, Told, data, loss, model, stopping_at, weights

BATCHES = data()


def learner(**options: Any) -> train.Learner:
    return train.Learner(loss, Momentum(), **options)


@pytest.mark.parametrize("accumulate", [1, 3])
@pytest.mark.parametrize("step", [1, 7, 8, 13])
def test_a_run_goes_on_as_if_it_had_never_ended(tmp_path: Path, step: int, accumulate: int) -> None:
    whole, first, second = Told(), Told(), Told()
    options: Any = {"accumulate": accumulate, "precision": "float16"}
    saving = train.Saving(tmp_path)
    never = learner(**options).fit(model(), BATCHES, epochs=3, listeners=[whole])
    listeners = [first, stopping_at(step)]
    learner(**options).fit(model(), BATCHES, epochs=3, listeners=listeners, saving=saving)
    again = learner(**options).fit(model(), BATCHES, epochs=3, listeners=[second], saving=saving)
    assert weights(again) == weights(never)
    assert first.steps() + second.steps() == whole.steps()
    assert [event.values for event in again.history] == [event.values for event in never.history]
    assert second[0].step == len(first.steps())


class Counting:
    """A loader that knows where it is."""

    def __init__(self) -> None:
        self.place = 0

    def __iter__(self) -> Any:
        while self.place < len(BATCHES):
            self.place += 1
            yield BATCHES[self.place - 1]
        self.place = 0

    def __len__(self) -> int:
        return len(BATCHES)

    def state(self) -> Any:
        return {"place": self.place}

    def restore(self, state: Any) -> None:
        self.place = state["place"]


def test_a_loader_that_can_goes_on_by_itself(tmp_path: Path) -> None:
    saving = train.Saving(tmp_path)
    never = learner().fit(model(), Counting(), epochs=2)
    learner().fit(model(), Counting(), epochs=2, listeners=[stopping_at(11)], saving=saving)
    again = learner().fit(model(), Counting(), epochs=2, saving=saving)
    assert weights(again) == weights(never)


def test_when_checkpoints_are_written_and_which_stay(tmp_path: Path) -> None:
    told = Told()
    saving = train.Saving(tmp_path, every=3, keep=train.KeepLast(2))
    learner().fit(model(), BATCHES, epochs=2, listeners=[told], saving=saving)
    saved = [event.step for event in told if isinstance(event, train.Saved)]
    assert saved == [3, 6, 8, 9, 12, 15, 16]
    found = files.checkpoints(tmp_path / "checkpoints")
    assert [files.step_of(each) for each in found] == [15, 16]
    assert {each.name for each in found[0].iterdir()} == {"state.safetensors", "run.json"}
    none = train.Saving(tmp_path / "none", epochs=False)
    learner().fit(model(), BATCHES, saving=none)
    assert files.checkpoints(tmp_path / "none" / "checkpoints") == []


class Rising:
    """1 after the first validation, 2 after the next."""

    validations = 0

    def reset(self) -> None:
        pass

    def update(self, outputs: Any, targets: Any) -> None:
        pass

    def value(self) -> float:
        self.validations += 1
        return self.validations // 2


def test_the_best_checkpoint_is_the_one_that_was_measured(tmp_path: Path) -> None:
    saving = train.Saving(tmp_path, every=3, keep=train.KeepBest("valid.rising"))
    made = learner(metrics={"rising": Rising()})
    made.fit(model(), BATCHES, epochs=2, valid=BATCHES[:1], saving=saving)
    kept = [files.step_of(each) for each in files.checkpoints(tmp_path / "checkpoints")]
    assert kept == [8, 16]


def test_checkpoints_of_another_run_are_not_gone_on_from(tmp_path: Path) -> None:
    learner().fit(model(), BATCHES, epochs=3, saving=train.Saving(tmp_path))
    learner().fit(model(), BATCHES, saving=train.Saving(tmp_path, resume=False))
    told = Told()
    learner().fit(model(), BATCHES, listeners=[told], saving=train.Saving(tmp_path))
    assert told[0].step == 8
    assert len(files.checkpoints(tmp_path / "checkpoints")) == 1


def test_what_is_saved_is_not_saved_again(tmp_path: Path) -> None:
    told, again, saving = Told(), Told(), train.Saving(tmp_path)
    stop = stopping_at(8)
    learner().fit(model(), BATCHES, epochs=2, listeners=[told, stop], saving=saving)
    learner().fit(model(), BATCHES, listeners=[again], saving=saving)
    assert [type(event) for event in [*told, *again]].count(train.Saved) == 1


def test_one_run_at_a_time_has_a_folder(tmp_path: Path) -> None:
    saving = train.Saving(tmp_path)
    inner: list[str] = []

    def begin_another(event: Any) -> None:
        if isinstance(event, train.Started):
            with pytest.raises(ValueError, match="another run is writing") as caught:
                learner().fit(model(), BATCHES, saving=saving)
            inner.append(str(caught.value))

    for _ in range(2):
        learner().fit(model(), BATCHES, listeners=[begin_another], saving=saving)
    assert len(inner) == 2


def test_a_folder_that_is_none_is_refused_before_anything_is_trained(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match=r"no checkpoint can be written: (?s:.*)Not a directory"):
        learner().fit(model(), BATCHES, saving=train.Saving(tmp_path / "file"))


@pytest.mark.parametrize("place", [bs.asarray(3), float("nan")], ids=["a tensor", "nan"])
def test_a_loader_whose_place_is_no_json_is_refused(tmp_path: Path, place: Any) -> None:
    class Odd(Counting):
        def state(self) -> Any:
            return {"place": place}

    with pytest.raises(ValueError, match="the place of the loader is no JSON: "):
        learner().fit(model(), Odd(), saving=train.Saving(tmp_path))


def records(*values: float) -> list[Record]:
    return [Record(step, {"valid.loss": value}) for step, value in enumerate(values)]


STRATEGIES: dict[str, tuple[Any, set[int]]] = {
    "all": (train.KeepAll(), {0, 1, 2, 3, 4}),
    "last": (train.KeepLast(2), {3, 4}),
    "best": (train.KeepBest(), {3}),
    "largest": (train.KeepBest(mode="max", count=2), {0, 2}),
    "composed": (train.Composed((train.KeepLast(1), train.KeepBest())), {3, 4}),
}


@pytest.mark.parametrize("name", STRATEGIES)
def test_strategies(name: str) -> None:
    strategy, kept = STRATEGIES[name]
    assert strategy(records(5.0, 1.0, 3.0, 1.0, float("nan"))) == kept
    assert strategy([]) == set()


def test_a_value_that_no_epoch_gave_is_named(tmp_path: Path) -> None:
    saving = train.Saving(tmp_path, every=3, keep=train.KeepBest("valid.accuracy"))
    with pytest.raises(
        ValueError, match=r"there is no valid\.accuracy; the epochs gave train\.loss"
    ):
        learner().fit(model(), BATCHES, epochs=2, saving=saving)


def saved_twice(folder: Path) -> list[Path]:
    learner().fit(model(), BATCHES, epochs=2, saving=train.Saving(folder))
    return files.checkpoints(folder / "checkpoints")


DAMAGE: dict[str, Any] = {
    "a flipped bit": lambda each: flip(each / "state.safetensors"),
    "a truncated file": lambda each: cut(each / "state.safetensors"),
    "no tensors": lambda each: (each / "state.safetensors").unlink(),
    "no rest": lambda each: (each / "run.json").unlink(),
    "half of the rest": lambda each: cut(each / "run.json"),
    "a list": lambda each: (each / "run.json").write_text("[]"),
    "another format": lambda each: (each / "run.json").write_text('{"format": 99}'),
    "no steps": lambda each: edit(each / "run.json", "step"),
    "no history": lambda each: edit(each / "run.json", "history"),
}


def flip(path: Path) -> None:
    found = bytearray(path.read_bytes())
    found[-5] ^= 1
    path.write_bytes(found)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def edit(path: Path, name: str) -> None:
    found = json.loads(path.read_text())
    del found[name]
    path.write_text(json.dumps(found))


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_checkpoint_is_passed_over(tmp_path: Path, name: str) -> None:
    never = learner().fit(model(), BATCHES, epochs=2)
    _, latest = saved_twice(tmp_path)
    DAMAGE[name](latest)
    told = Told()
    with pytest.warns(train.CheckpointWarning, match="16 is damaged, and another one is taken"):
        again = learner().fit(
            model(), BATCHES, epochs=2, listeners=[told], saving=train.Saving(tmp_path)
        )
    assert told[0].step == 8
    assert weights(again) == weights(never)


def test_random_damage_never_goes_unseen(tmp_path: Path) -> None:
    checkpoint = saved_twice(tmp_path)[-1]
    path = checkpoint / "state.safetensors"
    whole = path.read_bytes()
    choose = random.Random(0)
    for _ in range(60):
        found = bytearray(whole)
        found[choose.randrange(len(found))] ^= 1 << choose.randrange(8)
        path.write_bytes(found[: choose.choice([len(found), choose.randrange(len(found))])])
        with pytest.raises(files.Damaged):
            files.read(checkpoint)
    path.write_bytes(whole)
    assert files.read(checkpoint)[1].step == 16


def test_what_killed_processes_left_is_swept_away(tmp_path: Path) -> None:
    left = tmp_path / "checkpoints" / ".step-000000003.1.part"
    left.mkdir(parents=True)
    (left / "state.safetensors").write_bytes(b"half")
    saved_twice(tmp_path)
    assert not left.exists()


def test_a_checkpoint_that_was_about_to_be_replaced_is_put_back(
    tmp_path: Path, monkeypatch: Any
) -> None:
    last = saved_twice(tmp_path)[-1]
    tensors, position = files.read(last)
    rename = os.rename

    def failing(source: Any, target: Any) -> None:
        if target == last and ".before" not in str(source):
            raise OSError("no")
        rename(source, target)

    monkeypatch.setattr(os, "rename", failing)
    with pytest.raises(OSError, match="no"):
        files.write(last.parent, tensors, position)
    assert files.read(last)[1] == position
    rename(last, last.with_name(f".{last.name}.1.before.part"))  # a process was killed then
    files.sweep(last.parent)
    assert files.read(last)[1] == position
    assert not [*last.parent.glob(".step*")]


def test_a_checkpoint_of_another_model_is_refused(tmp_path: Path) -> None:
    saved_twice(tmp_path)
    other = nn.Sequential(nn.Linear(3, 5), nn.Linear(5, 1))
    with pytest.raises(ValueError, match="another model or optimiser") as caught:
        learner().fit(other, BATCHES, saving=train.Saving(tmp_path))
    assert "model.0.weight is float32[4, 3] instead of float32[5, 3]" in str(caught.value)
    assert "model.1.weight is missing" in str(caught.value)
    fresh = train.Saving(tmp_path, resume=False)
    assert learner().fit(other, BATCHES, saving=fresh).reason == "all epochs are done"


def test_a_disk_that_is_full_ends_nothing(tmp_path: Path, monkeypatch: Any) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.safetensors, "save", full)
    told = Told()
    with pytest.warns(train.CheckpointWarning, match="could not be written(?s:.*)No space left"):
        run = learner().fit(model(), BATCHES, listeners=[told], saving=train.Saving(tmp_path))
    assert run.reason == "all epochs are done"
    assert [event.text for event in told if isinstance(event, train.Note)]


def test_positions_round_trip() -> None:
    values = {"loss": float("inf"), "accuracy": float("nan")}
    events = tuple(train.EpochEnded("valid", 3, step, values, 1.5) for step in (40, 41))
    position = Position(41, 4, 1, {"seed": 3}, {"loss": (float("-inf"), 4.0)}, events)
    text = json.dumps(position.as_json(), allow_nan=False)
    found = Position.of_json(json.loads(text))
    assert repr(found.history) == repr(position.history)
    assert found.sums == {"loss": [float("-inf"), 4.0]}
    assert (found.step, found.epoch, found.place, found.data) == (41, 4, 1, {"seed": 3})
    assert found.values() == {}, "it is within an epoch"
    assert replace(found, place=0).values()["valid.loss"] == float("inf")
    assert Position(40, history=events[1:]).values() == {}


def test_dtypes_and_devices_are_those_of_the_model(tmp_path: Path) -> None:
    start = model().to(bs.bfloat16)
    batches = [tuple(each.astype(bs.bfloat16) for each in batch) for batch in BATCHES]
    once = learner().fit(start, batches, saving=train.Saving(tmp_path))
    again = learner().fit(start, batches, saving=train.Saving(tmp_path))
    assert weights(again) == weights(once)
    assert again.model[0].weight.dtype == bs.bfloat16


MISTAKES: dict[str, tuple[Any, str]] = {
    "every": (lambda: train.Saving("x", every=0), "`every` counts steps"),
    "keep": (lambda: train.Saving("x", keep=3), "`keep` says which"),  # pyright: ignore[reportArgumentType]
    "last": (lambda: train.KeepLast(0), "at least one checkpoint stays"),
    "best": (lambda: train.KeepBest(mode="up"), 'mode is "min" or "max"'),  # pyright: ignore[reportArgumentType]
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str) -> None:
    make, message = MISTAKES[name]
    with pytest.raises(ValueError, match=message):
        make()
