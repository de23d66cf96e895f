"""What a target is told of a kernel to choose its tiles, and the tiles that follow.

Comes in: a `Kernel`, and a schedule for it. Goes out: what the target's chooser is shown, and the
size of a tile along each axis of the space.
Never: a number of a machine.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...ir import tensor
from ...ir.attributes import Shape
from ...ir.dtypes import DType, f64
from ...ir.tensor import transcendental
from ...ir.tensor.arg_reduce import ArgReduction
from .kernel import Access, Kernel, Node
from .space import FIRST, Index, Refused

FUNCTIONS = (
    transcendental.Function,
    tensor.CubeRoot,
    tensor.Erf,
    tensor.Erfc,
    tensor.ErfInverse,
    tensor.LogGamma,
    tensor.Digamma,
    tensor.Arctan2,
    tensor.Hypot,
    tensor.Power,
)
"""Ops that are much code, in wide floats even more."""
ROOTS = (tensor.SquareRoot, tensor.ReciprocalSquareRoot)
"""And those of them that are an instruction or two."""
COSTLY = (*FUNCTIONS, tensor.Divide, tensor.Remainder)
"""Ops of which the result is rather kept than computed again."""
SEVERAL = 8
"""How many other ops a costly one is, in instructions."""


@dataclass(frozen=True, slots=True)
class KernelShape:
    """What matters of a kernel for the size of its tiles.

    `kind` is "map", "rows" (with reductions), "sort", "concat", or "contract", "convolve" or
    "attention", of which only the dtype of the operands and that of the sums are told. `narrowest`
    and `widest` are among the dtypes that it holds along the vector axis. `vector_reduced`: the
    vectors run along a reduced axis. `transposed`: some read runs along another axis, tiled by "m".
    `live`: how many tiles are needed at once. `costly`: there are functions such as exp, or
    divisions. `once`: all that is read is reduced in one run along the reduced axes, and not needed
    again. `search`: places of extremes are looked for. `single`: some read finds its elements one
    by one, at a distance from each other or where indices say. `rank`: how many axes a map has.
    `work`: how much is done with each element, in ops, of which a costly one is several;
    `functions`: how many of these are functions, of which one of f64 counts as four.
    """

    kind: str
    narrowest: DType
    widest: DType
    vector_reduced: bool = False
    transposed: bool = False
    live: int = 0
    costly: bool = False
    once: bool = False
    search: bool = False
    single: bool = False
    rank: int = 1
    work: int = 0
    functions: int = 0


Schedule = Mapping[str, int]
"""`n`: elements of a tile along the vector axis; `m`: along the other axis of a transposed read.
Where one of these axes is known to be shorter, a tile is as long as it with `exact_n` or `exact_m`,
in at most so many parts of 2^i elements along it, or without that the next power of two; without
both it is as much longer along the other one.

`abreast`: rows that are reduced at once where vectors run along them, or parts of a chunk where
there is only one row; `unroll`: rows that are reduced at once where vectors run along a parallel
axis; `wide`: elements of a row that stream past one program there, whose sums wait in memory, or
without it one tile. Where vectors run along the reduced axis, one program sums `across` so many
rows as they pass, unless a row has more than `columns` elements; without it, sums across rows are a
kernel of their own. Few results of `long` elements or more are made level by level (`levels`).
`past_caches`: stores go to memory directly, where the facts of views allow it; `ahead`: loads are
asked for so many bytes before they are needed. Only a target that knows sizes sets these. `below`:
while the rows of a chunk pass a second time, those so far below are asked for: the next chunk.
`told`: sizes that no array has which a func is handed, and that it needs, are those of empty ones.

Of contractions, `m` and `n`: the block of the product that is kept in registers; `k`: a chunk of a
panel; `kept`: rows of panels of the right operand that stay near while all of the left ones pass.
Of at most `some` rows, at least `many` columns, and more than `deep` along k, programs pack their
columns, `part` chunks of a panel at a time; without these, none does. A product of at most `alone`
elements is made by programs that pack for themselves, each for a `chunk` of k, or where they share
k as much as is `near` of the right operand, in blocks that are `low` and `broad`; one of at most
`few` rows from `together` rows of the right operand at a time, in `beside` blocks beside each
other. Where those rows lie along k, `dots` of them are multiplied with `lines` of the few, `along`
elements of k at a time. Maps that follow are computed for `rows` rows of a block at a time, or
without it for all of them; sums of a `strip` of blocks wait for that together.

Of convolutions, `m`, `n` and `k` are as of contractions, with channels for rows and pixels for
columns; a program makes at most `beside` blocks of pixels, of which it packs as many as have `kept`
rows together, `vector` pixels at once.

Of sorts, of which the dtype of keys is told: a pass looks at `digit` bits; a program has a `chunk`
of a long line; lines of at most `short` elements, or a fourth of that, are tiles. What stands
`next` bytes behind the place of an element is asked for. Where at most one of `share` elements is
wanted, programs have `room` for so many candidates beyond those.

Of tensors end to end, so many elements, `dealt` from all of them in turn, are stored at once where
each gives one at a time; without it each of their lines is copied on its own.

