"""`bs.kernel`: kernels as functions of tensors.

Comes in: a function of views and settings. Goes out: a function of tensors and the same settings;
a call records one operation.
Never: a trace for each size: one serves all tensors of the same ranks and dtypes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import update_wrapper
from inspect import Parameter, Signature, signature
from typing import Any

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ...ir.dims import DimError
from ...ir.errors import Unmet
from ...ir.printer import print_func
from ...ir.shared.cache import Cache
from ...ir.tile.written import KERNEL, bind, check_shapes, shape_of
from ...ir.types import Tensor as TensorType
from ..custom import custom_vjp
from ..errors import ArgumentError, ShapeError, expect_functions, fail
from ..functions.common import as_node, refuse_dtype
from ..handle import wrap
from ..node import Node, record_parts
from ..unseen import looked_at
from .trace import Program, Tensors, traced

Gradient = Callable[..., Any]
_PROGRAMS_AT_MOST = 256


class Kernel:
    """A kernel: called with tensors, and with settings by name, it returns its results."""

    def __init__(self, function: Callable[..., Any], gradient: Gradient | None) -> None:
        expect_functions("kernel", function, *([gradient] if gradient else []))
        update_wrapper(self, function)
        self.function, self.gradient = function, gradient
        self.name = re.sub(r"\W+", "_", function.__name__, flags=re.ASCII).strip("_") or "kernel"
        self.signature = signature(function)
        self.inputs = _inputs(self.name, self.signature)
        self._programs: Cache[Any, Program] = Cache(_PROGRAMS_AT_MOST)

    def __call__(self, *args: Any, **settings: Any) -> Any:
        try:
            bound = self.signature.bind(*args, **settings)
        except TypeError as problem:
            fail(ArgumentError, self.name, str(problem), hint=f"it is {self.name}{self.signature}")
        bound.apply_defaults()
        given = bound.arguments
        tensors = [wrap(as_node(given[name], self.name)) for name in self.inputs]
        chosen = {name: value for name, value in given.items() if name not in self.inputs}
        if self.gradient is None:
            return self._record(tensors, chosen)
        return self._differentiable(chosen)(*tensors)

    def program(self, *args: Any, **settings: Any) -> str:
        """The kernel for such arguments, as text of the tile floor."""
        bound = self.signature.bind(*args, **settings)
        bound.apply_defaults()
        given = bound.arguments
        nodes = [as_node(given[name], self.name) for name in self.inputs]
        chosen = {name: value for name, value in given.items() if name not in self.inputs}
        return print_func(self._program(nodes, chosen).func)

    def _record(self, tensors: Any, settings: Mapping[str, Any]) -> Any:
        """The results, recorded as one operation."""
        nodes = [tensor.node for tensor in tensors]
        program = self._program(nodes, settings)
        shapes = looked_at(tuple([node.type.shape for node in nodes]))
        try:
            sizes = bind(program.func, shapes)
            check_shapes(program.func, shapes, sizes)
            results = program.func.arguments[len(nodes) :]
            types = [TensorType(shape_of(each, sizes), each.dtype) for each in results]
        except (Unmet, DimError, ValueError) as problem:
            fail(ShapeError, self.name, str(problem), *tensors)
        attributes = (KERNEL, program.settings)
        parts = record_parts(ops.Custom, tuple(nodes), attributes, types=tuple(types))
        made = [wrap(part) for part in parts]
        return made[0] if len(made) == 1 else tuple(made)

    def _program(self, nodes: list[Node], settings: Mapping[str, Any]) -> Program:
        """The kernel for tensors of these ranks and dtypes."""
        inputs = tuple(
            [
                Tensors(name, len(node.type.shape), node.type.dtype)
                for name, node in zip(self.inputs, nodes, strict=True)
            ]
        )
        key = inputs, tuple((name, value.__class__, value) for name, value in settings.items())
        try:
            found = self._programs.get(key)
        except TypeError as problem:
            hint = "a setting is a number, a string, a dtype, a function or a tuple of such"
            fail(ArgumentError, self.name, f"a setting is {problem}", hint=hint)
        if found is None:
            for each in inputs:
                if each.dtype in ir.COMPLEXES:
                    refuse_dtype(self.name, each.dtype, ir.ALL - ir.COMPLEXES)
            found = self._programs.put(key, traced(self.name, self.function, inputs, settings))
        return found

    def _differentiable(self, settings: Mapping[str, Any]) -> custom_vjp:
        """The call, with the derivative that the user gave."""
        gradient = self.gradient
        assert gradient is not None
        named = signature(gradient).parameters
        wanted = {name: value for name, value in settings.items() if name in named}

        def call(*tensors: Any) -> Any:
            return self._record(tensors, settings)

        def forward(*tensors: Any) -> Any:
            outputs = call(*tensors)
            return outputs, (tensors, outputs)

        def backward(residuals: Any, cotangents: Any) -> Any:
            return gradient(*residuals, cotangents, **wanted)

        return custom_vjp(call).define(forward, backward)


def kernel(function: Any = None, *, gradient: Gradient | None = None) -> Any:
    """Make a kernel of a function that is written with `bs.tiles`.

    Its positional arguments are tensors, which it sees as views (those of rank 0 as numbers); the
    arguments after `*` are settings. `gradient(inputs, outputs, cotangents)` returns a cotangent
    for each input, or None; it also gets those settings that it has arguments for.
    """
    if function is None:
        return lambda function: Kernel(function, gradient)
    return Kernel(function, gradient)


def _inputs(name: str, given: Signature) -> tuple[str, ...]:
    """The names of the tensors among the arguments."""
    found: list[str] = []
    for each in given.parameters.values():
        if each.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
            fail(ArgumentError, name, f"a kernel names each of its arguments, but *{each.name}")
        if each.kind is Parameter.KEYWORD_ONLY:
            continue
        if each.default is not Parameter.empty:
            problem = f"the tensor {each.name} has a default"
            fail(ArgumentError, name, problem, hint="put `*,` before the settings")
        if not each.name.isascii():
            fail(ArgumentError, name, f"the name {each.name} is not written in ASCII")
        found.append(each.name)
    return tuple(found)
