"""Puts funcs in the place of their calls.

Comes in: a func, and the module whose funcs it calls. Goes out: a func that calls none; an op of a
callee stands for its own line and for that of the call.
Never: a change to what is copied. There is always an end, since no func calls itself.
"""

from ..ir import tensor
from ..ir.builder import Builder
from ..ir.dims import Size, substitute
from ..ir.func import Func, Module
from ..ir.shared.signature import match
from ..ir.values import Block, replace
from .copying import copy_func, inline


def inlined(func: Func, module: Module) -> Func:
    """A copy of `func`, at any depth without `tensor.call`."""
    copy = copy_func(func)
    pending: list[Block] = [copy.body]
    while pending:
        block = pending.pop()
        op = block.first
        while op is not None:
            before = op.previous
            if isinstance(op, tensor.Call):
                _inline(op, module)
                # What has come in its place may be calls as well.
                op = block.first if before is None else before.next
                continue
            pending += op.regions
            op = op.next
    return copy


def _inline(call: tensor.Call, module: Module) -> None:
    """Replace a call by the ops of its callee, at the sizes of the call."""
    assert call.block is not None
    callee = module[call.callee]
    arguments, outputs = call.arguments, call.outputs
    sizes = match(callee, [each.type for each in arguments], [each.type for each in outputs])

    def resize(size: Size) -> Size:
        return substitute(size, sizes)

    body = copy_func(callee, resize).body if sizes else callee.body
    made = inline(body, arguments, Builder(call.block, call, call.location))
    for old, new in zip(outputs, made, strict=True):
        new.name = new.name or old.name
        replace(old, new)
    call.detach()