Of attentions, `m`, `n` and `k` are as of contractions, rows being queries or keys, columns the
others; a program has at most `queries` rows, and keeps the scores of `keys` columns at a time,
which it changes for `rows` rows at once."""

EXACT = {"exact_n", "exact_m"}
"""With one of these, a tile that is short along one axis is no longer along the other one."""

Chooser = Callable[[KernelShape], Schedule]


def shape_of(kernel: Kernel) -> KernelShape:
    """The shape of a kernel."""
    last = len(kernel.space.sizes) - 1
    wide = [node for node in kernel.nodes if last in node.axes] or kernel.nodes
    dtypes = sorted({node.value.dtype for node in wide}, key=lambda each: (each.bits, each.name))
    return KernelShape(
        kind="rows" if kernel.levels else "map",
        narrowest=dtypes[0],
        widest=dtypes[-1],
        vector_reduced=last in kernel.space.reduced,
        transposed=transposed_axis(kernel) is not None,
        live=_live(kernel, wide),
        costly=any(isinstance(node.op, COSTLY) for node in wide),
        once=_once(kernel),
        search=any(isinstance(node.op, ArgReduction) for node in kernel.nodes),
        single=any(_is_single(node.access, last) for node in wide if node.access is not None),
        rank=len(kernel.space.sizes),
        work=sum([SEVERAL if isinstance(node.op, COSTLY) else 1 for node in wide]),
        functions=sum([_functions(node) for node in wide]),
    )


def _functions(node: Node) -> int:
    if not isinstance(node.op, FUNCTIONS) or isinstance(node.op, ROOTS):
        return 0
    return 4 if node.value.dtype is f64 else 1


def tiles_of(kernel: Kernel, schedule: Schedule) -> tuple[int, ...]:
    """The size of a tile along each axis of the space."""
    sizes = kernel.space.sizes
    if any(size < 1 for size in schedule.values()):
        raise Refused(f"the schedule {dict(schedule)} has a size below 1")
    tiles = [1] * len(sizes)
    if not sizes:
        return ()
    tiles[-1] = schedule.get("n", 1)
    across = transposed_axis(kernel)
    rows = [axis for axis in kernel.space.reduced if axis != len(sizes) - 1]
    along = len(rows) < len(kernel.space.reduced)
    if across is not None:
        tiles[across] = schedule.get("m", 1)
        last, stays = len(sizes) - 1, bool(schedule.keys() & EXACT)
        _fit(tiles, sizes, (last, across), schedule.get("exact_n", 0), stays)
        _fit(tiles, sizes, (across, last), schedule.get("exact_m", 0), stays)
    elif along and kernel.lines and kernel.across is None:
        tiles[kernel.lines[-1]] = schedule.get("abreast", 1)
    elif rows and not along:
        # A search keeps the rows of a tile apart, in memory if there is a line for each.
        apart = "wide" in schedule and any(isinstance(x.op, ArgReduction) for x in kernel.nodes)
        tiles[rows[-1]] = 1 if apart else schedule.get("unroll", 1)
    return tuple(tiles)


def _fit(tiles: list[int], sizes: Shape, axes: tuple[int, int], parts: int, stays: bool) -> None:
    """Make a tile no longer along the first axis than that is known to be: as long, and shorter
    along the other one if it has more `parts`, or where none are said a power of two; and as much
    longer along the other one, unless it `stays` or is as short."""
    axis, other = axes
    size, beside = sizes[axis], sizes[other]
    if not isinstance(size, int) or not 0 < size < tiles[axis]:
        return
    fitting = size if parts else 1 << (size - 1).bit_length()
    if not stays and (not isinstance(beside, int) or beside > tiles[other]):
        tiles[other] *= tiles[axis] // fitting
    odd = fitting // (fitting & -fitting)
    while parts and odd * tiles[other] > parts and tiles[other] > 1:
        tiles[other] //= 2
    tiles[axis] = fitting


def parts_of(kernel: Kernel, schedule: Schedule) -> int:
    """How many parts of a chunk are reduced at once."""
    alone = not kernel.lines and len(kernel.space.reduced) == 1
    return schedule.get("abreast", 1) if alone else 1


def transposed_axis(kernel: Kernel) -> int | None:
    """The axis, if it is not the vector's, along which some read of a map finds its neighbours: the
    one that has most axes, of which there is most. None if there are several of these that run
    along different ones, as no tile is small enough for all."""
    last = len(kernel.space.sizes) - 1
    if kernel.space.reduced:
        return None
    places = [node.access.at for node in kernel.nodes if node.access is not None]
    turned = [
        at
        for at in places
        if at and at[-1].axis not in (None, last) and last in [index.axis for index in at]
    ]
    most = max(map(len, turned), default=0)
    along = {at[-1].axis for at in turned if len(at) == most}
    return along.pop() if len(along) == 1 else None


def _is_single(access: Access, last: int) -> bool:
    """Whether what a vector along the last axis reads does not lie side by side."""
    window = access.window or tuple([Index(number) for number in range(len(access.at))])
    inside = [FIRST if each.axis is None else access.at[each.axis] for each in window]
    steps = [
        each.step * index.step if index.axis == last else 0
        for each, index in zip(window, inside, strict=True)
    ]
    return any(steps[:-1]) or any(abs(step) > 1 for step in steps[-1:])


def _once(kernel: Kernel) -> bool:
    """Whether there is only one run along the reduced axes, and it leaves nothing along them."""
    reduced = {*kernel.space.reduced}
    return kernel.levels == 1 and not any(reduced & {*each.node.axes} for each in kernel.outputs)


def _live(kernel: Kernel, wide: list[Node]) -> int:
    """The most values that are needed at once, in program order."""
    last_use: dict[Node, int] = {}
    for place, node in enumerate(wide):
        last_use.update(dict.fromkeys(node.operands, place))
    for output in kernel.outputs:
        last_use[output.node] = len(wide)
    ends = [0] * (len(wide) + 2)
    alive = most = 0
    for place, node in enumerate(wide):
        alive += 1
        most = max(most, alive)
        ends[max(last_use.get(node, place), place)] += 1
        alive -= ends[place]
    return most
