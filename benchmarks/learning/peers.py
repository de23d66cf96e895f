"""The models in PyTorch, as people write them there, with our names of parameters.

Comes in: sizes. Goes out: modules.
Never: an import where PyTorch is not installed; who wants a peer imports this.
"""

from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any

torch: Any = import_module("torch")
nn, functional = torch.nn, torch.nn.functional


class Attention(nn.Module):
    """Causal attention of several heads."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.in_proj_weight = nn.Parameter(torch.empty(3 * width, width))
        self.in_proj_bias = nn.Parameter(torch.empty(3 * width))
        self.out_proj = nn.Linear(width, width)

    def forward(self, x: Any) -> Any:
        batch, length, width = x.shape
        parts = functional.linear(x, self.in_proj_weight, self.in_proj_bias).split(width, -1)
        split = [part.view(batch, length, self.heads, -1).transpose(1, 2) for part in parts]
        made = functional.scaled_dot_product_attention(*split, is_causal=True)
        return self.out_proj(made.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    """Attention, and a network for each position."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.self_attn = Attention(width, heads)
        self.linear1, self.linear2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x: Any) -> Any:
        x = x + self.self_attn(self.norm1(x))
        return x + self.linear2(functional.gelu(self.linear1(self.norm2(x))))


class Blocks(nn.Module):
    """Blocks one above the other, and a norm."""

    def __init__(self, width: int, heads: int, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)


class GPT(nn.Module):
    """Letters in, scores of the next letter out."""

    def __init__(self, letters: int, length: int, width: int, heads: int, layers: int) -> None:
        super().__init__()
        self.letters = nn.Embedding(letters, width)
        self.places = nn.Embedding(length, width)
        self.blocks = Blocks(width, heads, layers)
        self.head = nn.Linear(width, letters, bias=False)

    def forward(self, text: Any) -> Any:
        hidden = self.letters(text) + self.places.weight[: text.shape[1]]
        return self.head(self.blocks(hidden))


def digits(first: int, second: int, hidden: int) -> Any:
    """Images in, scores of digits out."""
    return nn.Sequential(
        nn.Conv2d(1, first, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(first, second, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(second * 4 * 4, hidden),
        nn.ReLU(),
        nn.Linear(hidden, 10),
    )


def mlp(layers: Sequence[int]) -> Any:
    """Images in, scores of classes out."""
    modules = [each for sizes in pairwise(layers) for each in (nn.Linear(*sizes), nn.ReLU())]
    return nn.Sequential(*modules[:-1])
