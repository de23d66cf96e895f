"""The vision models of the examples in folders: names, settings, what is refused, what is read."""

import json
from math import log
from pathlib import Path
from typing import Any

import pytest

import brimstone as bs
from brimstone import interop
from brimstone.frontend.errors import ArgumentError
from kit.vision import (
    KINDS,
    LABELS,
    config,
    images,
    norm,
    of_torchvision,
    pair,
    pictures,
    resnet,
    small,
    vit,
)


def convolution(name: str, *shape: int) -> dict[str, tuple[int, ...]]:
    """Those of a convolution with its norm."""
    return {f"{name}.convolution.weight": shape, **norm(f"{name}.normalization", shape[0])}


def layer(name: str) -> dict[str, tuple[int, ...]]:
    """Those of a layer of a small vision transformer."""
    return {
        **pair(f"{name}.layernorm_before", 12), **pair(f"{name}.layernorm_after", 12),
        **pair(f"{name}.attention.attention.query", 12, 12),
        **pair(f"{name}.attention.attention.key", 12, 12),
        **pair(f"{name}.attention.attention.value", 12, 12),
        **pair(f"{name}.attention.output.dense", 12, 12),
        **pair(f"{name}.intermediate.dense", 20, 12), **pair(f"{name}.output.dense", 12, 20),
    }  # fmt: skip


NAMES = {
    "vit": {
        "vit.embeddings.cls_token": (1, 1, 12), "vit.embeddings.position_embeddings": (1, 5, 12),
        **pair("vit.embeddings.patch_embeddings.projection", 12, 3, 4, 4),
        **layer("vit.encoder.layer.0"), **layer("vit.encoder.layer.1"),
        **pair("vit.layernorm", 12), **pair("classifier", 4, 12),
    },
    "resnet": {
        **convolution("resnet.embedder.embedder", 4, 3, 7, 7),
        **convolution("resnet.encoder.stages.0.layers.0.layer.0", 2, 4, 1, 1),
        **convolution("resnet.encoder.stages.0.layers.0.layer.1", 2, 2, 3, 3),
        **convolution("resnet.encoder.stages.0.layers.0.layer.2", 8, 2, 1, 1),
        **convolution("resnet.encoder.stages.0.layers.0.shortcut", 8, 4, 1, 1),
        **convolution("resnet.encoder.stages.1.layers.0.layer.0", 3, 8, 1, 1),
        **convolution("resnet.encoder.stages.1.layers.0.layer.1", 3, 3, 3, 3),
        **convolution("resnet.encoder.stages.1.layers.0.layer.2", 12, 3, 1, 1),
        **convolution("resnet.encoder.stages.1.layers.0.shortcut", 12, 8, 1, 1),
        **convolution("resnet.encoder.stages.1.layers.1.layer.0", 3, 12, 1, 1),
        **convolution("resnet.encoder.stages.1.layers.1.layer.1", 3, 3, 3, 3),
        **convolution("resnet.encoder.stages.1.layers.1.layer.2", 12, 3, 1, 1),
        **pair("classifier.1", 4, 12),
    },
    "resnet, basic": {
        **convolution("resnet.embedder.embedder", 4, 3, 7, 7),
        **convolution("resnet.encoder.stages.0.layers.0.layer.0", 8, 4, 3, 3),
        **convolution("resnet.encoder.stages.0.layers.0.layer.1", 8, 8, 3, 3),
        **convolution("resnet.encoder.stages.0.layers.0.shortcut", 8, 4, 1, 1),
        **convolution("resnet.encoder.stages.1.layers.0.layer.0", 12, 8, 3, 3),
        **convolution("resnet.encoder.stages.1.layers.0.layer.1", 12, 12, 3, 3),
        **convolution("resnet.encoder.stages.1.layers.0.shortcut", 12, 8, 1, 1),
        **pair("classifier.1", 4, 12),
    },
}  # fmt: skip


def changed(folder: Path, name: str, **settings: Any) -> None:
    """Write other settings into a file of a folder."""
    found = json.loads((folder / name).read_text("utf-8")) | settings
    (folder / name).write_text(json.dumps(found), "utf-8")


