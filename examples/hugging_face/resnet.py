"""A residual network, from a folder of Hugging Face's or a file of torchvision's, says what is in
an image.

    python examples/hugging_face/resnet.py FOLDER IMAGE

Without arguments a small one of random numbers is saved, loaded, and learns to tell stripes apart.
"""

import re
import sys
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import pictures
from folder import ACTIVATIONS, Activation, Layout, Pretrained

import brimstone as bs
from brimstone import interop, nn
from brimstone.interop.weights import convert, remap, select

REDUCTION = 4
"""How many times fewer channels a bottleneck has inside."""

TORCHVISION = {
    r"^conv1\.": "embedder.convolution.",
    r"^bn1\.": "embedder.normalization.",
    r"^fc\.": "classifier.",
    r"\.downsample\.0\.": ".shortcut.convolution.",
    r"\.downsample\.1\.": ".shortcut.normalization.",
    **{rf"^layer{each + 1}\.": f"stages.{each}.layers." for each in range(9)},
    **{rf"\.conv{each + 1}\.": f".layer.{each}.convolution." for each in range(3)},
    **{rf"\.bn{each + 1}\.": f".layer.{each}.normalization." for each in range(3)},
}
"""From names in torchvision's files, which count from 1, to paths."""


@dataclass(frozen=True)
class Config:
    """`config.json`; one number of `hidden_sizes` and `depths` for each stage."""

    num_channels: int = 3
    embedding_size: int = 64
    hidden_sizes: tuple[int, ...] = (256, 512, 1024, 2048)
    depths: tuple[int, ...] = (3, 4, 6, 3)
    layer_type: Literal["basic", "bottleneck"] = "bottleneck"
    hidden_act: Activation = "relu"
    downsample_in_first_stage: bool = False
    downsample_in_bottleneck: bool = False
    id2label: dict[int, str] = field(default_factory=pictures.two_labels, hash=False, repr=False)
    problem_type: Literal["single_label_classification"] | None = None
    model_type: Literal["resnet"] = "resnet"

    def __post_init__(self):
        if len(self.hidden_sizes) != len(self.depths) or not min(self.depths, default=0) > 0:
            raise ValueError("hidden_sizes and depths are of each stage, which has a block or more")


class Convolution(nn.Module):
    """A convolution, a norm of its channels, and perhaps a curve."""

    def __init__(self, window, inputs, outputs, stride, activation, key, dtype=None):
        self.convolution = nn.Conv2d(
            inputs, outputs, window, stride, window // 2, bias=False,
            initialiser=nn.KaimingNormal(fan="out"), key=key, dtype=dtype,
        )  # fmt: skip
        self.normalization = nn.BatchNorm2d(outputs, dtype=dtype)
        self.activation = activation

    def forward(self, x):
        """[N, inputs, height, width] -> [N, outputs, height / stride, width / stride]"""
        made = self.normalization(self.convolution(x))
        return made if self.activation is None else ACTIVATIONS[self.activation](made)


class Block(nn.Module):
    """Convolutions, added to their input, or to what a shortcut makes of it."""

    def __init__(self, config, inputs, outputs, stride, key, dtype=None):
        rows = steps(config, inputs, outputs, stride)
        *keys, key = bs.random.split(key, len(rows) + 1)
        # Whatever `hidden_act` says, between the convolutions of a block are rectifiers.
        curves = [*["relu"] * (len(rows) - 1), None]
        made = [
            Convolution(*row, curve, each, dtype)
            for row, curve, each in zip(rows, curves, keys, strict=True)
        ]
        self.layer = nn.Sequential(*made)
        is_same = stride == 1 and inputs == outputs
        shortcut = None if is_same else Convolution(1, inputs, outputs, stride, None, key, dtype)
        self.shortcut, self.activation = shortcut, config.hidden_act

    def forward(self, x):
        """[N, inputs, height, width] -> [N, outputs, height / stride, width / stride]"""
        beside = x if self.shortcut is None else self.shortcut(x)
        return ACTIVATIONS[self.activation](self.layer(x) + beside)


def steps(config, inputs, outputs, stride):
    """The window, the channels before and behind, and the stride of each convolution of a block."""
    if config.layer_type == "basic":
        return (3, inputs, outputs, stride), (3, outputs, outputs, 1)
    inner = outputs // REDUCTION
    first, second = (stride, 1) if config.downsample_in_bottleneck else (1, stride)
    return (1, inputs, inner, first), (3, inner, inner, second), (1, inner, outputs, 1)


