"""Random numbers for those who want no keys: they come from a generator, the default one if not.

Comes in: sizes one by one or as a shape, parameters, `generator=`, `dtype=`, `device=`. Goes out:
tensors. What each distribution is, the functions with keys say: `bs.random`.
Never: a distribution of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from ...ir import dtypes as ir
from ..errors import ArgumentError, ShapeError, fail
from ..generator import Generator
from ..handle import Handle, wrap
from ..unseen import looked_at
from . import sampling
from .choices import categorical, permutation, without_replacement
from .common import as_ir_dtype, as_node, as_size, cast_node, promote
from .creation import as_device
from .draws import as_key
from .elementwise import log
from .manipulation import moveaxis

if TYPE_CHECKING:
    from ..tensor import Tensor


def rand(
    *shape: Any, generator: Generator | None = None, dtype: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Evenly distributed in [0, 1)."""
    made = _on(device, "rand", sampling.uniform, generator, _sizes(shape), dtype)
    return made.requires_grad_() if requires_grad else made


def randn(
    *shape: Any, generator: Generator | None = None, dtype: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Normally distributed with mean 0 and variance 1."""
    made = _on(device, "randn", sampling.normal, generator, _sizes(shape), dtype)
    return made.requires_grad_() if requires_grad else made


def rand_like(x: Any, /, *, generator: Generator | None = None, dtype: Any = None) -> Tensor:
    """Evenly distributed in [0, 1), in the shape and dtype of x."""
    node = as_node(x, "rand_like")
    kind = as_ir_dtype(dtype, node.type.dtype)
    return _on(node.device, "rand_like", sampling.uniform, generator, node.type.shape, kind)


def randn_like(x: Any, /, *, generator: Generator | None = None, dtype: Any = None) -> Tensor:
    """Normally distributed with mean 0 and variance 1, in the shape and dtype of x."""
    node = as_node(x, "randn_like")
    kind = as_ir_dtype(dtype, node.type.dtype)
    return _on(node.device, "randn_like", sampling.normal, generator, node.type.shape, kind)


def randint(
    low: Any, high: Any = None, size: Any = (), *, generator: Generator | None = None,
    dtype: Any = None, device: Any = None,
) -> Tensor:  # fmt: skip
    """Integers from `low` up to, but without, `high`; with one number, from 0 up to it.

    As there, `randint(high, size)` is understood too.
    """
    if isinstance(high, tuple | list):
        low, high, size = 0, low, high
    if high is None:
        low, high = 0, low
    return _on(device, "randint", sampling.randint, generator, size, low, high, dtype)


def randperm(n: Any, *, generator: Generator | None = None, device: Any = None) -> Tensor:
    """The integers from 0 to n - 1 in random order."""
    return _on(device, "randperm", permutation, generator, n)


def normal(
    mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, generator: Generator | None = None,
    dtype: Any = None, device: Any = None,
) -> Tensor:  # fmt: skip
    """Normally distributed with this mean and standard deviation, which may be tensors."""
    place = device or _device_of(mean, std)
    drawn = sampling.normal
    return _on(place, "normal", drawn, generator, size, dtype, mean=mean, std=std)


def bernoulli(p: Any, /, *, generator: Generator | None = None, dtype: Any = None) -> Tensor:
    """1 with probability p, else 0, in the shape and dtype of p."""
    made = _on(_device_of(p), "bernoulli", sampling.bernoulli, generator, p)
    return made.astype(as_ir_dtype(dtype, as_node(p, "bernoulli").type.dtype))


def multinomial(
    weights: Any, num_samples: int, replacement: bool = False, *,
    generator: Generator | None = None,
) -> Tensor:  # fmt: skip
    """Places along the last axis of the weights, each as likely as its share of their sum."""
    (node,) = promote("multinomial", weights, among=ir.FLOATS, floats=True)
    if not node.type.shape:
        fail(ShapeError, "multinomial", "the weights have an axis", weights)
    logits = log(wrap(cast_node(node, node.type.dtype.accumulator)))
    count = as_size(num_samples, "multinomial")
    if replacement:
        sizes = (count, *node.type.shape[:-1])
        drawn = _on(node.device, "multinomial", categorical, generator, logits, None, sizes)
        return moveaxis(drawn, 0, -1)
    total = looked_at(node.type.shape[-1])
    if isinstance(total, int) and isinstance(count, int) and count > total:
        fail(ArgumentError, "multinomial", f"cannot draw {count} of {total}", weights)
    with node.device or nullcontext():
        return without_replacement(as_key(generator, "multinomial"), logits, count)


def _sizes(shape: tuple[Any, ...]) -> Any:
    """A shape given as one tuple, or size by size."""
    return shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape


def _device_of(*values: Any) -> Any:
    """The device of the first tensor that has one."""
    nodes = [value.node for value in values if isinstance(value, Handle)]
    return next((node.device for node in nodes if node.device is not None), None)


def _on(
    device: Any, name: str, distribution: Callable[..., Tensor], generator: Any, *args: Any,
    **options: Any,
) -> Tensor:  # fmt: skip
    """A sample whose key is drawn on a device."""
    with as_device(device, name) or nullcontext():
        return distribution(generator, *args, **options)