@pytest.mark.parametrize("kind", KINDS)
def test_names_and_shapes_in_files(kind: str, tmp_path: Path) -> None:
    small(kind).save(tmp_path)
    with interop.open(tmp_path) as reader:
        assert {name: each.shape for name, each in reader.items()} == NAMES[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_gives_the_same_model(kind: str, tmp_path: Path) -> None:
    model = small(kind)
    model.save(tmp_path)
    found = KINDS[kind][0].load(tmp_path)
    assert found.config == config(kind)
    kept = model.state_dict()
    assert {path: each.tolist() for path, each in found.state_dict().items()} == {
        path: each.tolist() for path, each in kept.items()
    }
    assert found(images(kind, 2)).tolist() == model(images(kind, 2)).tolist()


def test_settings_that_are_left_out_are_those_of_the_base_size(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "vit"}', "utf-8")
    interop.safetensors.save(tmp_path / "model.safetensors", {})
    with pytest.raises(interop.MismatchError, match=r"missing \(200\): 'embeddings.cls_token'"):
        vit.ViT.load(tmp_path)
    assert vit.Config().grid((224, 224)) == (14, 14)
    assert vit.Config().id2label == {0: "LABEL_0", 1: "LABEL_1"}


@pytest.mark.parametrize(
    ("kind", "settings", "reason"),
    [
        ("vit", {"hidden_act": "xielu"}, "hidden_act: expected 'gelu' or .*got 'xielu'"),
        ("vit", {"window_size": 7}, "window_size: Config has no such field"),
        ("vit", {"model_type": "deit"}, "model_type: expected 'vit', got 'deit'"),
        ("vit", {"problem_type": "regression"}, "problem_type: .*got 'regression'"),
        ("vit", {"patch_size": 9}, "an image of 8 by 8 has no patch of 9 by 9"),
        ("vit", {"image_size": [8, 3]}, "an image of 8 by 3 has no patch of 4 by 4"),
        ("vit", {"num_attention_heads": 5}, "5 heads cannot share 12 numbers"),
        ("resnet", {"layer_type": "wide"}, "layer_type: expected 'basic' or 'bottleneck'"),
        ("resnet", {"depths": [1]}, "hidden_sizes and depths are of each stage"),
        ("resnet", {"depths": [1, 0]}, "hidden_sizes and depths are of each stage"),
        ("resnet", {"groups": 32}, "groups: Config has no such field"),
    ],
)
def test_settings_that_are_refused(
    kind: str, settings: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    small(kind).save(tmp_path)
    changed(tmp_path, "config.json", **settings)
    with pytest.raises(ArgumentError, match=reason):
        KINDS[kind][0].load(tmp_path)


def test_weights_of_another_size_are_refused(tmp_path: Path) -> None:
    small("vit").save(tmp_path)
    changed(tmp_path, "config.json", intermediate_size=24)
    with pytest.raises(interop.MismatchError, match=r"float32\[20, 12\] and should be \[24, 12\]"):
        vit.ViT.load(tmp_path)


def test_a_body_without_a_head_gets_one(tmp_path: Path) -> None:
    model = small("vit")
    model.save(tmp_path)
    held = interop.load(tmp_path)
    body = {name.removeprefix("vit."): each for name, each in held.items() if "vit." in name}
    body |= {"pooler.dense.weight": bs.zeros((12, 12)), "pooler.dense.bias": bs.zeros(12)}
    interop.safetensors.save(tmp_path / "model.safetensors", body)
    with pytest.raises(interop.MismatchError, match=r"missing \(2\): 'classifier.weight'"):
        vit.ViT.load(tmp_path)
    with pytest.warns(UserWarning, match=r"missing \(2\): classifier.weight, classifier.bias"):
        found = vit.ViT.load(tmp_path, partial=True).with_labels(LABELS, bs.random.key(0))
    assert found.layernorm.weight.tolist() == model.layernorm.weight.tolist()
    assert found(images("vit", 2)).shape == (2, 4)


def test_files_of_torchvision(tmp_path: Path) -> None:
    held = of_torchvision()
    interop.safetensors.save(tmp_path / "file", held)
    model = resnet.ResNet.load_torchvision(tmp_path / "file")
    names = {at: f"label {at}" for at in range(4)}
    assert model.config == config("resnet", id2label=names)
    assert sorted(each.tobytes() for each in held.values()) == sorted(
        each.numpy().tobytes() for each in model.state_dict().values()
    )
    kept = model.stages[1].layers[0].shortcut.normalization.running_var
    assert kept.tolist() == held["layer2.0.downsample.1.running_var"].tolist()
    narrow = resnet.ResNet.load_torchvision(tmp_path / "file", dtype=bs.bfloat16)
    assert narrow(images("resnet", 2)).dtype == bs.bfloat16
    assert narrow.embedder.normalization.running_mean.dtype == bs.float32


def test_older_files_of_torchvision_do_not_count_batches(tmp_path: Path) -> None:
    interop.safetensors.save(tmp_path / "file", of_torchvision(without="num_batches_tracked"))
    model = resnet.ResNet.load_torchvision(tmp_path / "file")
    assert model.embedder.normalization.num_batches_tracked.item() == 0


def test_other_files_are_not_taken_for_torchvisions(tmp_path: Path) -> None:
    inner = {"layer1.0.conv2.weight": (4, 1, 3, 3)}
    interop.safetensors.save(tmp_path / "file", of_torchvision(changed=inner))
    with pytest.raises(ValueError, match=r"blocks with 4 and 1 channels.*grouped or wide networks"):
        resnet.ResNet.load_torchvision(tmp_path / "file")
    interop.safetensors.save(tmp_path / "file", {"features.0.weight": bs.zeros((4, 3, 3, 3))})
    with pytest.raises(ValueError, match="no weights of a residual network of torchvision"):
        resnet.ResNet.load_torchvision(tmp_path / "file")


def test_the_likeliest_labels() -> None:
    scores = bs.asarray([log(each) for each in (0.1, 0.2, 0.4, 0.2, 0.04, 0.06)], dtype=bs.bfloat16)
    found = pictures.likeliest(scores, dict(enumerate("abcde")))
    assert [label for label, _ in found] == ["c", "b", "d", "a", "label 5"]
    assert found[0][1] == pytest.approx(0.4, abs=0.01)
