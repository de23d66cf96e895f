"""Borders around images: zeros, a number, or what the images themselves continue with.

Comes in: how many elements are added before and behind each axis of space; as in PyTorch one number
for all, or pairs one after the other, those of the last axis first. Goes out: modules.
Never: a parameter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ...frontend.errors import ArgumentError, fail
from ...frontend.functions.common import as_integer
from ...frontend.functions.padding import pad
from ...frontend.tensor import Tensor
from ..functions.common import check_space
from ..module import Module


class _Pad(Module):
    """Elements added at the ends of axes of space, in one of the modes of `bs.pad`."""

    space: ClassVar[int]
    mode: ClassVar[str] = "constant"
    value: float = 0.0

    def __init__(self, padding: int | Sequence[int]) -> None:
        name = type(self).__name__
        listed = padding if isinstance(padding, Sequence) else [padding] * (2 * self.space)
        if len(listed) != 2 * self.space:
            problem = f"takes one number, or {2 * self.space}, but {list(listed)} were given"
            fail(ArgumentError, name, problem)
        numbers = [as_integer(each, name, "`padding`") for each in listed]
        self.widths = tuple(zip(numbers[::2], numbers[1::2], strict=True))[::-1]

    def forward(self, x: Tensor) -> Tensor:
        """[N, C, space…] -> [N, C, larger space…]"""
        check_space(type(self).__name__, x, self.space)
        return pad(x, ((0, 0), (0, 0), *self.widths), self.mode, self.value)


class ZeroPad1d(_Pad):
    """Zeros around lines [N, C, length]."""

    space = 1


class ZeroPad2d(_Pad):
    """Zeros around images [N, C, height, width]."""

    space = 2


class ZeroPad3d(_Pad):
    """Zeros around volumes [N, C, depth, height, width]."""

    space = 3


class _ConstantPad(_Pad):
    def __init__(self, padding: int | Sequence[int], value: float) -> None:
        super().__init__(padding)
        self.value = value


class ConstantPad1d(_ConstantPad):
    """Copies of `value` around lines [N, C, length]."""

    space = 1


class ConstantPad2d(_ConstantPad):
    """Copies of `value` around images [N, C, height, width]."""

    space = 2


class ConstantPad3d(_ConstantPad):
    """Copies of `value` around volumes [N, C, depth, height, width]."""

    space = 3


class _ReflectionPad(_Pad):
    mode = "reflect"


class ReflectionPad1d(_ReflectionPad):
    """What a mirror at their ends shows around lines [N, C, length]."""

    space = 1


class ReflectionPad2d(_ReflectionPad):
    """What a mirror at their ends shows around images [N, C, height, width]."""

    space = 2


class ReflectionPad3d(_ReflectionPad):
    """What a mirror at their ends shows around volumes [N, C, depth, height, width]."""

    space = 3


class _ReplicationPad(_Pad):
    mode = "edge"


class ReplicationPad1d(_ReplicationPad):
    """Their outermost elements around lines [N, C, length]."""

    space = 1


class ReplicationPad2d(_ReplicationPad):
    """Their outermost elements around images [N, C, height, width]."""

    space = 2


class ReplicationPad3d(_ReplicationPad):
    """Their outermost elements around volumes [N, C, depth, height, width]."""

    space = 3


class _CircularPad(_Pad):
    mode = "circular"


class CircularPad1d(_CircularPad):
    """What stands at their other ends around lines [N, C, length]."""

    space = 1


class CircularPad2d(_CircularPad):
    """What stands at their other ends around images [N, C, height, width]."""

    space = 2


class CircularPad3d(_CircularPad):
    """What stands at their other ends around volumes [N, C, depth, height, width]."""

    space = 3
