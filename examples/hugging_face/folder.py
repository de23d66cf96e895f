"""Folders of models as Hugging Face's libraries write them: settings, and weights by name.

Comes in: a folder with `config.json` and weights in one file or several, and what its tensors are
called here. Goes out: a model; or such a folder.
Never: a setting or a tensor passed over without a word.
"""

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import brimstone as bs
from brimstone import interop, nn
from brimstone.interop.weights import match, remap

NEUTRAL = (
    "_name_or_path", "_num_labels", "architectures", "bos_token_id", "cls_token_id", "do_sample",
    "decoder_start_token_id", "dtype", "eos_token_id", "finetuning_task", "gradient_checkpointing",
    "id2label", "initializer_range", "label2id", "max_length", "min_length", "num_beams",
    "output_attentions", "output_hidden_states", "pad_token_id", "problem_type",
    "repetition_penalty", "return_dict", "sep_token_id", "task_specific_params", "temperature",
    "top_k", "top_p", "torch_dtype", "torchscript", "transformers_version", "use_cache",
)  # fmt: skip
"""Settings that say how a model was made or is used; what it computes does not depend on them."""

Activation = Literal["gelu", "gelu_new", "gelu_pytorch_tanh", "relu", "silu", "swish", "tanh"]


def estimated_gelu(x):
    """x times about the probability that a standard normal number is below it."""
    return bs.gelu(x, approximate=True)


ACTIVATIONS = {
    "gelu": bs.gelu, "gelu_new": estimated_gelu, "gelu_pytorch_tanh": estimated_gelu,
    "relu": bs.relu, "silu": bs.silu, "swish": bs.silu, "tanh": bs.tanh,
}  # fmt: skip
"""The functions that configs name."""


@dataclass(frozen=True)
class Layout:
    """How the tensors of a kind of model are called in files, where not like their paths here.

    In files a `prefix` stands before all but the heads, whose names begin as one of `heads`.
    `names` are parts of paths, from the begin of a word on, and what they are in files; `older` are
    regular expressions found in names of older files, and what replaces them. Matrices in whose
    paths `transposed` is found lie the other way in files. Tensors in whose paths `spare` is found
    are passed over where a model has none. `neutral` are more settings that change nothing.
    """

    prefix: str
    heads: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    older: Mapping[str, str] = field(default_factory=dict)
    transposed: str = "(?!)"  # is found nowhere
    spare: str = "(?!)"
    neutral: Sequence[str] = ()

    @property
    def reading(self) -> dict[str, str]:
        """The rules from names in files to paths."""
        back = {_begins(theirs): ours for ours, theirs in self.names.items()}
        return {**self.older, f"^{re.escape(self.prefix)}": "", **back}

    @property
    def writing(self) -> dict[str, str]:
        """The rules from paths to names in files."""
        heads = "|".join(map(re.escape, self.heads)) or "(?!)"
        names = {_begins(ours): theirs for ours, theirs in self.names.items()}
        return {rf"^(?!{heads})": self.prefix, **names}

    def turned(self, path: str, tensor: Any) -> Any:
        """A tensor of a model as it lies in files, or back."""
        return tensor.T if re.search(self.transposed, path) else tensor


def _begins(part: str) -> str:
    """The regular expression of a part of a path that begins with a word of it."""
    return rf"(?<![^.]){re.escape(part)}"


class Pretrained(nn.Module):
    """A model with a folder: it is made of a `config` of the class `Config`, and a key."""

    Config: ClassVar[type]
    layout: ClassVar[Layout]
    config: Any

    @classmethod
    def load(
        cls, folder: Any, *, dtype: Any = None, partial: bool = False, follow_links: bool = False
    ) -> Self:
        """The model of a folder.

        Tensors that are missing or left over are an error, or, with `partial`, a warning that lists
        them: what is missing begins as random numbers. Hugging Face's cache consists of links.
        """
        path, ignored = Path(folder) / "config.json", (*NEUTRAL, *cls.layout.neutral)
        config = nn.load_config(cls.Config, path, ignore=ignored)
        model: Any = cls(config, key=bs.random.key(0), dtype=dtype)
        with interop.open(folder, follow_links=follow_links) as reader:
            return with_tensors(model, reader, partial)

    def save(self, folder: Any) -> None:
        """Write the model as a folder, which Hugging Face's libraries read, too."""
        place, own = Path(folder), self.state_dict()
        place.mkdir(parents=True, exist_ok=True)
        nn.save_config(place / "config.json", self.config)
        turned = {path: self.layout.turned(path, tensor) for path, tensor in own.items()}
        named = remap(turned, self.layout.writing)
        interop.safetensors.save(place / "model.safetensors", named, {"format": "pt"})


def with_tensors(model: Any, stored: Mapping[str, Any], partial: bool) -> Any:
    """The model with the tensors of a file, each read in the dtype of the one that it replaces."""
    layout, own = model.layout, model.state_dict()
    expected = {path: layout.turned(path, tensor) for path, tensor in own.items()}
    given = {
        path: each
        for path, each in remap(stored, layout.reading).items()
        if path in own or not re.search(layout.spare, path)
    }
    tensors, missing, unexpected = match(expected, given, partial=partial)
    for what, paths in (("missing", missing), ("left over", unexpected)):
        if paths:
            message = f"{type(model).__name__}: {what} ({len(paths)}): {', '.join(paths)}"
            warnings.warn(message, stacklevel=3)
    read = {path: each.read(dtype=own[path].dtype) for path, each in tensors.items()}
    turned = {path: layout.turned(path, tensor) for path, tensor in read.items()}
    return model.load_state_dict(turned, strict=False)
