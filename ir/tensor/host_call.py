"""Functions of Python that a program calls by name.

Comes in: tensors. Goes out: tensors of the stated types.
Never: an effect that anybody may count on: a call whose results nobody reads may not be made, and
one that failed may be made again.
"""

from typing import Any

import numpy as np

from ..builder import Builder
from ..declare import Attr, Op, Operands, Results
from ..dims import Size
from ..errors import require
from ..payloads import Array
from ..shared.named import Name, arrays_from, check_name, read_only
from ..types import Tensor
from .base import TensorOp, Values
from .batching import lane_by_lane
from .control import handed_back


class HostCall(TensorOp, name="tensor.host_call"):
    """`function(*arguments)`, a function "package.module:function" of numpy arrays, which returns
    one, or a tuple of them, for the stated results."""

    arguments: Operands[Tensor]
    function: Attr[Name]
    outputs: Results[Tensor]

    fold = Op.fold  # what the function costs is unknown

    def check(self) -> None:
        check_name(self.function)
        require(self.outputs, "a call has results")

    def batching(
        self, builder: Builder, operands: Values, batched: tuple[bool, ...], size: Size
    ) -> Values:
        """One call for each lane."""
        return lane_by_lane(self, builder, operands, batched, size)

    def run(self, frame: Any, *arguments: Array) -> Any:
        forms = [(frame.shape(each.type.shape), each.dtype.storage) for each in self.outputs]
        given = [read_only(np.asarray(array, order="C")) for array in arguments]
        made = arrays_from(self.function, forms, *given)
        return handed_back(tuple([np.array(array) for array in made]))  # whose own others keep
