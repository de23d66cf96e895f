"""The vision models of the examples beside `transformers`: folders, values, slopes, means."""

from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import brimstone as bs
from brimstone import interop, nn
from brimstone.interop.weights import remap
from kit.vision import RESNET, VIT, pictures, resnet, vit

torch: Any = pytest.importorskip("torch", reason="PyTorch, a peer, is not installed")
theirs: Any = pytest.importorskip("transformers", reason="transformers, a peer, is not installed")
torchvision: Any = pytest.importorskip("kit.torchvision_resnet")

ERROR = 1e-5
"""As far as f32 may be off, as a share of the largest value of a tensor."""
ROOM = 4
"""How many times as far off as PyTorch's f32 it may be, where that is more."""
LABELS = np.array([0, 3, 1])


class Case(NamedTuple):
    """A class of ours, the name of theirs, settings, a size of images, and whether it trains."""

    ours: Any
    theirs: str
    settings: dict[str, Any]
    size: tuple[int, int]
    training: bool = False

    @property
    def config(self) -> Any:
        return getattr(theirs, f"{self.theirs}Config")(num_labels=4, **self.settings)

    @property
    def is_resized(self) -> bool:
        """Whether images are of another size than a model that has one."""
        own = self.settings.get("image_size")
        return own is not None and self.size != ((own, own) if isinstance(own, int) else tuple(own))

    @property
    def model(self) -> Any:
        return getattr(theirs, f"{self.theirs}ForImageClassification")


def of_vit(size: tuple[int, int] = (8, 8), **settings: Any) -> Case:
    return Case(vit.ViT, "ViT", VIT | settings, size)


def of_resnet(training: bool, size: tuple[int, int] = (33, 30), **settings: Any) -> Case:
    return Case(resnet.ResNet, "ResNet", RESNET | settings, size, training)


RESNETS: dict[str, dict[str, Any]] = {
    "resnet": {},
    "resnet, basic": {"layer_type": "basic"},
    "resnet, halved at once": {"downsample_in_first_stage": True, "hidden_act": "silu"},
    "resnet, halved before": {"downsample_in_bottleneck": True, "hidden_act": "gelu"},
    "resnet, basic, as wide as the stem": {"layer_type": "basic", "embedding_size": 8},
    "resnet, one pixel": {"size": (1, 1)},
}
CASES = {
    "vit": of_vit(),
    "vit, no biases": of_vit(qkv_bias=False, hidden_act="gelu_new", layer_norm_eps=1e-3),
    "vit, relu": of_vit(hidden_act="relu", num_attention_heads=2),
    "vit, silu": of_vit(hidden_act="silu", num_hidden_layers=1),
    "vit, oblong": of_vit((9, 13), image_size=[9, 13], patch_size=[4, 3]),
    "vit, other images": of_vit((16, 12)),
    "vit, odd images": of_vit((15, 23), image_size=12),
    "vit, smaller images": of_vit((5, 5), image_size=16),
    **{name: of_resnet(False, **each) for name, each in RESNETS.items()},
    **{f"{name}, training": of_resnet(True, **each) for name, each in RESNETS.items()
       if "pixel" not in name},
}  # fmt: skip


def made(case: Case) -> Any:
    """A model of theirs whose parameters and running means are all somewhere."""
    torch.manual_seed(5)
    model = case.model(case.config).train(case.training)
    with torch.no_grad():
        for name, each in [*model.named_parameters(), *model.named_buffers()]:
            if each.is_floating_point():
                is_scale = each.ndim == 1 and name.endswith(("weight", "var"))
                each.copy_(is_scale + 0.3 * (torch.rand_like(each) if is_scale else
                                             torch.randn_like(each)))  # fmt: skip
    return model


class Found(NamedTuple):
    """What a step finds: scores, the loss, gradients and buffers by the names in files."""

    scores: Any
    loss: Any
    slopes: Mapping[str, Any]
    buffers: Mapping[str, Any]


