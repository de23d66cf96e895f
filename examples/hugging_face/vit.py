"""A vision transformer, from a folder of Hugging Face's, says what is in an image.

    python examples/hugging_face/vit.py FOLDER IMAGE

Without arguments a small one of random numbers is saved, loaded, and learns to tell stripes apart.
"""

import sys
import tempfile
from dataclasses import dataclass, field, replace
from typing import Literal

import pictures
from folder import ACTIVATIONS, Activation, Layout, Pretrained

import brimstone as bs
from brimstone import nn


@dataclass(frozen=True)
class Config:
    """`config.json`; sizes of images and patches are a number, or a height and a width."""

    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = 3072
    hidden_act: Activation = "gelu"
    hidden_dropout_prob: float = 0.0
    attention_probs_dropout_prob: float = 0.0
    layer_norm_eps: float = 1e-12
    image_size: int | tuple[int, int] = 224
    patch_size: int | tuple[int, int] = 16
    num_channels: int = 3
    qkv_bias: bool = True
    id2label: dict[int, str] = field(default_factory=pictures.two_labels, hash=False, repr=False)
    problem_type: Literal["single_label_classification"] | None = None
    model_type: Literal["vit"] = "vit"

    def __post_init__(self):
        if 0 in self.grid(self.image):
            sizes = (*self.image, *self.patch)
            raise ValueError("an image of {} by {} has no patch of {} by {}".format(*sizes))

    @property
    def image(self):
        """The height and the width of images."""
        return pair(self.image_size)

    @property
    def patch(self):
        """The height and the width of patches."""
        return pair(self.patch_size)

    def grid(self, image):
        """How many patches an image has, one below the other and side by side."""
        return image[0] // self.patch[0], image[1] // self.patch[1]


class PatchEmbeddings(nn.Module):
    """Each patch of an image as a vector."""

    def __init__(self, config, key, dtype=None):
        self.projection = nn.Conv2d(
            config.num_channels, config.hidden_size, config.patch, config.patch, key=key,
            dtype=dtype,
        )  # fmt: skip

    def forward(self, images):
        """[N, channels, height, width] -> [N, patches, hidden_size]"""
        made = self.projection(images.astype(self.projection.weight.dtype))
        return bs.flatten(made, 2).mT


class Embeddings(nn.Module):
    """Patches behind a token that stands for the whole, with where they are in the image."""

    def __init__(self, config, key, dtype=None):
        keys, draw = bs.random.split(key, 3), nn.TruncatedNormal(std=0.02)
        rows, columns = config.grid(config.image)
        self.cls_token = draw((1, 1, config.hidden_size), keys[0], dtype)
        places = (1, 1 + rows * columns, config.hidden_size)
        self.position_embeddings = draw(places, keys[1], dtype)
        self.patch_embeddings = PatchEmbeddings(config, keys[2], dtype)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.config = config

    def forward(self, images, interpolate):
        """[N, channels, height, width] -> [N, 1 + patches, hidden_size]"""
        patches = self.patch_embeddings(images)
        token = bs.broadcast_to(self.cls_token, patches[:, :1].shape)
        places = self.positions((images.shape[2], images.shape[3]), interpolate)
        return self.dropout(bs.concat([token, patches], axis=1) + places)

    def positions(self, image, interpolate):
        """Where patches are; in images of another size, between the places that are known."""
        known, config = self.position_embeddings, self.config
        if image == config.image:
            return known
        if not interpolate:
            raise ValueError(
                "the images are of {} by {} pixels, and the model of {} by {}: with "
                "`interpolate=True` it takes others".format(*image, *config.image)
            )
        grid = config.grid(config.image)
        table = known[:, 1:].mT.reshape((1, config.hidden_size, *grid))
        table = nn.functions.interpolate(table, config.grid(image), mode="bicubic")
        return bs.concat([known[:, :1], table.reshape((1, config.hidden_size, -1)).mT], axis=1)


class Layer(nn.Module):
    """Attention between patches, then a network for each, both added to their input."""

    def __init__(self, config, key, dtype=None):
        size, keys = config.hidden_size, bs.random.split(key, 3)
        self.layernorm_before = nn.LayerNorm(size, config.layer_norm_eps, dtype=dtype)
        attention = nn.GroupedQueryAttention(
            size, config.num_attention_heads, bias=config.qkv_bias, key=keys[0], dtype=dtype,
            dropout=config.attention_probs_dropout_prob,
        )  # fmt: skip
        self.attention = attention.replace(o_proj=nn.Linear(size, size, key=keys[1], dtype=dtype))
        self.layernorm_after = nn.LayerNorm(size, config.layer_norm_eps, dtype=dtype)
        self.mlp = nn.PositionWiseFeedForward(
            size, config.intermediate_size, activation=ACTIVATIONS[config.hidden_act],
            key=keys[2], dtype=dtype,
        )  # fmt: skip
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x):
        """[N, 1 + patches, hidden_size] -> the same"""
        x = x + self.dropout(self.attention(self.layernorm_before(x)))
        return x + self.dropout(self.mlp(self.layernorm_after(x)))


class ViT(Pretrained):
    """Images in, scores of labels out."""

    Config = Config
    layout = Layout(
        "vit.",
        heads=("classifier.",),
        names={
            "layers": "encoder.layer",
            "attention.q_proj": "attention.attention.query",
            "attention.k_proj": "attention.attention.key",
            "attention.v_proj": "attention.attention.value",
            "attention.o_proj": "attention.output.dense",
            "mlp.linear1": "intermediate.dense",
            "mlp.linear2": "output.dense",
        },
        spare=r"^pooler\.|^embeddings\.mask_token$",
        neutral=("encoder_stride", "pooler_act", "pooler_output_size"),
    )

    def __init__(self, config, key=None, dtype=None):
        keys = bs.random.split(bs.random.key(0) if key is None else key, 3)
        self.embeddings = Embeddings(config, keys[0], dtype)
        of_layers = bs.random.split(keys[1], config.num_hidden_layers)
        self.layers = [Layer(config, each, dtype) for each in of_layers]
        self.layernorm = nn.LayerNorm(config.hidden_size, config.layer_norm_eps, dtype=dtype)
        labels = len(config.id2label)
        self.classifier = nn.Linear(config.hidden_size, labels, key=keys[2], dtype=dtype)
        self.config = config

    def forward(self, images, interpolate=False):
        """[N, channels, height, width] -> [N, labels]; with `interpolate` of any size."""
        x = self.embeddings(images, interpolate)
        for layer in self.layers:
            x = layer(x)
        return self.classifier(self.layernorm(x)[:, 0])

    def with_labels(self, labels, key):
        """The model with other labels, of which it knows nothing yet."""
        size, dtype = self.config.hidden_size, self.classifier.weight.dtype
        config = replace(self.config, id2label=dict(enumerate(labels)))
        head = nn.Linear(size, len(labels), key=key, dtype=dtype)
        return self.replace(classifier=head, config=config)


load = ViT.load


def pair(size):
    """A number twice, or two numbers."""
    return (size, size) if isinstance(size, int) else size


def main(folder=None, image=None, *, steps=20):
    if folder is not None:
        return pictures.describe(load(folder), pictures.preprocessing(folder), image)
    config = Config(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
        image_size=16, patch_size=4, hidden_dropout_prob=0.1,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as place:
        ViT(config).save(place)
        model = load(place)
    return pictures.tuned(model, steps, config.image_size)


if __name__ == "__main__":
    with bs.device("cpu"):
        main(*sys.argv[1:])
