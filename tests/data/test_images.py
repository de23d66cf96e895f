"""Images in folders: classified, segmented, with objects."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brimstone import data
from brimstone.data.errors import of_extra

Image: Any = pytest.importorskip(
    "PIL.Image", reason="Pillow, of the extra `images`, is not installed"
)
PIXELS = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)


def save(path: Path, pixels: np.ndarray = PIXELS) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)
    return path


def test_modes(tmp_path: Path) -> None:
    path = save(tmp_path / "a.png")
    assert np.array_equal(data.read_image(path), PIXELS.transpose(2, 0, 1))
    assert data.read_image(path, "L").shape == (1, 2, 3)
    assert data.read_image(path, "RGBA")[3].tolist() == [[255] * 3] * 2
    deep = np.array([[1000, 2], [3, 4]], np.uint16)
    assert np.array_equal(data.read_image(save(tmp_path / "b.png", deep), None), deep)


def test_images_that_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large = np.arange(64 * 64 * 3).astype(np.uint8).reshape(64, 64, 3)
    whole = save(tmp_path / "a.png", large).read_bytes()
    path = tmp_path / "a.png"
    for part in (whole[: len(whole) // 2], whole[:20], b"text"):
        path.write_bytes(part)
        with pytest.raises(data.DataError, match=r"(?s)a\.png.*test_images\.py"):
            data.read_image(path)
    path.write_bytes(whole)
    with pytest.raises(data.DataError, match=r"mode|nonsense"):
        data.read_image(path, "nonsense")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 4095)
    with pytest.raises(data.DataError, match="pixels"):
        data.read_image(path)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 2000)
    with pytest.raises(data.DataError, match="pixels"):
        data.read_image(path)


def test_classified_images(tmp_path: Path) -> None:
    save(tmp_path / "dog" / "b.png", PIXELS + 1)
    save(tmp_path / "cat" / "old" / "a.PNG")
    dataset = data.ImageFolder(tmp_path)
    assert dataset.classes == ["cat", "dog"]
    assert [label for _, label in dataset] == [0, 1]
    assert np.array_equal(dataset[1].input, (PIXELS + 1).transpose(2, 0, 1))
    assert data.ImageFolder(tmp_path, mode="L")[0].input.shape == (1, 2, 3)


def test_segmented_images(tmp_path: Path) -> None:
    mask = np.array([[0, 1, 2], [2, 1, 0]], np.uint8)
    save(tmp_path / "images" / "a.bmp")
    save(tmp_path / "masks" / "a.png", mask)
    dataset = data.SegmentationFolder(tmp_path / "images", tmp_path / "masks")
    assert np.array_equal(dataset[0].image, PIXELS.transpose(2, 0, 1))
    assert np.array_equal(dataset[0].mask, mask)
    palette = Image.fromarray(mask, "L").convert("P")
    palette.putpalette([9, 9, 9, 8, 8, 8, 7, 7, 7])
    palette.save(tmp_path / "masks" / "a.png")
    assert np.array_equal(dataset[0].mask, mask)


def test_masks_that_are_refused(tmp_path: Path) -> None:
    images, masks = tmp_path / "images", tmp_path / "masks"
    images.mkdir()
    masks.mkdir()
    with pytest.raises(data.DataError, match="no files"):
        data.SegmentationFolder(images, masks)
    save(images / "a.png")
    with pytest.raises(data.DataError, match=r"images/a\.png: there is no mask"):
        data.SegmentationFolder(images, masks)
    save(masks / "a.png")
    with pytest.raises(data.DataError, match=r"the mask is \(3, 2, 3\) and the image \(2, 3\)"):
        data.SegmentationFolder(images, masks)[0]
    save(masks / "b.png")
    with pytest.raises(data.DataError, match=r"masks/b\.png: there is no image"):
        data.SegmentationFolder(images, masks)
    with pytest.raises(data.DataError, match="No such file"):
        data.SegmentationFolder(images, tmp_path / "nowhere")
    save(images / "a.bmp")
    with pytest.raises(data.DataError, match=r"a\.png: a\.bmp has the same name"):
        data.SegmentationFolder(images, masks)


def annotations(**changes: Any) -> dict[str, Any]:
    """What COCO says of two images, of which the second has two objects and a crowd."""
    return {
        "images": [{"id": 7, "file_name": "a.png"}, {"id": 3, "file_name": "in/b.png"}],
        "categories": [{"id": 9, "name": "dog"}, {"id": 4, "name": "cat"}],
        "annotations": [
            {"image_id": 3, "category_id": 9, "bbox": [0, 1, 2, 1.5], "iscrowd": 0},
            {"image_id": 3, "category_id": 4, "bbox": [1, 0, 1, 1]},
            {"image_id": 3, "category_id": 4, "bbox": [0, 0, 3, 2], "iscrowd": 1},
        ],
        **changes,
    }


def test_objects_in_images(tmp_path: Path) -> None:
    save(tmp_path / "a.png")
    save(tmp_path / "in" / "b.png")
    (tmp_path / "a.json").write_text(json.dumps(annotations()))
    dataset = data.CocoDetection(tmp_path, tmp_path / "a.json")
    assert dataset.classes == ["cat", "dog"]
    image, boxes, labels = dataset[1]
    assert image.shape == (3, 2, 3)
    assert boxes.tolist() == [[0, 1, 2, 1.5], [1, 0, 1, 1]]
    assert labels.tolist() == [1, 0]
    assert dataset[0].boxes.shape == (0, 4)
    batch = data.Padded(-1)([dataset[0], dataset[1]])
    assert batch.labels.tolist() == [[-1, -1], [1, 0]]


def object_of(**changes: Any) -> dict[str, Any]:
    return annotations(
        annotations=[{"image_id": 3, "category_id": 9, "bbox": [0, 0, 1, 1], **changes}]
    )


def image_of(name: Any) -> dict[str, Any]:
    return annotations(images=[{"id": 3, "file_name": name}])


BROKEN = {
    "no JSON": ("{", "Expecting"),
    "deep": ("[" * 100_000, "recursion"),
    "no object": ("[]", "expected an object"),
    "no images": ("{\"categories\": []}", "expected 'images' as list"),
    "image is no object": (annotations(images=[3]), "expected 'id' as int in 3"),
    "id is no integer": (annotations(images=[{"id": "3"}]), "expected 'id' as int"),
    "up": (image_of("../a.png"), "leads out of the folder"),
    "inside and up": (image_of("in/../../a.png"), "leads out of the folder"),
    "absolute": (image_of("/a.png"), "leads out of the folder"),
    "zero": (image_of("a\0.png"), "leads out of the folder"),
    "two of an id": (annotations(images=annotations()["images"][:1] * 2), "two of images"),
    "no such image": (object_of(image_id=8), "refers to 8"),
    "no such category": (object_of(category_id=True), "expected 'category_id' as int"),
    "three numbers": (object_of(bbox=[1, 2, 3]), "four numbers"),
    "text in a box": (object_of(bbox=[1, 2, 3, "4"]), "four numbers"),
    "infinite": (object_of(bbox=[1, 2, 3, float("inf")]), "four numbers"),
    "endless": (object_of(bbox=[1, 2, 3, 10**400]), "four numbers"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_annotations_that_are_refused(tmp_path: Path, name: str) -> None:
    about, words = BROKEN[name]
    text = about if isinstance(about, str) else json.dumps(about)
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(data.DataError, match=words):
        data.CocoDetection(tmp_path, tmp_path / "a.json")


def test_what_is_missing_is_named() -> None:
    with pytest.raises(ImportError, match=r"Some: (?s:.*)pip install 'brimstone\[images\]'"):
        of_extra("no.such.module", "images", "Some")