def found_by_them(model: Any, case: Case, images: Any, folder: Path) -> Found:
    """What their model finds; its own way of writing files tells what tensors are called there."""
    options = {"interpolate_pos_encoding": True} if case.is_resized else {}
    made = model(pixel_values=images, labels=torch.asarray(LABELS), **options)
    made.loss.backward()
    model.save_pretrained(folder)
    buffers = interop.load(folder)
    with torch.no_grad():
        for each in model.parameters():
            each.copy_(each.grad)
    model.save_pretrained(folder)
    return Found(made.logits.detach(), made.loss.item(), interop.load(folder), buffers)


def found_by_us(model: Any, case: Case, images: Any) -> Found:
    options = {"interpolate": True} if case.is_resized else {}

    def loss(model: Any) -> Any:
        scores = model(images, **options)
        return nn.cross_entropy(scores, bs.asarray(LABELS)), scores

    with nn.training(0) if case.training else nn.inference():
        both = bs.value_and_grad(loss, has_aux=True, updates=True)
        ((value, scores), left), slopes = both(model)
    rules = case.ours.layout.writing
    named = {path: slope for path, slope in slopes.state_dict().items() if slope is not None}
    return Found(scores, value.item(), remap(named, rules), remap(left.buffers(), rules))


def near(found: Any, expected: Any, peer: Any, largest: float = 0.0) -> None:
    """Whether f32 is as near to f64 as a peer's; what should be 0 is a share of the `largest`."""
    found, expected, peer = [np.asarray(each, np.float64) for each in (found, expected, peer)]
    scale = np.abs(expected).max()
    scale = scale if scale > 1e-9 * largest else largest
    error = max(ERROR * scale, ROOM * np.abs(peer - expected).max())
    np.testing.assert_allclose(found, expected, rtol=0, atol=error)


