"""Keys of random numbers: made of seeds, and made of other keys.

Comes in: seeds, keys, numbers. Goes out: keys: tensors of two words, uint32.
Never: state, but for a key of None, which takes the next of the default generator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ...runtime.device import current_device
from ..errors import DTypeError, fail
from ..generator import DEFAULT, KEY, Generator, words_of
from ..generator import fold_in as folded
from ..handle import wrap
from ..node import leaf, record
from .common import as_node, as_shape, cast_node, filled
from .creation import as_device
from .draws import as_key
from .manipulation import reshaped

if TYPE_CHECKING:
    from ..tensor import Tensor

# Where the words of new keys stand in a key's stream: no sample reaches so far.
SPLIT_OFFSET = 1 << 62


def key(seed: Any, *, device: Any = None) -> Tensor:
    """The key of a seed: an integer, of which the low 64 bits count, or a tensor of one."""
    if isinstance(seed, int):
        place = as_device(device, "key") or current_device()
        return wrap(leaf(place.target.upload(words_of(seed)), KEY, place))
    node = as_node(seed, "key")
    if node.type.dtype not in ir.INTEGERS or node.type.shape:
        fail(DTypeError, "key", "a seed is one integer", seed)
    wide = cast_node(node, ir.u64)
    halves = [wide, record(ops.ShiftRight, (wide, filled(32, (), ir.u64)))]
    parts = [reshaped(cast_node(each, ir.u32), (1,)) for each in halves]
    return wrap(record(ops.Concat, tuple(parts), (0,)))


def split(key: Any = None, num: Any = 2) -> Tensor:
    """`num` independent keys (or a shape of them) as rows; do not use `key` itself after."""
    shape = as_shape(num, "split")
    return wrap(record(ops.RandomBits, (as_key(key, "split"),), ((*shape, 2), SPLIT_OFFSET)))


def fold_in(key: Any, data: Any) -> Tensor:
    """Another key for each integer: a step's number, an element's place."""
    node = as_node(data, "fold_in")
    if node.type.dtype not in ir.INTEGERS or node.type.shape:
        fail(DTypeError, "fold_in", "one integer is folded in", data)
    return wrap(folded(as_key(key, "fold_in"), node))


def manual_seed(seed: int) -> Generator:
    """Begin the default generator again, from another seed."""
    return DEFAULT.manual_seed(seed)
