"""Random kernels of the loop floor: arithmetic of all dtypes, lanes, memory, loops and branches.

Comes in: a source of randomness. Goes out: a func of four buffers and two scalars.
Never: an index outside of a buffer, or bits of a NaN that count.
"""

from random import Random

from brimstone.ir.dtypes import BY_NAME, Kind, i32
from brimstone.ir.func import Func
from brimstone.ir.loop import BinaryKind, CompareKind, ReduceKind, UnaryKind
from brimstone.targets.llvm.emit.arithmetic import BINARY, UNARY
from kit.loops import loops

BUFFERS = ("f32", "i32", "i64", "u8")
DTYPES = (*BUFFERS, "f64", "bool")
LANES = (1, 1, 4, 8)
LENGTH = 32
DEPTH = 3


class Draft:
    """A kernel being drawn: its lines, and the names in scope of each dtype and lane count."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.lines: list[str] = []
        self.known: list[tuple[str, str, int]] = [("%n", "i32", 1), ("%t", "f32", 1)]
        self.count = 0

    def emit(self, text: str, dtype: str, lanes: int) -> str:
        """A line that makes a value."""
        self.count += 1
        name = f"%v{self.count}"
        self.lines.append(f"{name} = {text} : {type_of(dtype, lanes)}")
        self.known.append((name, dtype, lanes))
        return name

    def some(self, dtype: str, lanes: int) -> str:
        """A value of a dtype, which is made if there is none."""
        fitting = [name for name, *kind in self.known if kind == [dtype, lanes]]
        if fitting and self.random.random() < 0.9:
            return self.random.choice(fitting[-8:])
        if lanes > 1 and self.random.random() < 0.5:
            return self.emit(f"loop.splat {self.some(dtype, 1)} {{lanes = {lanes}}}", dtype, lanes)
        return self.constant(dtype, lanes)

    def constant(self, dtype: str, lanes: int) -> str:
        numbers = [self.number(dtype) for _ in range(lanes)]
        value = f"[{', '.join(numbers)}]" if lanes > 1 else numbers[0]
        return self.emit(f"loop.constant {{value = {value}}}", dtype, lanes)

    def number(self, dtype: str) -> str:
        if dtype == "bool":
            return self.random.choice(["true", "false"])
        if dtype.startswith("f"):
            return self.random.choice(["0.0", "-0.0", "1.5", "-2.25", "inf", "nan", "1e-40", "7.0"])
        least = 0 if dtype.startswith("u") else -3
        return str(self.random.randint(least, 40))

    def index(self) -> str:
        """A number below the length of a buffer, with room for a vector."""
        mask = self.emit(f"loop.constant {{value = {LENGTH // 2 - 1}}}", "i32", 1)
        return self.emit(f"loop.binary {self.some('i32', 1)}, {mask} {{kind = bit_and}}", "i32", 1)

    def block(self, size: int, depth: int) -> None:
        """So many statements; what they make is known afterwards only inside."""
        for _ in range(size):
            steps = [self.arithmetic] * 6 + [self.convert, self.choose, self.memory, self.lane]
            self.random.choice(steps)()
            if depth and self.random.random() < 0.15:
                self.random.choice([self.loop, self.branch])(depth - 1)

    def arithmetic(self) -> None:
        dtype, lanes = self.random.choice(DTYPES), self.random.choice(LANES)
        family = BY_NAME[dtype].kind
        table = {**UNARY, **BINARY}
        kinds = [kind for kind, of in table if of is family and kind is not BinaryKind.COPY_SIGN]
        kind = self.random.choice([*kinds, *CompareKind])
        operands = [self.some(dtype, lanes)]
        if not isinstance(kind, UnaryKind):
            operands.append(self.some(dtype, lanes))
        op = {UnaryKind: "unary", BinaryKind: "binary", CompareKind: "compare"}[kind.__class__]
        made = "bool" if isinstance(kind, CompareKind) else dtype
        self.emit(f"loop.{op} {', '.join(operands)} {{kind = {kind.value}}}", made, lanes)

    def convert(self) -> None:
        source, made = self.random.choice(DTYPES), self.random.choice(DTYPES)
        lanes = self.random.choice(LANES)
        self.emit(f"loop.cast {self.some(source, lanes)} {{dtype = {made}}}", made, lanes)

    def choose(self) -> None:
        dtype, lanes = self.random.choice(DTYPES), self.random.choice(LANES)
        operands = [self.some(each, lanes) for each in ("bool", dtype, dtype)]
        self.emit(f"loop.select {', '.join(operands)}", dtype, lanes)

    def lane(self) -> None:
        dtype, lanes = self.random.choice(DTYPES), self.random.choice([4, 8])
        x = self.some(dtype, lanes)
        if self.random.random() < 0.5:
            self.emit(f"loop.extract {x} {{lane = {self.random.randrange(lanes)}}}", dtype, 1)
        elif self.random.random() < 0.5:
            picked = [self.random.randrange(lanes) for _ in range(4)]
            self.emit(f"loop.shuffle {x} {{lanes = {picked}}}", dtype, 4)
        else:
            kinds = [ReduceKind.MINIMUM, ReduceKind.MAXIMUM]
            kinds += [ReduceKind.ADD] if BY_NAME[dtype].kind is not Kind.BOOL else []
            kind = self.random.choice(kinds)
            self.emit(f"loop.reduce {x} {{kind = {kind.value}}}", dtype, 1)

    def memory(self) -> None:
        dtype, lanes = self.random.choice(BUFFERS), self.random.choice(LANES)
        at = self.index()
        vector, suffix = ("", "") if lanes == 1 else ("_vector", f" {{lanes = {lanes}}}")
        masked = lanes > 1 and self.random.random() < 0.5
        mask = self.some("bool", lanes) if masked else ""
        value = self.some(dtype, lanes)
        if self.random.random() < 0.5:
            if masked:
                self.emit(f"loop.load_masked %{dtype}, {at}, {mask}, {value}", dtype, lanes)
            else:
                self.emit(f"loop.load{vector} %{dtype}, {at}{suffix}", dtype, lanes)
        elif masked:
            self.lines.append(f"loop.store_masked %{dtype}, {at}, {value}, {mask}")
        else:
            self.lines.append(f"loop.store{vector} %{dtype}, {at}, {value}")

    def loop(self, depth: int) -> None:
        kinds = [(self.random.choice(DTYPES), self.random.choice(LANES)) for _ in range(2)]
        lower, upper = (self.constant("i32", 1) for _ in range(2))
        step = self.emit(f"loop.constant {{value = {self.random.randint(5, 9)}}}", "i32", 1)
        initial = [self.some(*kind) for kind in kinds]
        self.count += 1
        carried = [f"%c{self.count}_{place}" for place in range(2)]
        listed = [f"{name}: {type_of(*kind)}" for name, kind in zip(carried, kinds, strict=True)]
        place, before = len(self.lines), len(self.known)
        index = f"%at{self.count}"
        self.known += [(index, "i32", 1), *[(n, *k) for n, k in zip(carried, kinds, strict=True)]]
        self.block(4, depth)
        self.lines.append(f"yield {', '.join([self.some(*kind) for kind in kinds])}")
        del self.known[before:]
        unroll = self.random.choice([1, 1, 2])
        head = (
            f"loop.for {lower}, {upper}, {step}, {', '.join(initial)} {{unroll = {unroll}}} "
            f"({index}: scalar<i32>, {', '.join(listed)}) {{"
        )
        self.close(place, head, kinds)

    def branch(self, depth: int) -> None:
        kinds = [(self.random.choice(DTYPES), self.random.choice(LANES)) for _ in range(2)]
        predicate = self.some("bool", 1)
        place, before = len(self.lines), len(self.known)
        for last in (False, True):
            self.block(3, depth)
            self.lines.append(f"yield {', '.join([self.some(*kind) for kind in kinds])}")
            del self.known[before:]
            if not last:
                self.lines.append("} () {")
        self.close(place, f"loop.if {predicate} () {{", kinds)

    def close(self, place: int, head: str, kinds: list[tuple[str, int]]) -> None:
        """Put the head of an op where its regions begin, and its results where they end."""
        self.count += 1
        names = [f"%r{self.count}_{number}" for number in range(len(kinds))]
        self.lines.insert(place, f"{', '.join(names)} = {head}")
        self.lines.append(f"}} : {', '.join([type_of(*kind) for kind in kinds])}")
        self.known += [(name, *kind) for name, kind in zip(names, kinds, strict=True)]

    def keep(self) -> None:
        """Put what is known in the end where it is seen."""
        zero = self.emit(f"loop.constant {{value = {LENGTH // 2}}}", i32.name, 1)
        for dtype in BUFFERS:
            self.lines.append(f"loop.store_vector %{dtype}, {zero}, {self.some(dtype, 8)}")


def type_of(dtype: str, lanes: int) -> str:
    return f"vec<{lanes}, {dtype}>" if lanes > 1 else f"scalar<{dtype}>"


def draw_loops(random: Random) -> Func:
    """A kernel."""
    draft = Draft(random)
    draft.block(12, DEPTH)
    draft.keep()
    buffers = ", ".join(f"%{dtype}: buffer<{dtype}, global>" for dtype in BUFFERS)
    body = "\n".join(f"  {line}" for line in draft.lines)
    return loops(
        f"func @drawn({buffers}, %n: scalar<i32>, %t: scalar<f32>) {{\n{body}\n  return\n}}"
    )
