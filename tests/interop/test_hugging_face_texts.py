"""The examples of Hugging Face's layouts: texts, with and without a cache; slopes; learning."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn, train
from brimstone.runtime.steps import STATISTICS
from kit.language_models import BERT, MODELS, TOKENS, WRITERS, bert, generation, gpt2, made


@pytest.mark.parametrize("name", MODELS)
def test_all_parameters_have_slopes(name: str) -> None:
    model, tokens = made(name), bs.asarray(TOKENS)
    counts = bs.asarray(np.arange(5) < np.array([[5], [3]]))
    if name in WRITERS:
        slopes = bs.grad(generation.loss)(model, tokens, counts)
    else:
        labels = bs.asarray([2, 0]) if name == "bert, classes" else tokens
        slopes = bs.grad(bert.loss)(model, tokens, labels, counts)
    assert slopes.params().keys() == model.params().keys()
    without = [path for path, each in slopes.params().items() if not each.any()]
    assert [path for path in without if not path.endswith("k_proj.bias")] == []


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("padded", [False, True])
def test_texts_are_the_same_with_and_without_a_cache(name: str, padded: bool) -> None:
    model, tokens = made(name), bs.asarray(TOKENS)
    counts = bs.asarray(np.arange(5) >= np.array([[0], [2]])) if padded else None
    made_at_once = generation.generate(model, tokens, 6, counts=counts)
    for _ in range(6):
        scores = model(tokens, counts)[:, -1]
        tokens = bs.concat([tokens, bs.argmax(scores, axis=-1)[:, None]], axis=1)
        if counts is not None:
            counts = bs.concat([counts, bs.ones((2, 1), dtype=bs.bool)], axis=1)
    assert made_at_once == tokens[:, 5:].tolist()


@pytest.mark.parametrize("name", WRITERS)
def test_padding_in_front_changes_nothing(name: str) -> None:
    model, text = made(name), TOKENS[0].tolist()
    rows = bs.asarray([[0, 0, *text], [9, 8, *text]])
    counts = bs.asarray([[False] * 2 + [True] * 5, [True] * 7])
    found = model(rows, counts)[0, 2:]
    assert bs.allclose(found, model(bs.asarray([text]))[0], atol=1e-5)
    alone = generation.generate(model, bs.asarray([text]), 5)
    assert generation.generate(model, rows, 5, counts=counts)[0] == alone[0]


@pytest.mark.parametrize("name", WRITERS)
def test_other_lengths_compile_nothing(name: str) -> None:
    model, row = made(name), bs.asarray([np.arange(3, 20)])
    for length, count in ((5, 4), (6, 3)):  # once more, as the weights are computed by then
        generation.generate(model, row[:, :length], count)
    before = STATISTICS.compiled
    for length, count in ((5, 7), (7, 4), (12, 6)):
        assert len(generation.generate(model, row[:, :length], count)[0]) == count
    assert STATISTICS.compiled == before


def test_one_step_serves_a_whole_text() -> None:
    model = made("llama")
    planned = len(generation.step.plans)
    generation.generate(model, bs.asarray(TOKENS[:, :4]), 9)
    assert len(generation.step.plans) == planned + 2  # one for the beginning, and one for the rest


def test_texts_end() -> None:
    model, tokens = made("llama"), bs.asarray(TOKENS)
    whole = generation.generate(model, tokens, 8)
    end = whole[0][2]
    cut = [text[: text.index(end) + 1] if end in text else text for text in whole]
    assert generation.generate(model, tokens, 8, end=(end,)) == cut
    assert [generation.ends(setting) for setting in (None, 3, (4, 5))] == [(), (3,), (4, 5)]


def test_padding_behind_texts_is_refused() -> None:
    counts = bs.asarray(np.arange(5) < np.array([[5], [3]]))
    with pytest.raises(ValueError, match="padding stands in front of a text"):
        generation.generate(made("llama"), bs.asarray(TOKENS), 2, counts=counts)


@pytest.mark.parametrize("name", ["gpt2", "llama, tied"])
def test_models_learn(name: str) -> None:
    """To count; where the head is the table of tokens, it stays that."""
    kind, config = WRITERS[name]
    model = kind(replace(config, initializer_range=0.02), key=bs.random.key(0))
    rows = (np.random.default_rng(0).integers(0, 20, (40, 8, 1)) + np.arange(6)) % 20
    learner = train.Learner(generation.loss, train.AdamW(lr=3e-2))
    run = learner.fit(model, lambda epoch: map(bs.asarray, rows))
    assert generation.loss(run.model, bs.asarray(rows[0])) < 0.5 * np.log(20)
    assert run.model.state_dict().keys() == model.state_dict().keys()


def test_texts_are_drawn() -> None:
    model, tokens = made("gpt2"), bs.asarray(TOKENS)

    def drawn(seed: int, temperature: float) -> Any:
        key = bs.random.key(seed)
        return generation.generate(model, tokens, 8, temperature=temperature, key=key)

    assert drawn(0, 1.0) == drawn(0, 1.0) != drawn(1, 1.0)
    assert drawn(0, 1e-4) == generation.generate(model, tokens, 8)


@pytest.mark.parametrize("name", MODELS)
def test_models_drop_in_training_alone(name: str) -> None:
    model, tokens = made(name), bs.asarray(TOKENS)
    if name.startswith("llama"):
        model = type(model)(replace(model.config, attention_dropout=0.5), key=bs.random.key(2))
    plain = model(tokens)
    with nn.training(3):
        assert not bs.allclose(model(tokens), plain)
    assert (model(tokens) == plain).all()


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = made("gpt2")
    model.save(tmp_path)
    made_by_hand = generation.generate(model, bs.asarray([[5, 6, 7]]), 3)[0]
    asked = [str(tmp_path), "--tokens", "5", "6", "7", "--count", "3"]
    assert gpt2.main(asked) == made_by_hand
    assert capsys.readouterr().out == f"{made_by_hand}\n"


def test_gaps_and_classes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = made("bert")
    model.save(tmp_path / "gaps")
    row = [5, bert.GAP % 20, 7]
    scores = model(bs.asarray([row]))[0]
    filled = bert.filled(model, row, gap=row[1])
    assert filled == [5, int(bs.argmax(scores[1])), 7]
    classes = made("bert, classes")
    classes.save(tmp_path / "classes")
    found = bert.main([str(tmp_path / "classes"), "--classify", "--tokens", "5", "6"])
    assert found in BERT.id2label.values()
    assert capsys.readouterr().out == f"{found}\n"


def test_texts_need_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "tokenizers", None)
    made("gpt2").save(tmp_path)
    with pytest.raises(SystemExit, match="need the package `tokenizers`; or give --tokens"):
        gpt2.main([str(tmp_path), "Once"])
