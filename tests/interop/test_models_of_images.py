"""The vision models of the examples, under every transformation, at any size, in bf16."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn, train
from kit.vision import KINDS, config, images, labels, loss, small, step

EITHER = pytest.mark.parametrize("kind", KINDS)


class Again(nn.Module):
    """A part of a model that is computed again for gradients."""

    def __init__(self, part: Any) -> None:
        self.part = part

    def forward(self, x: Any) -> Any:
        return bs.checkpoint(self.part)(x)


def computed_again(model: Any) -> Any:
    """The model, no inner value of whose blocks is kept."""
    if hasattr(model, "layers"):
        return model.replace(layers=[Again(layer) for layer in model.layers])
    return model.replace(stages=nn.Sequential(*[Again(stage) for stage in model.stages]))


def same(one: Any, other: Any, within: float = 0.0) -> None:
    """Two trees have the same numbers, but for a share of the largest of each tensor."""
    for found, expected in zip(bs.tree_leaves(one), bs.tree_leaves(other), strict=True):
        scale = np.abs(expected.numpy()).max(initial=1e-3)
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=0, atol=within * scale)


@EITHER
def test_compiled_mapped_and_computed_again(kind: str) -> None:
    model, given = small(kind), images(kind, 4)
    plain = model(given)
    assert plain.shape == (4, 4)
    same(bs.jit(lambda model, x: model(x))(model, given), plain, 1e-5)
    same(bs.vmap(lambda x: model(x[None])[0])(given), plain, 1e-5)
    same(computed_again(model)(given), plain, 1e-5)


@EITHER
def test_gradients_compiled_mapped_and_computed_again(kind: str) -> None:
    model, given, known = small(kind), images(kind, 4), labels(4)
    plain = bs.grad(loss)(model, given, known)
    same(bs.jit(bs.grad(loss))(model, given, known), plain, 1e-4)
    again = bs.grad(loss)(computed_again(model), given, known)
    same(bs.tree_leaves(again), bs.tree_leaves(plain), 1e-4)
    each = bs.vmap(lambda x, y: bs.grad(loss)(model, x[None], y[None]))(given, known)
    same(bs.tree_map(lambda slopes: slopes.mean(axis=0), each), plain, 1e-4)


@EITHER
def test_what_training_leaves_is_the_same_compiled_and_computed_again(kind: str) -> None:
    model, given, known = small(kind), images(kind, 4), labels(4)
    plain = step(model, given, known)
    same(bs.jit(step)(model, given, known), plain, 1e-4)
    again = step(computed_again(model), given, known)
    same(bs.tree_leaves(again), bs.tree_leaves(plain), 1e-4)


@EITHER
def test_any_number_of_images_is_traced_once(kind: str) -> None:
    traced: list[str] = []

    def scores(model: Any, given: Any) -> Any:
        traced.append(kind)
        return model(given)

    compiled, model = bs.jit(scores), small(kind)
    for count in (4, 7, 2):
        assert compiled(model, images(kind, count)).shape == (count, 4)
    assert traced == [kind]
    assert compiled(model, images(kind, 1)).shape == (1, 4)
    assert compiled(model, images(kind, 0)).shape == (0, 4)


@EITHER
def test_narrow_weights(kind: str) -> None:
    model, given = small(kind), images(kind, 4)
    narrow = small(kind, dtype=bs.bfloat16).load_state_dict(model.state_dict())
    made = narrow(given)
    assert made.dtype == bs.bfloat16
    same(made.astype(bs.float32), model(given), 0.05)
    assert all(each.dtype == bs.bfloat16 for each in narrow.params().values())
    value, left, _ = step(narrow, given, labels(4))
    same(value, step(model, given, labels(4))[0], 0.02)
    kept = {each.dtype for each in left.buffers().values()}
    assert kept <= {bs.float32, bs.int64}  # running means are wide


@EITHER
def test_five_steps_of_training(kind: str) -> None:
    def of_batch(model: Any, batch: Any) -> Any:
        return loss(model, *batch)

    batch = images(kind, 6), labels(6)
    learner = train.Learner(of_batch, train.AdamW(lr=1e-2))
    run = learner.fit(small(kind), [batch] * 5)
    assert step(run.model, *batch)[0].item() < 0.95 * step(small(kind), *batch)[0].item()
    kept = run.model.buffers().items()
    assert {each.item() for path, each in kept if path.endswith("tracked")} <= {5}


@EITHER
def test_other_labels(kind: str) -> None:
    model = small(kind).with_labels(("egg", "fig"), key=bs.random.key(1))
    assert model(images(kind, 3)).shape == (3, 2)
    assert model.config == config(kind, id2label={0: "egg", 1: "fig"})
    kept = model.state_dict()
    for path, tensor in small(kind).state_dict().items():
        if not path.startswith("classifier"):
            same(kept[path], tensor)


@pytest.mark.parametrize("size", [(1, 1), (2, 3), (8, 8), (33, 7)])
def test_residual_networks_take_images_of_any_size(size: tuple[int, int]) -> None:
    model = small("resnet")
    given = images("resnet", 2, size)
    same(bs.jit(lambda model, x: model(x))(model, given), model(given), 1e-5)


def test_norms_of_batches_learn_in_training_and_serve_in_inference() -> None:
    model, given = small("resnet"), images("resnet", 4)
    _, left, slopes = step(model, given, labels(4))
    counts = {each.item() for path, each in left.buffers().items() if "tracked" in path}
    assert counts == {1}
    assert all(slope is None for slope in slopes.buffers().values())
    assert np.abs((left(given) - model(given)).numpy()).max() > 0.01
    with nn.training(3):
        same(left(given), model(given))  # in training the means are those of the batch


@pytest.mark.parametrize("size", [(9, 11), (12, 8), (4, 4), (16, 16), (5, 23)])
def test_vision_transformers_place_patches_of_other_images(size: tuple[int, int]) -> None:
    model, given = small("vit"), images("vit", 2, size)
    made = bs.jit(lambda model, x: model(x, interpolate=True))(model, given)
    same(made, model(given, interpolate=True), 1e-5)
    with pytest.raises(ValueError, match=f"of {size[0]} by {size[1]} pixels.*of 8 by 8: with"):
        model(given)


def test_patches_of_as_many_places_stay_where_they_are() -> None:
    model = small("vit", image_size=(8, 12))
    wide = model.embeddings.positions((11, 15), True)
    same(wide, model.embeddings.position_embeddings)
    larger = model.embeddings.positions((16, 24), True)
    assert larger.shape == (1, 1 + 4 * 6, 12)
    same(larger[:, 0], model.embeddings.position_embeddings[:, 0])


def test_dropout_is_of_training_alone() -> None:
    model = small("vit", hidden_dropout_prob=0.2, attention_probs_dropout_prob=0.2)
    given = images("vit", 3)
    same(model(given), small("vit")(given))
    with nn.training(1):
        once, again = model(given), model(given)
    with nn.training(1):
        same(model(given), once)
    assert np.abs((once - again).numpy()).max() > 1e-4