class Stage(nn.Module):
    """Blocks of one width, the first of which may halve the height and the width of images."""

    def __init__(self, config, inputs, outputs, depth, stride, key, dtype=None):
        first, *others = bs.random.split(key, depth)
        self.layers = nn.Sequential(
            Block(config, inputs, outputs, stride, first, dtype),
            *[Block(config, outputs, outputs, 1, each, dtype) for each in others],
        )

    def forward(self, x):
        """[N, inputs, height, width] -> [N, outputs, height / stride, width / stride]"""
        return self.layers(x)


class ResNet(Pretrained):
    """Images in, scores of labels out."""

    Config = Config
    layout = Layout(
        "resnet.",
        heads=("classifier.",),
        names={
            "embedder": "embedder.embedder",
            "stages": "encoder.stages",
            "classifier": "classifier.1",
        },
        neutral=("out_features", "out_indices", "stage_names"),
    )

    def __init__(self, config, key=None, dtype=None):
        key = bs.random.key(0) if key is None else key
        *keys, first, last = bs.random.split(key, len(config.depths) + 2)
        size = config.embedding_size
        self.embedder = Convolution(
            7, config.num_channels, size, 2, config.hidden_act, first, dtype
        )
        self.pool = nn.MaxPool2d(3, 2, 1)
        widths = (size, *config.hidden_sizes)
        strides = (2 if config.downsample_in_first_stage else 1, *[2] * (len(keys) - 1))
        rows = zip(widths[:-1], widths[1:], config.depths, strides, keys, strict=True)
        self.stages = nn.Sequential(*[Stage(config, *row, dtype) for row in rows])
        self.classifier = nn.Linear(widths[-1], len(config.id2label), key=last, dtype=dtype)
        self.config = config

    def forward(self, images):
        """[N, channels, height, width] -> [N, labels]"""
        x = images.astype(self.classifier.weight.dtype)
        x = self.stages(self.pool(self.embedder(x)))
        return self.classifier(x.mean((2, 3)))

    def with_labels(self, labels, key):
        """The model with other labels, of which it knows nothing yet."""
        size, dtype = self.config.hidden_sizes[-1], self.classifier.weight.dtype
        config = replace(self.config, id2label=dict(enumerate(labels)))
        head = nn.Linear(size, len(labels), key=key, dtype=dtype)
        return self.replace(classifier=head, config=config)

    @classmethod
    def load_torchvision(cls, path, *, dtype=None):
        """The model of a file of torchvision's, which are of 18 to 152 layers."""
        with interop.open(path) as reader:
            named = remap(reader, TORCHVISION)
            model = cls(torchvision_config(named), dtype=dtype)
            # Older files do not say how many batches there were.
            counts = select(model.buffers(), r"\.num_batches_tracked$")
            return model.load_state_dict({**counts, **convert(named, dtype)})


load = ResNet.load


def torchvision_config(named):
    """The settings that the shapes of tensors of torchvision tell, by our paths."""
    pattern = re.compile(r"stages\.(\d+)\.layers\.(\d+)\.layer\.(\d)\.convolution\.weight")
    places = [tuple(map(int, found.groups())) for found in map(pattern.fullmatch, named) if found]
    if not places or "classifier.weight" not in named:
        raise ValueError("these are no weights of a residual network of torchvision")
    stages, last = range(max(places)[0] + 1), max([step for _, _, step in places])
    depths = [max([block for at, block, _ in places if at == stage]) + 1 for stage in stages]
    widths = [
        named[f"stages.{stage}.layers.0.layer.{last}.convolution.weight"].shape[0]
        for stage in stages
    ]
    inner = named["stages.0.layers.0.layer.1.convolution.weight"].shape[:2]
    if last == 2 and inner != (widths[0] // REDUCTION,) * 2:
        raise ValueError(
            f"blocks with {inner[0]} and {inner[1]} channels inside are of grouped or wide "
            "networks, which are not read here"
        )
    stem = named["embedder.convolution.weight"].shape
    return Config(
        num_channels=stem[1], embedding_size=stem[0], hidden_sizes=tuple(widths),
        depths=tuple(depths), layer_type="bottleneck" if last == 2 else "basic",
        id2label={at: f"label {at}" for at in range(named["classifier.weight"].shape[0])},
    )  # fmt: skip


def main(place=None, image=None, *, steps=20):
    if place is not None and Path(place).is_file():
        return pictures.describe(ResNet.load_torchvision(place), pictures.IMAGENET, image)
    if place is not None:
        return pictures.describe(load(place), pictures.preprocessing(place), image)
    config = Config(embedding_size=8, hidden_sizes=(16, 32), depths=(1, 1))
    with tempfile.TemporaryDirectory() as folder:
        ResNet(config).save(folder)
        model = load(folder)
    return pictures.tuned(model, steps, 24)


if __name__ == "__main__":
    with bs.device("cpu"):
        main(*sys.argv[1:])
