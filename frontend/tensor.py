"""The tensor: an array whose operations are recorded, compiled and run when a value is needed.

Comes in: nodes. Goes out: what Python and other libraries expect of an array; the functions that
are methods too come from `methods.py`.
Never: memory that somebody else can change. `x[place] = value` lets this handle stand for a new
tensor; whoever holds the old one by another name keeps it.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod as product
from types import ModuleType
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from ..ir import dtypes as ir
from ..runtime.device import Device, current_device
from .dtypes import OF_IR, DType
from .elsewhere import OF_TENSORS, tell
from .errors import DTypeError, ShapeError, fail
from .force import buffer_of, contents_of, force, number_of, value_of, wait_for
from .handle import Handle, wrap
from .methods import Methods
from .node import Leaf, Node, leaf
from .pending import remember
from .sizes import visible
from .trace import apart, refuse_outside, refuse_value

if TYPE_CHECKING:
    from .backward import Gradients

HostArray = np.ndarray[Any, Any]


class Tensor(Methods, Handle):
    """An array of any number of axes, of one dtype, on one device."""

    __slots__ = ()
    __array_priority__ = 1000
    __hash__ = object.__hash__  # pyright: ignore[reportAssignmentType]

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes."""
        node = self.node
        shape = node.type.shape
        if node.trace is None or node.trace.unseen is None:
            return shape
        return visible(shape, node.trace.unseen, node.trace.ended)

    @property
    def dtype(self) -> DType:
        """The element type."""
        return OF_IR[self.node.type.dtype]

    @property
    def ndim(self) -> int:
        """How many axes."""
        return len(self.node.type.shape)

    @property
    def size(self) -> int:
        """How many elements."""
        return product(self.shape)

    @property
    def itemsize(self) -> int:
        """The bytes of one element."""
        return self.node.type.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self.size * self.itemsize

    @property
    def device(self) -> Device:
        """Where the tensor lives."""
        return self.node.device or current_device()

    @property
    def requires_grad(self) -> bool:
        """Whether what is computed from the tensor keeps a history."""
        return self.node.tracked

    def detach(self) -> Tensor:
        """Another tensor of the same value and memory, through which no gradient flows; to donate
        one leaves the other."""
        from .grad import stop_gradient

        if self.node.trace is not None:
            return stop_gradient(self)
        return wrap(self._kept(False, "detach"))

    def requires_grad_(self, wanted: bool = True) -> Tensor:
        """This handle, standing for a parameter: its value, with gradients asked for or not."""
        if wanted and self.node.type.dtype not in ir.INEXACT:
            fail(
                DTypeError, "requires_grad_", "only floats and complex numbers have gradients", self
            )
        self.node = self._kept(wanted, "requires_grad_")
        return self

    def _kept(self, tracked: bool, asked: str) -> Node:
        """A leaf of its own with this tensor's memory, which may be donated apart."""
        node = self.node
        if node.trace is not None:
            refuse_value(node, asked)
        force(node)
        assert node.device is not None
        kept = node.device.target.keep(buffer_of(node))
        return leaf(kept, node.type, node.device, tracked, node.location)

    def backward(self, gradient: Any = None) -> Gradients:
        """Gradients with respect to the parameters that this tensor depends on."""
        from .backward import backward

        return backward(self, gradient)

    def sync(self) -> Tensor:
        """This tensor, computed."""
        if self.node.trace is None:
            wait_for(self.node)
        return self

    def numpy(self) -> HostArray:
        """The value as a numpy array that shares the tensor's memory and cannot be written."""
        return host_array(self, "numpy")

    def item(self) -> Any:
        """The only element, as a Python number."""
        return self._one("item")

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers."""
        return host_array(self, "tolist").tolist()

    def _one(self, asked: str) -> Any:
        """The only element, as a Python number."""
        node = self.node
        if node.type.shape and self.size != 1:
            fail(
                ShapeError, asked, "the tensor has not one element", self,
                hint="index it, or reduce it with `.sum()`, `.any()` or `.all()`",
            )  # fmt: skip
        if node.trace is not None:
            refuse_value(node, asked)
        return value_of(node) if node.buffer is None else number_of(node)

    def __bool__(self) -> bool:
        return bool(self._one("bool"))

    def __int__(self) -> int:
        return int(self._real("int"))

    def __float__(self) -> float:
        return float(self._real("float"))

    def __complex__(self) -> complex:
        return complex(self._one("complex"))

    def __index__(self) -> int:
        if self.node.type.dtype not in ir.INTEGERS:
            fail(DTypeError, "index", "only an integer is an index", self)
        return int(self._one("index"))

    def _real(self, asked: str) -> Any:
        if self.node.type.dtype in ir.COMPLEXES:
            problem = f"a complex number is no {asked}"
            fail(DTypeError, asked, problem, self, hint="take `.real` or `.abs()` first")
        return self._one(asked)

    def __len__(self) -> int:
        if not self.node.type.shape:
            fail(DTypeError, "len", "a tensor of rank 0 has no length", self)
        size: Any = self.shape[0]
        if not isinstance(size, int):
            problem = f"the size {size} is not a plain number here"
            fail(ShapeError, "len", problem, self, hint="compute with `x.shape[0]`")
        return size

    def __iter__(self) -> Iterator[Tensor]:
        if not self.node.type.shape:
            fail(DTypeError, "iter", "a tensor of rank 0 cannot be iterated over", self)
        return (self[place] for place in range(len(self)))

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())

    def __setitem__(self, place: Any, value: Any) -> None:
        made = self.at[place].set(value).node
        refuse_outside(self.node, made)
        self.node = made
        if self.pending and self.node.trace is None:
            remember(ref(self))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> HostArray:
        array = host_array(self, "numpy.asarray")
        if dtype is not None and np.dtype(dtype) != array.dtype:
            if copy is False:
                raise ValueError(f"a tensor of {self.dtype} cannot be seen as {dtype} uncopied")
            return array.astype(dtype)
        return array.copy() if copy else array

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *given: Any, **named: Any) -> Any:
        from .ufuncs import call

        return call(ufunc, method, given, named)

    def __array_namespace__(self, /, *, api_version: str | None = None) -> ModuleType:
        from .namespace import namespace

        return namespace(api_version)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        from .exchange import export

        return export(self, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        from .exchange import dlpack_device

        return dlpack_device(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return wrap, (_computed(self, "pickle"),)

    def __copy__(self) -> Tensor:
        return wrap(apart(self.node))

    def __deepcopy__(self, memo: Any) -> Tensor:
        if self.requires_grad and self.node.cls is Leaf:
            return wrap(self.node).requires_grad_()
        return wrap(apart(self.node))

    def __repr__(self) -> str:
        from .display import text

        return text(self)

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if spec else str(self)

    def _repr_html_(self) -> str:
        from .display import html

        return html(self)


tell(Tensor, OF_TENSORS)


def host_array(tensor: Handle, asked: str) -> HostArray:
    """The value on the host; `asked` names who wants it, for the error inside a trace."""
    return contents_of(_computed(tensor, asked))


def _computed(tensor: Handle, asked: str) -> Node:
    """The node of a tensor, with its buffer."""
    node = tensor.node
    if node.trace is not None:
        refuse_value(node, asked)
    if node.buffer is None:
        force(node)
    return node
