"""How rewrites use what is known: the rewriter that they ask, and one walk that applies them.

Comes in: a func and what is known of its values. Goes out: the func, each op of which was looked at
once, in program order, so that an op sees its operands as they have become.
Never: a search for a fixed point; what a rewrite makes possible elsewhere is for `simplify`.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from ...ir.declare import Op as DeclaredOp
from ...ir.func import Func
from ...ir.rewriter import Rewrite, Rewriter, Rules, rewrite
from ...ir.values import AnyValue, Op, replace
from ..context import Context
from .known import Known

Inferred = TypeVar("Inferred", bound=DeclaredOp)


class Knowing(Rewriter):
    """A rewriter that also says what is known of a value."""

    __slots__ = ("known",)

    def __init__(self, func: Func, known: Known) -> None:
        super().__init__(func.body)
        self.known = known

    def stand_before(self, op: Op) -> None:
        """Build from now on before an op, at its lines."""
        assert op.block is not None
        self.move_to(op.block, op)
        self.location = op.location


def inference(
    *classes: type[Inferred],
) -> Callable[[Callable[[Inferred, Knowing], AnyValue | None]], Rewrite]:
    """As `rewrite`, for a function that asks a `Knowing` rewriter, so that only `use` applies it.

    It builds nothing unless it returns a replacement of the op's only result.
    """
    return cast(Any, rewrite(*classes))


def use(rules: Rules, func: Func, known: Known, context: Context) -> None:
    """Apply the first rule that fits to each op."""
    rewriter = Knowing(func, known)
    for op in list(func.walk()):
        if context.spent:
            return
        if op.block is not None and not op.unused:
            _rewrite(op, rules, rewriter, context)


def _rewrite(op: Op, rules: Rules, rewriter: Knowing, context: Context) -> None:
    for rule in rules.rewrites:
        if not isinstance(op, rule.classes):
            continue
        rewriter.stand_before(op)
        made = rule.function(op, rewriter)
        if made is None or not context.allow(rule.name, op):
            continue
        (result,) = op.results
        assert made.type is result.type, f"{rule.name} makes {made.type} of {result.type}"
        made.name = made.name or result.name
        replace(result, made)
        op.detach()
        return
