"""Kernels that somebody else wrote, called by name.

Comes in: tensors, and settings that the kernel understands. Goes out: tensors of the stated types.
Never: an effect; a kernel that writes into its arguments fails.
"""

from typing import Any

from ..attributes import Frozen
from ..builder import Builder
from ..declare import Attr, Op, Operands, Results
from ..dims import Dim, Size
from ..payloads import Array
from ..shared.named import arrays_from, check_name, read_only
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
        forms = [(frame.shape(each.type.shape), each.dtype.storage) for each in self.outputs]
        given = [read_only(array) for array in arguments]
        return handed_back(arrays_from(self.kernel, forms, *given, settings))


def _evaluated(frame: Any, setting: Any) -> Any:
    """A setting as the kernel gets it: plain dicts, tuples and integers."""
    if isinstance(setting, Frozen):
        return {name: _evaluated(frame, value) for name, value in setting.items()}
    if isinstance(setting, tuple):
        return tuple([_evaluated(frame, value) for value in setting])  # pyright: ignore[reportUnknownVariableType]
    return frame.size(setting) if isinstance(setting, Dim) else setting
