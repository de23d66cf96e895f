"""The examples run, and what they train has learned."""

import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import brimstone as bs
from kit import hugging_face

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def on_the_cpu() -> Iterator[None]:
    with bs.device("cpu"):
        yield


def example(name: str) -> dict[str, Any]:
    """The names of an example, whose `main` is not run yet."""
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))


def test_regression() -> None:
    run = example("regression")["main"]()
    assert run.history[-1].values["loss"] < 0.02


def test_points_on_a_ring() -> None:
    radius = example("gan")["main"](steps=1000)
    assert 0.8 < radius.mean().item() < 1.2


def test_sentences_that_praise() -> None:
    run = example("text_classification")["main"]()
    assert run.history[-1].values["accuracy"] > 0.97


def test_letters() -> None:
    run = example("character_gpt")["main"](steps=30, batch=4, length=16, width=32, layers=1)
    assert run.history[0].values["loss"] < 4.7


def test_images_in_folders() -> None:
    pytest.importorskip("PIL", reason="Pillow is not installed; it comes with the extra `images`")
    run = example("image_folder")["main"]()
    assert run.history[-1].values["accuracy"] > 0.9


def test_digits() -> None:
    pytest.importorskip("sklearn", reason="scikit-learn comes with the extra `demo`")
    run = example("digits")["main"](epochs=4)
    assert run.history[-1].values["accuracy"] > 0.93


def test_spirals(capsys: pytest.CaptureFixture[str]) -> None:
    example("spirals")
    loss, right = capsys.readouterr().out.replace(",", "").split()[1:3]
    assert float(loss) < 0.05
    assert float(right.rstrip("%")) > 97


def test_a_kernel_of_ones_own() -> None:
    run = example("custom_kernel")["main"]()
    assert run.history[-1].values["loss"] < 0.05 * run.history[0].values["loss"]


def test_a_renderer_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    skyline = example("custom_renderer")["main"]()
    assert skyline.losses[-1] < skyline.losses[0]
    assert capsys.readouterr().out.startswith("█")


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_models_from_folders(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    made = hugging_face.example(name).main(["--count", "4"])
    assert len(made) == 4
    saved, told = capsys.readouterr().out.splitlines()
    assert saved == "saved: config.json model.safetensors"
    assert told == f"[1, 2, 3] goes on {made}"


def test_gaps_and_classes(capsys: pytest.CaptureFixture[str]) -> None:
    filled, found = hugging_face.example("bert").main([])
    assert (len(filled), found) == (5, "LABEL_0")
    assert capsys.readouterr().out.splitlines()[0].endswith(f"-> {filled}")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["vit", "resnet"])
def test_models_of_images_from_folders(name: str) -> None:
    run = hugging_face.example(name).main()
    assert run.history[-1].values["accuracy"] > 0.9
