"""A residual network of PyTorch's modules, under the names of torchvision's checkpoints.

Comes in: how many channels and blocks there are. Goes out: a module whose `state_dict` has the
names that `resnet18` to `resnet152` of torchvision have.
Never: torchvision, which need not be installed.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from torch import nn  # pyright: ignore[reportMissingImports]


class Block(nn.Module):
    """Two convolutions of 3 by 3, or one between two of 1 by 1 that leave a quarter inside."""

    def __init__(self, inputs: int, outputs: int, stride: int, bottleneck: bool) -> None:
        super().__init__()
        inner = outputs // 4
        narrow = [(1, inputs, inner, 1), (3, inner, inner, stride), (1, inner, outputs, 1)]
        plain = [(3, inputs, outputs, stride), (3, outputs, outputs, 1)]
        self.steps = narrow if bottleneck else plain
        for at, (window, before, behind, by) in enumerate(self.steps, 1):
            made = nn.Conv2d(before, behind, window, by, window // 2, bias=False)
            setattr(self, f"conv{at}", made)
            setattr(self, f"bn{at}", nn.BatchNorm2d(behind))
        self.relu = nn.ReLU()
        self.downsample = None
        if stride != 1 or inputs != outputs:
            beside = nn.Conv2d(inputs, outputs, 1, stride, bias=False)
            self.downsample = nn.Sequential(beside, nn.BatchNorm2d(outputs))

    def forward(self, x: Any) -> Any:
        made = x
        for at in range(1, len(self.steps) + 1):
            made = getattr(self, f"bn{at}")(getattr(self, f"conv{at}")(made))
            made = made if at == len(self.steps) else self.relu(made)
        return self.relu(made + (x if self.downsample is None else self.downsample(x)))


def network(
    stem: int, widths: Sequence[int], depths: Sequence[int], bottleneck: bool, labels: int
) -> Any:
    """A stem, stages and a head."""
    parts: dict[str, Any] = {
        "conv1": nn.Conv2d(3, stem, 7, 2, 3, bias=False), "bn1": nn.BatchNorm2d(stem),
        "relu": nn.ReLU(), "maxpool": nn.MaxPool2d(3, 2, 1),
    }  # fmt: skip
    before = stem
    for at, (width, depth) in enumerate(zip(widths, depths, strict=True), 1):
        first = Block(before, width, 1 if at == 1 else 2, bottleneck)
        others = [Block(width, width, 1, bottleneck) for _ in range(depth - 1)]
        parts[f"layer{at}"], before = nn.Sequential(first, *others), width
    parts |= {"avgpool": nn.AdaptiveAvgPool2d(1), "flatten": nn.Flatten()}
    return nn.Sequential(OrderedDict(parts | {"fc": nn.Linear(before, labels)}))