@pytest.mark.parametrize("name", CASES)
def test_values_gradients_and_running_means_agree(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    narrow = made(case)
    narrow.save_pretrained(tmp_path / "model")
    ours = case.ours.load(tmp_path / "model")
    images = np.random.default_rng(7).normal(size=(3, 3, *case.size)).astype(np.float32)
    found = found_by_us(ours, case, bs.asarray(images))
    given = torch.asarray(images)
    wide = found_by_them(deepcopy(narrow).double(), case, given.double(), tmp_path / "wide")
    peer = found_by_them(narrow, case, given, tmp_path / "peer")
    near(found.scores, wide.scores, peer.scores)
    near(found.loss, wide.loss, peer.loss)
    largest = max([np.abs(each.numpy()).max() for each in wide.slopes.values()])
    buffers = {*found.buffers}
    assert {*found.slopes} == {*wide.slopes} - buffers
    for path, slope in found.slopes.items():
        near(slope, wide.slopes[path], peer.slopes[path], largest)
    for path, buffer in found.buffers.items():
        near(buffer, wide.buffers[path], peer.buffers[path])
        assert buffer.dtype == peer.buffers[path].dtype


@pytest.mark.parametrize("name", ["vit, oblong", "resnet", "resnet, basic"])
def test_they_read_what_we_write(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    settings = {**case.settings, "id2label": dict(enumerate("abcd"))}
    settings = {what: tuple(each) if isinstance(each, list) else each
                for what, each in settings.items()}  # fmt: skip
    ours = case.ours(case.ours.Config(**settings), bs.random.key(2))
    ours.save(tmp_path)
    read, told = case.model.from_pretrained(tmp_path, output_loading_info=True)
    assert not any(told.values()), told
    assert read.config.id2label == dict(enumerate("abcd"))
    images = np.random.default_rng(7).normal(size=(2, 3, *case.size)).astype(np.float32)
    with torch.no_grad():
        expected = read(pixel_values=torch.asarray(images)).logits
    np.testing.assert_allclose(ours(bs.asarray(images)).numpy(), expected.numpy(), atol=1e-5)


def test_weights_in_several_files_and_narrow_ones(tmp_path: Path) -> None:
    case = CASES["resnet"]
    model = made(case).bfloat16().eval()
    model.save_pretrained(tmp_path, max_shard_size="2KB")
    assert len([*tmp_path.glob("*.safetensors")]) > 1
    images = torch.randn(2, 3, *case.size).bfloat16()
    with torch.no_grad():
        expected = model(pixel_values=images).logits.float().numpy()
    given = bs.asarray(images.float().numpy())
    for dtype in (None, bs.bfloat16):
        found = case.ours.load(tmp_path, dtype=dtype)(given).astype(bs.float32).numpy()
        np.testing.assert_allclose(found, expected, atol=0.1 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("depths", "widths", "bottleneck"),
    [((2, 1), (8, 12), False), ((1, 2, 1), (8, 12, 16), True), ((1, 1), (4, 8), False)],
    ids=["basic", "bottleneck", "no shortcut"],
)
@pytest.mark.parametrize("training", [False, True])
def test_checkpoints_by_torchvisions_names(
    depths: Any, widths: Any, bottleneck: bool, training: bool, tmp_path: Path
) -> None:
    torch.manual_seed(4)
    model = torchvision.network(4, widths, depths, bottleneck, 5).train(training)
    torch.save(model.state_dict(), tmp_path / "model.pth")
    ours = resnet.ResNet.load_torchvision(tmp_path / "model.pth")
    assert (ours.config.depths, ours.config.hidden_sizes) == (depths, widths)
    images = np.random.default_rng(7).normal(size=(3, 3, 33, 30)).astype(np.float32)
    with nn.training(0) if training else nn.inference() as context:
        scores = ours(bs.asarray(images))
        left = context.updated(ours).state_dict()
    expected = model.double()(torch.asarray(images).double()).detach()
    near(scores, expected, expected)
    kept = remap(model.state_dict(), resnet.TORCHVISION)
    assert {*kept} == {*left}
    for path, tensor in kept.items():
        near(left[path], tensor, tensor)


PROCESSORS: dict[str, tuple[str, dict[str, Any]]] = {
    "vit": ("ViT", {"size": {"height": 24, "width": 20}}),
    "vit, cubic": ("ViT", {"size": {"height": 70, "width": 9}, "resample": 3}),
    "vit, shorter side": ("ViT", {"size": {"shortest_edge": 18}}),
    "vit, cut": ("ViT", {
        "size": {"shortest_edge": 18}, "do_center_crop": True,
        "crop_size": {"height": 15, "width": 22}}),
    "vit, plain": ("ViT", {"do_resize": False, "do_normalize": False, "rescale_factor": 0.01}),
    "vit, other means": ("ViT", {
        "size": {"height": 9, "width": 9}, "image_mean": [0.1, 0.2, 0.3],
        "image_std": [0.4, 0.5, 0.6]}),
    "convnext": ("ConvNext", {"size": {"shortest_edge": 28}}),
    "convnext, less cut": ("ConvNext", {"size": {"shortest_edge": 21}, "crop_pct": 0.95}),
    "convnext, large": ("ConvNext", {"size": {"shortest_edge": 384}, "resample": 2}),
}  # fmt: skip


@pytest.mark.parametrize("name", PROCESSORS)
@pytest.mark.parametrize("size", [(40, 33), (17, 50)])
def test_images_are_prepared_alike(name: str, size: tuple[int, int], tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    kind, settings = PROCESSORS[name]
    processor = getattr(theirs, f"{kind}ImageProcessorPil")(**settings)
    processor.save_pretrained(tmp_path)
    prepare = pictures.preprocessing(tmp_path)
    pixels = np.random.default_rng(3).integers(0, 256, (*size, 3)).astype(np.uint8)
    given = image.fromarray(pixels)
    expected = processor(images=given, return_tensors="np")["pixel_values"]
    np.testing.assert_allclose(prepare(given).numpy(), expected, atol=1e-5)
