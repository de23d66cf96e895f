"""Images on their way into the vision models of the examples, and what these print."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brimstone import interop
from brimstone.frontend.errors import ArgumentError
from kit.vision import LABELS, of_torchvision, pictures, resnet, small, vit

image: Any = pytest.importorskip(
    "PIL.Image", reason="Pillow is not installed; it comes with the extra `images`"
)


def noise(width: int = 20, height: int = 13, mode: str = "RGB") -> Any:
    """An image that is the same at every run."""
    drawn = np.random.default_rng(1).integers(0, 256, (height, width, 3)).astype(np.uint8)
    return image.fromarray(drawn).convert(mode)


@pytest.mark.parametrize(
    ("settings", "shape"),
    [
        ({"size": 8}, (8, 8)),
        ({"size": {"height": 6, "width": 9}}, (6, 9)),
        ({"size": {"shortest_edge": 26}}, (26, 40)),
        ({"do_resize": False}, (13, 20)),
        ({"do_resize": False, "do_center_crop": True, "crop_size": 7}, (7, 7)),
        ({"size": 8, "image_processor_type": "ConvNextImageProcessor"}, (8, 8)),
        ({"size": 384, "image_processor_type": "ConvNextImageProcessor"}, (384, 384)),
    ],
)
def test_sizes(settings: dict[str, Any], shape: tuple[int, int]) -> None:
    assert pictures.Preprocessing(**settings)(noise()).shape == (1, 3, *shape)


def test_the_middle_is_cut_out_with_black_around_it() -> None:
    cut = pictures.cut(noise(4, 4), 2, 8)
    pixels = np.asarray(cut)
    assert pixels.shape == (2, 8, 3)
    assert (pixels[:, 2:6] == np.asarray(noise(4, 4))[1:3]).all()
    assert not pixels[:, :2].any() and not pixels[:, 6:].any()


@pytest.mark.parametrize("mode", ["L", "RGBA", "P", "1", "CMYK"])
def test_images_of_other_kinds_have_three_channels(mode: str) -> None:
    made = pictures.Preprocessing(size=5)(noise(mode=mode))
    assert made.shape == (1, 3, 5, 5) and np.abs(made.numpy()).max() <= 1


def test_values_are_scaled_and_shifted() -> None:
    grey = image.new("RGB", (2, 2), (51, 102, 255))
    prepare = pictures.Preprocessing(
        size=2, image_mean=(0.2, 0.2, 0.5), image_std=(0.5, 0.1, 0.25), resample=0
    )
    np.testing.assert_allclose(prepare(grey).numpy()[0, :, 0, 0], [0, 2, 2], atol=1e-6)
    plain = pictures.Preprocessing(size=2, do_rescale=False, do_normalize=False)
    assert plain(grey).numpy()[0, :, 1, 1].tolist() == [51, 102, 255]


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"do_pad": True}, "do_pad: expected False or null, got True"),
        ({"do_flip_channel_order": True}, "do_flip_channel_order: Preprocessing has no such field"),
        ({"image_processor_type": "BitImageProcessor"}, "got 'BitImageProcessor'"),
        ({"resample": 7}, "resample: expected 0 or 1 .*got 7"),
    ],
)
def test_steps_that_are_refused(settings: dict[str, Any], reason: str, tmp_path: Path) -> None:
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(settings), "utf-8")
    with pytest.raises(ArgumentError, match=reason):
        pictures.preprocessing(tmp_path)


def test_a_size_that_says_too_little() -> None:
    with pytest.raises(ValueError, match="has a height and a width, and this one has longest_edge"):
        pictures.Preprocessing(size={"longest_edge": 4})(noise())


def test_what_a_folder_sees_in_an_image(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "image.png"
    turned = image.Exif()
    turned[0x0112] = 6  # the camera was held upright
    noise().save(path, exif=turned)
    small("vit").save(tmp_path / "vit")
    steps = {"size": {"height": 8, "width": 8}, "image_processor_type": "ViTFeatureExtractor"}
    (tmp_path / "vit" / "preprocessor_config.json").write_text(json.dumps(steps), "utf-8")
    assert pictures.opened(path).size == (13, 20)
    found = vit.main(tmp_path / "vit", path)
    assert sorted(label for label, _ in found) == sorted(LABELS)
    assert sum(share for _, share in found) == pytest.approx(1)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in lines] == [label for label, _ in found]


def test_what_a_file_of_torchvision_sees_in_an_image(tmp_path: Path) -> None:
    noise().save(tmp_path / "image.png")
    interop.safetensors.save(tmp_path / "file", of_torchvision())
    found = resnet.main(tmp_path / "file", tmp_path / "image.png")
    assert sorted(label for label, _ in found) == [f"label {at}" for at in range(4)]
