"""Random well-typed programs of the tensor floor.

Comes in: a seed and a size, or a plan, which is a list of steps; each step names an op and has a
seed of its own, so that a plan without some of its steps is still a plan, and shrinks well.
Goes out: a module whose values feed each other, with regions, calls and symbolic sizes.
Never: a program that fails when it runs: indices are in range, loops end, tensors are small.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from hypothesis import strategies

from brimstone.ir.declare import Op
from brimstone.ir.dims import Symbol
from brimstone.ir.func import Func, Module, Return
from brimstone.ir.locations import Location
from kit import draw_control, draw_indices, draw_matrices, draw_sums, draw_values, draw_views  # noqa: F401 (they add recipes)
from kit.draft import Draft, Unsuitable
from kit.recipes import drawable, recipe_of

MOST_RESULTS = 8
MORE_REGIONS = 3
NAMES = (None, None, None, "x", "x_1", "weight", "_0")
SETTINGS: tuple[dict[str, Any], ...] = (
    {}, {}, {}, {"target": "cpu"}, {"tile": {"m": 128, "k": [1, True]}, "note": 'a "b"\n'},
)  # fmt: skip
USUAL_SIZES = (2, 4, 6, 8, 10, 12, 16, 24, 60)
SYMBOLS = (
    Symbol("n", 0, 33), Symbol("n", 0), Symbol("n", 1, 1048576), Symbol("rows", 2, 64, 2),
    Symbol("m", 0, 40), Symbol("m", 1, 65536), Symbol("k", 0, 64, 8), Symbol("columns", 7, 128),
)  # fmt: skip


@dataclass(frozen=True)
class Step:
    """One op to draw, and the seed of all choices made for it."""

    op: type[Op]
    seed: int


@dataclass(frozen=True)
class Plan:
    """What makes a program: the same plan gives the same program everywhere."""

    steps: tuple[Step, ...]
    seed: int = 0
    collectives: bool = True
    without: tuple[type[Op], ...] = ()

    @property
    def ops(self) -> tuple[type[Op], ...]:
        """The ops that may occur, also where a region is filled."""
        return tuple(op for op in drawable(self.collectives) if op not in self.without)


def random_program(seed: int, size: int = 60, built: bool = False) -> Module:
    """A program of about `size` ops, at most a few more."""
    return program(random_plan(seed, size), built)


def random_programs(count: int, collectives: bool = True) -> Iterator[Module]:
    """The first `count` programs, most of them small, some of about 60 ops."""
    return (program(plan) for plan in random_plans(count, collectives))


def random_plans(count: int, collectives: bool = True) -> Iterator[Plan]:
    """The plans of these programs; without collectives, so that no mesh is needed to run them."""
    sizes = (USUAL_SIZES[seed % len(USUAL_SIZES)] for seed in range(count))
    return (random_plan(seed, size, collectives) for seed, size in enumerate(sizes))


def random_plan(
    seed: int, size: int = 60, collectives: bool = True, without: tuple[type[Op], ...] = ()
) -> Plan:
    """A plan for a program of about `size` ops, none of them of the classes `without`."""
    random, ops = Random(seed), Plan((), seed, collectives, without).ops
    # What goes wrong in a region needs several things at once, so there are more of them.
    ops += tuple(op for op in ops if op.region_fields) * MORE_REGIONS
    steps = (Step(random.choice(ops), random.getrandbits(32)) for _ in range(size))
    return Plan(tuple(steps), seed, collectives, without)


def program(plan: Plan, built: bool = False) -> Module:
    """The program of a plan; `built` lets the builder merge equal ops and fold constants.

    Both ways the program means the same, since the same values are returned.
    """
    return both_ways(plan)[1] if built else _returning(_drafted(plan, False), plan)[0]


def both_ways(plan: Plan) -> tuple[Module, Module]:
    """The program of a plan as it is stated, and as the builder has it."""
    stated, places = _returning(_drafted(plan, False), plan)
    return stated, _returning(_drafted(plan, True), plan, places)[0]


def _returning(
    draft: Draft, plan: Plan, places: list[int] | None = None
) -> tuple[Module, list[int]]:
    """The module of a draft that returns the values at some places, or at those that it chooses."""
    if places is None:
        places = _results(draft, Random(plan.seed + 1))
    draft.builder.emit_all(Return, [draft.values[place] for place in places])
    return draft.module, places


def _drafted(plan: Plan, built: bool) -> Draft:
    """All steps of a plan, which have not returned yet."""
    module, random = Module(), Random(plan.seed)
    settings = random.choice(SETTINGS)
    func = module.add(Func("main", (), _symbols(random), settings, Location(("model.py", 1))))
    draft = Draft(module, func, random, built)
    draft.builder.location = func.location
    draft.grow = partial(grow, ops=plan.ops)
    for place, step in enumerate(plan.steps):
        if draft.count >= len(plan.steps):
            break
        draft.random = Random(step.seed)
        lines = range(place, place + 1 + place % 3)
        draft.builder.location = Location(*(('a "model".py', line + 2) for line in lines))
        draw(draft, step.op)
    for value in (*func.arguments, *draft.values):
        value.name = random.choice(NAMES)
    return draft


def _results(draft: Draft, random: Random) -> list[int]:
    """Most of what nobody reads, and something that somebody may read."""
    places = range(len(draft.values))
    unread = [at for at in places if not draft.values[at].uses and random.random() < 0.9]
    return unread[-MOST_RESULTS:] + random.sample(places, min(1, len(places)))


def _symbols(random: Random) -> tuple[Symbol, ...]:
    chosen = random.sample(SYMBOLS, random.choice((0, 1, 1, 2, 2, 3)))
    return tuple({symbol.name: symbol for symbol in chosen}.values())


def draw(draft: Draft, cls: type[Op]) -> None:
    """Emit one op of a class and whatever it needs; nothing where it cannot stand here."""
    recipe = recipe_of(cls)
    if recipe is None:
        raise LookupError(f"no recipe says how to draw {cls.name}")
    try:
        if draft.chance(0.1):
            draft.repeat()
        draft.drawing = cls
        recipe(draft, cls)
    except Unsuitable:
        return


def grow(draft: Draft, count: int, ops: Sequence[type[Op]]) -> None:
    """Draw some ops more, inside a region say."""
    for _ in range(count):
        draw(draft, draft.random.choice(ops))


def plans(size: int = 25, collectives: bool = True) -> strategies.SearchStrategy[Plan]:
    """Plans of at most `size` steps, which shrink to few."""
    ops = strategies.sampled_from(drawable(collectives))
    steps = strategies.builds(Step, ops, strategies.integers(0, 2**16))
    listed = strategies.lists(steps, min_size=1, max_size=size).map(tuple)
    seeds = strategies.integers(0, 255)
    return strategies.builds(Plan, listed, seeds, strategies.just(collectives))


def programs(size: int = 25, collectives: bool = True) -> strategies.SearchStrategy[Module]:
    """Programs of at most about `size` ops."""
    return plans(size, collectives).map(program)
