"""What a region of an op takes and yields, checked with messages that name the region.

Comes in: a block and the types that its op hands over and wants back. Goes out: nothing, or the
reason why they do not fit. Values of the enclosing blocks may be read in a region without being
handed over.
Never: the meaning of the op.
"""

from collections.abc import Sequence

from ..errors import Unmet, require
from ..func import Yield
from ..types import Type
from ..values import Block


def yielded(name: str, region: Block) -> tuple[Type, ...]:
    """The types that the region `name` yields."""
    require(isinstance(region.last, Yield), f"the region {name} does not end in yield")
    return tuple([value.type for value in region.terminator.operands])


def check_takes(name: str, region: Block, expected: Sequence[Type]) -> None:
    """Refuse a region whose arguments are not of the types that its op hands over."""
    found = tuple([argument.type for argument in region.arguments])
    if found != tuple(expected):  # else the message, which takes long, would be for nobody
        raise Unmet(f"the region {name} takes {listed(found)}, expected {listed(expected)}")


def check_yields(name: str, region: Block, expected: Sequence[Type]) -> None:
    """Refuse a region that yields other types than its op wants back."""
    found = yielded(name, region)
    if found != tuple(expected):
        raise Unmet(f"the region {name} yields {listed(found)}, expected {listed(expected)}")


def check_pure(name: str, region: Block) -> None:
    """Refuse a region that does more than make values; its op might be merged or dropped."""
    for op in region:
        require(op.pure or op.terminator, f"the region {name} holds {op.name}, which is not pure")


def listed(types: Sequence[Type]) -> str:
    """`(tensor<[4], f32>, …)`"""
    return f"({', '.join(type_.text for type_ in types)})"
