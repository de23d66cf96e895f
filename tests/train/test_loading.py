"""Trained models out of folders of runs: which checkpoint is taken, and what is told otherwise."""

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

import brimstone as bs
from brimstone import nn, train
from brimstone.train.saving import files
from kit.training import Momentum, Told, data, loss, model, stopping_at, weights

BATCHES = data()
ALL = train.KeepAll()


def learner() -> train.Learner:
    return train.Learner(loss, Momentum())


def trained(folder: Path, epochs: int = 2, **options: Any) -> train.Run:
    saving = train.Saving(folder, keep=ALL)
    return learner().fit(model(), BATCHES, epochs=epochs, saving=saving, **options)


def tensors(tree: Any) -> list[bytes]:
    return [leaf.numpy().tobytes() for leaf in bs.tree_leaves(tree)]


def damage(checkpoint: Path) -> None:
    path = checkpoint / "state.safetensors"
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize("part", ["", "checkpoints", "checkpoints/step-000000016"])
def test_the_last_model_of_a_run(tmp_path: Path, part: str) -> None:
    run = trained(tmp_path)
    start = model()
    before = tensors(start)
    found = train.load(tmp_path / part, start)
    assert tensors(found) == weights(run)
    assert tensors(start) == before
    assert learner().evaluate(found, BATCHES) == learner().evaluate(run.model, BATCHES)


def test_a_copy_of_a_checkpoint_may_have_any_name(tmp_path: Path) -> None:
    run = trained(tmp_path)
    copy = tmp_path / "good"
    files.checkpoints(tmp_path / "checkpoints")[-1].rename(copy)
    assert tensors(train.load(str(copy), model())) == weights(run)


def test_a_run_may_be_called_as_checkpoints_are(tmp_path: Path) -> None:
    run = trained(tmp_path / "step-1")
    assert tensors(train.load(tmp_path / "step-1", model())) == weights(run)


