"""Recipes for ops with regions, for calls, and for what runs outside the program."""

from collections.abc import Sequence
from typing import Any

from brimstone.ir import dtypes, tensor
from brimstone.ir.declare import Op
from brimstone.ir.dims import Size
from brimstone.ir.dtypes import INEXACT, NUMBERS, ORDERED
from brimstone.ir.func import Func, Return, Yield
from brimstone.ir.tensor import collectives, control, custom, host_call, linear
from brimstone.ir.types import Tensor
from brimstone.ir.values import AnyValue, Block
from kit.draft import DEEPEST, MOST_ELEMENTS, Draft, Unsuitable, largest_of, require_small, volume
from kit.recipes import recipe

MOST_STEPS = 4


@recipe(control.Cond)
def draw_cond(draft: Draft, cls: type[Op]) -> object:
    """Both regions yield values of the types that the first one came to."""
    arguments = [draft.operand() for _ in range(draft.random.randint(0, 2))]
    predicate = draft.like((), dtypes.boolean)
    types = [argument.type for argument in arguments]
    on_true, yielded = _region(draft, types, [], draft.random.randint(1, 2))
    on_false, _ = _region(draft, types, yielded, 0)
    return draft.emit(cls, predicate, arguments, on_true, on_false)


@recipe(control.Loop)
def draw_loop(draft: Draft, cls: type[Op]) -> object:
    """A few steps, or as many as an axis of some value in sight has rows."""
    carries = [draft.operand() for _ in range(draft.random.randint(0, 2))]
    trip: Size = draft.random.randint(0, MOST_STEPS)
    read = draft.find(lambda type_: bool(type_.shape)) if draft.chance(0.6) else None
    inputs = [] if read is None else [read]
    trip = trip if read is None else read.shape[0]
    slices = [value.type.with_shape(value.shape[1:]) for value in inputs]
    carried = [value.type for value in carries]
    types = [Tensor((), dtypes.i64), *carried, *slices]
    most = MOST_ELEMENTS // max(largest_of(trip), 1)
    body, _ = _region(draft, types, carried, draft.random.randint(0, 2), most)
    return draft.emit(cls, carries, inputs, trip, body, reverse=draft.chance(0.4))


@recipe(control.While)
def draw_while(draft: Draft, cls: type[Op]) -> object:
    """A counter is carried, which ends the loop after a few steps."""
    counter = draft.number(draft.random.randint(-1, 1), dtypes.i64)
    carries = [counter, *(draft.operand() for _ in range(draft.random.randint(0, 2)))]
    types = [value.type for value in carries]
    with draft.region(types) as region:
        condition = region.builder.block
        last = region.number(draft.random.randint(-1, MOST_STEPS), dtypes.i64)
        again = region.emit(tensor.Less, condition.arguments[0], last)
        region.builder.emit_all(Yield, again)
    with draft.region(types) as region:
        body = region.builder.block
        region.grow(region, draft.random.randint(0, 3))
        one = region.number(1, dtypes.i64)
        (following,) = region.emit(tensor.Add, body.arguments[0], one)
        others = [region.like(type_.shape, type_.dtype) for type_ in types[1:]]
        region.builder.emit_all(Yield, [following, *others])
    return draft.emit(cls, carries, condition, body)


@recipe(control.Call)
def draw_call(draft: Draft, cls: type[Op]) -> object:
    """A func that stands in the module already, or a new one of a few ops."""
    others = [func for func in draft.module if func is not draft.module.main]
    from_main = draft.func is draft.module.main
    callee = draft.random.choice(others) if others and from_main and draft.chance(0.4) else None
    if callee is None:
        callee = _new_func(draft)
    arguments = [draft.like(value.shape, value.dtype) for value in callee.arguments]
    outputs = [value.type for value in callee.results]
    return draft.emit(cls, arguments, callee.name, outputs)


@recipe(linear.Checkpoint)
def draw_checkpoint(draft: Draft, cls: type[Op]) -> object:
    arguments = [draft.operand() for _ in range(draft.random.randint(0, 2))]
    types = [argument.type for argument in arguments]
    body, _ = _region(draft, types, [], draft.random.randint(1, 2))
    return draft.emit(cls, arguments, body)


@recipe(linear.CustomVjp)
def draw_custom_vjp(draft: Draft, cls: type[Op]) -> object:
    """Any three regions whose types go together; nobody says that one is the other's gradient."""
    arguments = [draft.operand() for _ in range(draft.random.randint(0, 2))]
    types = [argument.type for argument in arguments]
    primal, outputs = _region(draft, types, [], draft.random.randint(1, 2))
    forward, made = _region(draft, types, outputs, draft.random.randint(0, 1))
    taken = [*made[len(outputs) :], *linear.inexact(outputs)]
    backward, _ = _region(draft, taken, linear.inexact(types), 0)
    return draft.emit(cls, arguments, primal, forward, backward)


