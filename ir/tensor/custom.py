"""Kernels that somebody else wrote, called by name.

Comes in: tensors, and settings that the kernel understands. Goes out: tensors of the stated types.
Never: an effect; a kernel that writes into its arguments fails.
"""

from typing import Any, cast

import numpy as np

from ..attributes import Frozen
from ..builder import Builder
from ..declare import Attr, Op, Operands, Results
from ..dims import Dim, Size
from ..errors import require
from ..payloads import Array
from ..shared.named import called, check_name, read_only
from ..types import Tensor
from .base import TensorOp, Values, rebuilt
from .batching import all_batched, lane_by_lane
from .control import handed_back


class Custom(TensorOp, name="tensor.custom"):
    """`kernel(*arguments, settings)`: one array, or a tuple of them, for the stated results.

    The kernel is a function "package.module:function" of numpy arrays and a dict; sizes among the
    settings are plain integers when it is called. One that is called with the setting `batched =
    true` takes arrays with any axes more in front, the same for all, and returns such arrays.
    """

    arguments: Operands[Tensor]
    kernel: Attr[str]
    settings: Attr[Frozen] = Frozen({})
    outputs: Results[Tensor]

    fold = Op.fold  # what a kernel costs is unknown

    def check(self) -> None:
        check_name(self.kernel)

    def batching(
        self, builder: Builder, operands: Values, batched: tuple[bool, ...], size: Size
    ) -> Values:
        """One call for all lanes where the kernel takes them, else one for each."""
        if self.settings.get("batched") is not True:
            return lane_by_lane(self, builder, operands, batched, size)
        arguments = all_batched(builder, operands, batched, size)
        types = [each.type.with_shape((size, *each.type.shape)) for each in self.outputs]
        return rebuilt(self, builder, arguments, types_of_outputs=types)

    def run(self, frame: Any, *arguments: Array) -> Any:
        settings = _evaluated(frame, self.settings)
        made = called(self.kernel, *[read_only(array) for array in arguments], settings)
        arrays = cast(tuple[Any, ...], made if isinstance(made, tuple) else (made,))
        require(
            len(arrays) == len(self.outputs),
            f'"{self.kernel}" returned {len(arrays)} arrays, expected {len(self.outputs)}',
        )
        checked = [
            self._returned(array, output.dtype.storage, frame.shape(output.type.shape))
            for array, output in zip(arrays, self.outputs, strict=True)
        ]
        return handed_back(tuple(checked))

    def _returned(self, made: Any, storage: Any, shape: tuple[int, ...]) -> Array:
        """One array that the kernel returned, if it is what the op states."""
        is_array = _is_array(made)
        found = f"{made.dtype}{list(made.shape)}" if is_array else f"{made!r:.60}"
        require(
            is_array and made.shape == shape and made.dtype == storage,
            f'"{self.kernel}" returned {found}, expected {storage}{list(shape)}',
        )
        return np.asarray(made)


def _is_array(made: Any) -> bool:
    return isinstance(made, np.ndarray | np.generic)


def _evaluated(frame: Any, setting: Any) -> Any:
    """A setting as the kernel gets it: plain dicts, tuples and integers."""
    if isinstance(setting, Frozen):
        return {name: _evaluated(frame, value) for name, value in setting.items()}
    if isinstance(setting, tuple):
        return tuple([_evaluated(frame, value) for value in setting])  # pyright: ignore[reportUnknownVariableType]
    return frame.size(setting) if isinstance(setting, Dim) else setting