def test_a_checkpoint_that_was_deleted_is_none(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no checkpoint in "):
        train.load(tmp_path / "step-000000004", model())


def test_the_model_of_a_step(tmp_path: Path) -> None:
    trained(tmp_path)
    once = learner().fit(model(), BATCHES)
    assert tensors(train.load(tmp_path, model(), step=8)) == weights(once)
    with pytest.raises(ValueError, match="has no checkpoint of step 9, but of 8, 16"):
        train.load(tmp_path, model(), step=9)


def measured(folder: Path, *values: float) -> None:
    """A run of epochs that gave these values."""
    trained(folder, epochs=len(values), valid=BATCHES[:1])
    for checkpoint, value in zip(files.checkpoints(folder / "checkpoints"), values, strict=True):
        rest = json.loads((checkpoint / "run.json").read_text())
        rest["history"][-1]["values"]["loss"] = value
        (checkpoint / "run.json").write_text(json.dumps(rest))


@pytest.mark.parametrize(("mode", "step"), [("min", 16), ("max", 8)])
def test_the_best_model(tmp_path: Path, mode: Any, step: int) -> None:
    measured(tmp_path, 3.0, 1.0, 2.0)
    found = train.load(tmp_path, model(), best="valid.loss", mode=mode)
    assert tensors(found) == tensors(train.load(tmp_path, model(), step=step))


@pytest.mark.parametrize(("choice", "step"), [({}, 16), ({"best": "valid.loss"}, 24)])
def test_what_is_damaged_is_passed_over(tmp_path: Path, choice: Any, step: int) -> None:
    measured(tmp_path, 3.0, 1.0, 2.0)
    expected = tensors(train.load(tmp_path, model(), step=step))
    first = 24 if not choice else 16
    damage(tmp_path / "checkpoints" / f"step-{first:09d}")
    with pytest.warns(train.CheckpointWarning, match=f"{first} is damaged, and another") as told:
        found = train.load(tmp_path, model(), **choice)
    assert tensors(found) == expected
    assert told[0].filename == __file__


def test_what_was_asked_for_by_name_is_not_replaced(tmp_path: Path) -> None:
    trained(tmp_path)
    one = files.checkpoints(tmp_path / "checkpoints")[-1]
    damage(one)
    asked: list[tuple[Path, Any]] = [(tmp_path, {"step": 16}), (one, {})]
    for place, choice in asked:
        with pytest.raises(ValueError, match=r"step-000000016 is damaged: the bytes of"):
            train.load(place, model(), **choice)
    damage(one.with_name("step-000000008"))
    with (
        pytest.warns(train.CheckpointWarning),
        pytest.raises(ValueError, match=r"no checkpoint in .* that will do is whole"),
    ):
        train.load(tmp_path, model())


def test_a_run_that_goes_on_may_take_checkpoints_away(tmp_path: Path, monkeypatch: Any) -> None:
    trained(tmp_path)
    old = files.checkpoints(tmp_path / "checkpoints")

    def reading(checkpoint: Path) -> Any:
        monkeypatch.undo()
        trained(tmp_path, epochs=3)
        for each in old:
            files.remove(each)
        return files.read(checkpoint)

    monkeypatch.setattr("brimstone.train.saving.loading.read", reading)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = train.load(tmp_path, model())
    assert tensors(found) == tensors(train.load(tmp_path, model(), step=24))


def test_the_whole_state(tmp_path: Path) -> None:
    whole, told = Told(), Told()
    learner().fit(model(), BATCHES, epochs=2, listeners=[whole])
    run = trained(tmp_path, listeners=[told, stopping_at(5)])
    made = learner()
    state = made.load(tmp_path, model())
    assert tensors(state) == tensors(run.state)
    assert int(state.step) == 6
    losses = []
    for batch in BATCHES[6:]:
        state, report = made.step(state, batch)
        losses.append(report.loss.item())
    assert losses == [loss for step, loss in whole.steps() if 6 < step <= 8]


def test_the_average_of_a_model(tmp_path: Path) -> None:
    optimiser = train.Averaged(train.SGD(lr=0.1), train.EMA(decay=0.5))
    made = train.Learner(loss, optimiser)
    run = made.fit(model(), BATCHES, saving=train.Saving(tmp_path))
    found = optimiser.averaged(made.load(tmp_path, model()))
    assert tensors(found) == tensors(optimiser.averaged(run.state))
    assert tensors(train.load(tmp_path, model())) == weights(run) != tensors(found)
    with pytest.raises(ValueError, match="another model or optimiser") as caught:
        learner().load(tmp_path, model())
    assert "optimiser.memory.step is not part of it" in str(caught.value)
    assert "`train.load` takes the model alone" in str(caught.value)


def test_a_model_has_its_own_dtypes(tmp_path: Path) -> None:
    run = trained(tmp_path)
    found = train.load(tmp_path, model().to(bs.bfloat16))
    assert {str(leaf.dtype) for leaf in bs.tree_leaves(found)} == {"bfloat16"}
    assert tensors(found) == tensors(run.model.to(bs.bfloat16))


def test_a_model_that_is_one_tensor_or_a_dict(tmp_path: Path) -> None:
    def error(model: Any, batch: Any) -> Any:
        return (bs.tree_leaves(model)[0] ** 2).sum()

    for name, start in (("one", bs.ones(3)), ("dict", {"a.b": bs.ones(3)})):
        made = train.Learner(error, train.SGD(lr=0.1))
        run = made.fit(start, BATCHES, saving=train.Saving(tmp_path / name))
        assert tensors(train.load(tmp_path / name, start)) == weights(run)


def test_a_model_that_does_not_fit(tmp_path: Path) -> None:
    trained(tmp_path)
    other = nn.Sequential(nn.Linear(3, 5), nn.Linear(5, 1))
    with pytest.raises(ValueError, match="is of another model:") as caught:
        train.load(tmp_path, other)
    message = str(caught.value)
    assert "\n    1.weight is missing\n" in message
    assert "\n    2.weight is not part of it\n" in message
    assert "\n    0.weight is float32[4, 3] instead of float32[5, 3]\n" in message
    many = [bs.ones(1) for _ in range(20)]
    with pytest.raises(ValueError, match="and 14 more"):
        train.load(tmp_path, many)


MISTAKES: dict[str, tuple[Any, str]] = {
    "no folder": (lambda at: train.load(at / "none", model()), "there is no checkpoint in"),
    "both": (lambda at: train.load(at, model(), step=8, best="valid.loss"), "not by both"),
    "one": (
        lambda at: train.load(at / "checkpoints" / "step-000000008", model(), step=8),
        "is one checkpoint, of which none is to be chosen",
    ),
    "value": (
        lambda at: train.load(at, model(), best="valid.loss"),
        r"load: there is no valid\.loss; the epochs gave train\.loss",
    ),
    "mode": (lambda at: train.load(at, model(), best="train.loss", mode="up"), "mode is"),  # pyright: ignore[reportArgumentType]
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(tmp_path: Path, name: str) -> None:
    trained(tmp_path)
    run, message = MISTAKES[name]
    with pytest.raises(ValueError, match=message):
        run(tmp_path)


def test_a_checkpoint_within_an_epoch_is_never_the_best(tmp_path: Path) -> None:
    trained(tmp_path, listeners=[stopping_at(3)])
    with pytest.raises(ValueError, match=r"was written after an epoch that gave train\.loss"):
        train.load(tmp_path, model(), best="train.loss")