@recipe(linear.LinearCall)
def draw_linear_call(draft: Draft, cls: type[Op]) -> object:
    """Of few numbers, since the region runs once for each; it is linear in its cotangents."""
    output = draft.operand(INEXACT, ranks=(0, 0, 1))
    tangent = draft.operand(INEXACT, ranks=(0, 1))
    residuals = [draft.like(tangent.shape, tangent.dtype)] if draft.chance(0.5) else []
    types = [*(value.type for value in residuals), output.type]
    with draft.region(types) as region:
        block = region.builder.block
        *known, cotangent = block.arguments
        axes = tuple(range(len(cotangent.shape)))
        (total,) = region.emit(tensor.ReduceSum, cotangent, axes=axes)
        (total,) = region.emit(tensor.Cast, total, dtype=tangent.dtype)
        (made,) = region.emit(tensor.Broadcast, total, shape=tangent.shape)
        for value in known:
            (made,) = region.emit(tensor.Multiply, made, value)
        region.builder.emit_all(Yield, [made])
    return draft.emit(cls, residuals, [tangent], block)


@recipe(custom.Custom)
def draw_custom(draft: Draft, cls: type[Op]) -> object:
    x = draft.operand()
    if draft.chance(0.5):
        settings: dict[str, Any] = {"times": draft.size()}
        kernel = "kit.named:reversed_rows"
        return draft.emit(cls, [x], kernel, [x.type], settings=settings)
    y = draft.operand()
    return draft.emit(cls, [x, y], "kit.named:swapped", [y.type, x.type])


@recipe(host_call.HostCall)
def draw_host_call(draft: Draft, cls: type[Op]) -> object:
    x = draft.operand()
    if draft.chance(0.5):
        return draft.emit(cls, [x], "kit.named:backwards", [x.type])
    y = draft.operand()
    return draft.emit(cls, [x, y], "kit.named:exchanged", [y.type, x.type])


@recipe(collectives.CollectiveOp)
def draw_collective(draft: Draft, cls: type[Op]) -> object:
    """Along an axis of two devices, on which a shape is split or joined."""
    name = draft.random.choice(("data", "model"))
    if cls is collectives.AxisIndex:
        return draft.emit(cls, name)
    x = draft.like((2, *draft.shape(ranks=(0, 1, 2))), draft.dtype(NUMBERS & ORDERED))
    require_small((2, *x.shape))
    given: dict[type[Op], dict[str, Any]] = {
        collectives.AllReduce: {"reduction": draft.random.choice(list(collectives.Reduction))},
        collectives.AllGather: {"axis": 0, "count": 2},
        collectives.ReduceScatter: {
            "reduction": draft.random.choice(list(collectives.Reduction)),
            "axis": 0,
            "count": 2,
        },
        collectives.AllToAll: {"split_axis": 0, "concat_axis": 0, "count": 2},
        collectives.CollectivePermute: {"pairs": ((0, 1), (1, 0))},
    }
    return draft.emit(cls, x=x, axis_name=name, **given[cls])


def _region(
    draft: Draft,
    takes: Sequence[Tensor],
    yields: Sequence[Tensor],
    more: int,
    most: int = MOST_ELEMENTS,
) -> tuple[Block, list[Tensor]]:
    """A region that yields values of the given types, and up to `more` others it came to."""
    with draft.region(takes) as region:
        block, outside = region.builder.block, len(region.values)
        region.grow(region, draft.random.randint(1, 4))
        own = [value for value in region.values[outside:] if _stackable(value, most)]
        chosen = [_computed(region, own, type_) for type_ in yields]
        chosen += draft.random.sample(own, min(more, len(own)))
        region.builder.emit_all(Yield, chosen)
    return block, [value.type for value in chosen]


def _computed(region: Draft, own: Sequence[AnyValue], type_: Tensor) -> AnyValue:
    """A value of a type, mostly one that the region has computed itself."""
    fitting = [value for value in own if value.type is type_]
    if fitting and region.chance(0.7):
        return region.random.choice(fitting)
    return region.like(type_.shape, type_.dtype)


def _stackable(value: AnyValue, most: int) -> bool:
    """Whether a loop may collect such values along a new axis."""
    return volume(value.shape) <= most and len(value.shape) < 8


def _new_func(draft: Draft) -> Func:
    """A func that takes whatever its ops ask for, and a vector of each size to know it by."""
    if draft.depth >= DEEPEST:
        raise Unsuitable("calls are deep enough")
    vectors = [Tensor((symbol,), dtypes.f32) for symbol in draft.func.symbols]
    func = Func("", vectors, draft.func.symbols, location=draft.builder.location)
    inner = Draft(draft.module, func, draft.random, draft.built)
    inner.grow, inner.depth = draft.grow, draft.depth + 1
    inner.builder.location = func.location
    inner.grow(inner, draft.random.randint(1, 6))
    inner.builder.emit_all(Return, inner.values[-3:])
    func.name = f"part_{len(draft.module)}"
    return draft.module.add(func)
