"""Empty arrays that tell kernels a size.

Comes in: the symbol of a size that no other array has which a kernel is handed. Goes out: the type
of an array that has it, and no elements.
Never: memory.
"""

from ..ir.dims import Symbol
from ..ir.dtypes import boolean
from ..ir.types import Tensor


def witness(symbol: Symbol) -> Tensor:
    """An array that tells a size; of bytes, of which any number can be said."""
    return Tensor((symbol, 0), boolean)


def is_witness(type_: Tensor) -> bool:
    """Whether an array only tells a size."""
    return type_.dtype is boolean and type_.shape[1:] == (0,)
