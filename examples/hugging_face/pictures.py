"""Images before and behind the models here: made fit for them, named, and drawn for a trial.

Comes in: a folder with `preprocessor_config.json`, an image that Pillow reads, scores. Goes out:
what a model takes, [1, 3, height, width], and the labels that it finds most likely.
Never: a step of the file passed over without a word.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

import brimstone as bs
from brimstone import nn, train

NEUTRAL = (
    "_valid_processor_keys", "data_format", "default_to_square", "device", "disable_grouping",
    "id2label", "input_data_format", "label2id", "num_labels", "processor_class", "return_tensors",
)  # fmt: skip
"""Settings that change nothing of what a single image becomes."""

CONVNEXT = ("ConvNextImageProcessor", "ConvNextImageProcessorFast", "ConvNextFeatureExtractor")
UNCROPPED = 384
"""From this size on, processors of ConvNeXt squeeze images instead of cutting them."""

Processor = Literal[
    "ViTImageProcessor", "ViTImageProcessorFast", "ViTFeatureExtractor",
    "ConvNextImageProcessor", "ConvNextImageProcessorFast", "ConvNextFeatureExtractor",
]  # fmt: skip
Size = int | dict[str, int]


@dataclass(frozen=True)
class Preprocessing:
    """What is done to images, in the order of the fields.

    A size is a number, `{"height": …, "width": …}` or `{"shortest_edge": …}`; a filter has
    Pillow's number.
    """

    do_resize: bool = True
    size: Size = 224
    resample: Literal[0, 1, 2, 3, 4, 5] = 2
    crop_pct: float = 0.875
    do_center_crop: bool | None = None
    crop_size: Size | None = None
    do_rescale: bool = True
    rescale_factor: float = 1 / 255
    do_normalize: bool = True
    image_mean: tuple[float, ...] = (0.5, 0.5, 0.5)
    image_std: tuple[float, ...] = (0.5, 0.5, 0.5)
    do_convert_rgb: Literal[True] | None = None
    do_pad: Literal[False] | None = None
    image_processor_type: Processor | None = None
    feature_extractor_type: Processor | None = None

    def __call__(self, image):
        """An image of Pillow's -> [1, 3, height, width]"""
        image = image.convert("RGB")
        if self.do_resize:
            image = self.resized(image)
        if self.do_center_crop:
            image = cut(image, *sides(self.crop_size, self.size))
        pixels = np.asarray(image, np.float32).transpose(2, 0, 1)
        if self.do_rescale:
            pixels = pixels * self.rescale_factor
        if self.do_normalize:
            mean, deviation = np.array([self.image_mean, self.image_std])[:, :, None, None]
            pixels = (pixels - mean) / deviation
        return bs.asarray(pixels[None], dtype=bs.float32)

    def resized(self, image):
        """The image at the size that is wanted."""
        is_convnext = (self.image_processor_type or self.feature_extractor_type) in CONVNEXT
        edge = self.size if isinstance(self.size, int) else self.size.get("shortest_edge")
        if is_convnext and edge is not None and edge < UNCROPPED:
            larger = image.resize(around(image, int(edge / self.crop_pct)), self.resample)
            return cut(larger, edge, edge)
        if isinstance(self.size, int) or is_convnext or edge is None:
            height, width = sides(edge or self.size)
            return image.resize((width, height), self.resample)
        return image.resize(around(image, edge), self.resample)


IMAGENET = Preprocessing(
    size={"shortest_edge": 256}, do_center_crop=True, crop_size=224,
    image_mean=(0.485, 0.456, 0.406), image_std=(0.229, 0.224, 0.225),
)  # fmt: skip
"""What torchvision's models are used to."""


def preprocessing(folder):
    """What the file in a folder says."""
    return nn.load_config(Preprocessing, Path(folder) / "preprocessor_config.json", NEUTRAL)


def sides(*sizes):
    """The height and the width of the first size that is given."""
    size = next(size for size in sizes if size is not None)
    if isinstance(size, int):
        return size, size
    if {*size} != {"height", "width"}:
        raise ValueError(f"a size has a height and a width, and this one has {', '.join(size)}")
    return size["height"], size["width"]


def around(image, edge):
    """The width and the height of an image whose shorter side gets a length."""
    shorter = min(image.size)
    return tuple([edge if side == shorter else int(edge * side / shorter) for side in image.size])


def cut(image, height, width):
    """The middle of an image, with black around it where it is too small."""
    left, top = (image.width - width) // 2, (image.height - height) // 2
    return image.crop((left, top, left + width, top + height))


def opened(path):
    """An image, turned as its camera was."""
    from PIL import Image, ImageOps

    return ImageOps.exif_transpose(Image.open(path))


def likeliest(scores, labels, count=5):
    """The labels with the highest scores, and how likely each is."""
    shares = bs.softmax(scores.astype(bs.float32)).numpy()
    order = np.argsort(-shares, kind="stable")[:count]
    return [(labels.get(int(place), f"label {place}"), float(shares[place])) for place in order]


def describe(model, prepare, path):
    """Print what a model sees in an image."""
    found = likeliest(model(prepare(opened(path)))[0], model.config.id2label)
    for label, share in found:
        print(f"{share:6.1%}  {label}")
    return found


def loss(model, batch):
    """How unlikely a model finds the labels of images, and the scores."""
    images, labels = batch
    scores = model(images)
    return nn.cross_entropy(scores, labels), scores


def stripes(count, side, seed=0):
    """Images of stripes with some noise, and whether these stand upright."""
    random = np.random.default_rng(seed)
    standing = random.integers(0, 2, count)
    pace, start = random.uniform(0.8, 1.6, (count, 1)), random.uniform(0, 6, (count, 1))
    wave = np.sin(np.arange(side) * pace + start)
    images = np.where(standing[:, None, None] == 1, wave[:, None, :], wave[:, :, None])
    images = images[:, None] + random.normal(0, 0.2, (count, 3, side, side))
    return bs.asarray(images, dtype=bs.float32), bs.asarray(standing)


def tuned(model, steps, side, lr=3e-3):
    """A run of a learner that shows stripes to a model."""
    batches = [stripes(16, side, seed) for seed in range(steps)]
    held_out = [stripes(64, side, steps)]
    learner = train.Learner(loss, train.AdamW(lr=lr), metrics={"accuracy": accuracy})
    run = learner.fit(model, batches, valid=held_out)
    print(f"{run.history[-1].values['accuracy']:.1%} of the stripes that were held out")
    return run


def accuracy(scores, batch):
    """How many of the images are named rightly."""
    return (scores.argmax(axis=1) == batch[1]).astype(bs.float32).mean()


def two_labels():
    """What labels are called where nobody names them."""
    return {0: "LABEL_0", 1: "LABEL_1"}
