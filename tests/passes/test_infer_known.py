"""What `infer` knows of values: as much as it should, and never more than every run shows."""

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

import numpy as np
import pytest

from brimstone.ir import parse, tensor, verify
from brimstone.ir.builder import Builder
from brimstone.ir.dims import Symbol, evaluate
from brimstone.ir.dtypes import BITS, FLOATS, i32
from brimstone.ir.interpreter import interpret
from brimstone.ir.interpreter.frame import Frame
from brimstone.ir.values import AnyValue, Block, Op
from brimstone.passes.infer import Known, analysed, ranges
from brimstone.passes.infer import traits as trait
from brimstone.passes.infer.bounds import LETTERS_AT_MOST, LIMITS
from brimstone.passes.infer.flow import CONTROL, OF_INTEGERS, learn, rule_of
from brimstone.passes.oracle import choose_sizes, random_arguments
from kit.programs import Plan, Step, program, random_plans
from kit.recipes import drawable

TRAITS = {
    name: getattr(trait, name)
    for name in ("NUMBER", "FINITE", "NOT_NEGATIVE", "PLUS", "NOT_POSITIVE", "WHOLE")
}

KNOWN = [
    ("%u", "0..255"),
    ("%k", "-128..127"),
    ("%p", "0..1"),
    ("tensor.constant {value = [3, -7]} : tensor<[2], i32>", "-7..3"),
    ("tensor.constant {value = empty<[0]>} : tensor<[0], i32>", "0..0"),
    ("tensor.iota {shape = [n, 4], axis = 0, dtype = i64} : tensor<[n, 4], i64>", "0..n - 1"),
    ("tensor.iota {shape = [n, 4], axis = 1, dtype = u8} : tensor<[n, 4], u8>", "0..3"),
    ("tensor.iota {shape = [w], axis = 0, dtype = i8} : tensor<[w], i8>", "-128..127"),
    ("tensor.dim %x {axis = 0} : tensor<[], i64>", "n..n"),
    ("tensor.arg_maximum %x {axis = 0, dtype = i32} : tensor<[], i32>", "0..n - 1"),
    ("tensor.cast %u {dtype = i16} : tensor<[n], i16>", "0..255"),
    ("tensor.cast %u {dtype = i8} : tensor<[n], i8>", "-128..127"),
    ("tensor.cast %k {dtype = u16} : tensor<[n], u16>", "0..65535"),
    ("tensor.cast %p {dtype = i32} : tensor<[n], i32>", "0..1"),
    ("tensor.cast %square {dtype = i16} : tensor<[n], i16>", "0..32767"),
    ("tensor.negate %small : tensor<[n], i32>", "-15..0"),
    ("tensor.absolute %k : tensor<[n], i8>", "-128..127"),
    ("tensor.absolute %signed : tensor<[n], i32>", "0..128"),
    ("tensor.sign %small : tensor<[n], i32>", "0..1"),
    ("tensor.add %places, %places : tensor<[n], i32>", "0..2*n - 2"),
    ("tensor.add %u, %u : tensor<[n], u8>", "0..255"),
    ("tensor.subtract %small, %places : tensor<[n], i32>", "-n + 1..15"),
    ("tensor.subtract %u, %u : tensor<[n], u8>", "0..255"),
    ("tensor.multiply %signed, %small : tensor<[n], i32>", "-1920..1905"),
    ("tensor.multiply %signed, %signed : tensor<[n], i32>", "0..16384"),
    ("tensor.multiply %places, %places : tensor<[n], i32>", "0..n*n - 2*n + 1"),
    ("tensor.multiply %k, %k : tensor<[n], i8>", "-128..127"),
    ("tensor.divide %places, %threes : tensor<[n], i32>", "0..ceildiv(n, 3) - 1"),
    ("tensor.divide %signed, %places : tensor<[n], i32>", "-128..128"),
    ("tensor.divide %k, %k : tensor<[n], i8>", "-128..127"),
    ("tensor.remainder %signed, %threes : tensor<[n], i32>", "-2..2"),
    ("tensor.remainder %small, %signed : tensor<[n], i32>", "0..15"),
    ("tensor.remainder %small, %places : tensor<[n], i32>", "0..min(max(n - 2, 0), 15)"),
    ("tensor.maximum %signed, %small : tensor<[n], i32>", "0..127"),
    ("tensor.minimum %places, %small : tensor<[n], i32>", "0..min(n - 1, 15)"),
    ("tensor.bit_and %signed, %small : tensor<[n], i32>", "0..15"),
    ("tensor.bit_and %k, %k : tensor<[n], i8>", "-128..127"),
    ("tensor.bit_or %small, %threes : tensor<[n], i32>", "3..15"),
    ("tensor.bit_xor %small, %threes : tensor<[n], i32>", "0..15"),
    ("tensor.bit_not %small : tensor<[n], i32>", "-16..-1"),
    ("tensor.bit_not %p : tensor<[n], bool>", "0..1"),
    ("tensor.shift_left %small, %threes : tensor<[n], i32>", "0..120"),
    ("tensor.shift_left %u, %u : tensor<[n], u8>", "0..255"),
    ("tensor.shift_right %signed, %threes : tensor<[n], i32>", "-16..15"),
    ("tensor.shift_right %signed, %signed : tensor<[n], i32>", "-128..127"),
    ("tensor.shift_right %small, %signed : tensor<[n], i32>", "0..15"),
    ("tensor.count_ones %u : tensor<[n], u8>", "0..8"),
    ("tensor.less %small, %threes : tensor<[n], bool>", "0..1"),
    ("tensor.less %small, %signed : tensor<[n], bool>", "0..1"),
    ("tensor.less_equal %zeros, %small : tensor<[n], bool>", "1..1"),
    ("tensor.reduce_maximum %small {axes = [0]} : tensor<[], i32>", "-2147483648..15"),
    ("tensor.reduce_maximum %few {axes = [0]} : tensor<[], i32>", "0..3"),
    ("tensor.reduce_minimum %u {axes = [0]} : tensor<[], u8>", "0..255"),
    ("tensor.reduce_sum %small {axes = [0]} : tensor<[], i32>", "0..15*n"),
    ("tensor.reduce_sum %u {axes = [0]} : tensor<[], u8>", "0..255"),
    ("tensor.cumulative_sum %signed {axis = 0, reverse = false} : tensor<[n], i32>",
     "-128*n..127*n"),
    ("tensor.select %p, %small, %signed : tensor<[n], i32>", "-128..127"),
    ("tensor.concat %small, %threes {axis = 0} : tensor<[2*n], i32>", "0..15"),
    ("tensor.pad %few {low = [1], high = [0], interior = [0], value = 9} : tensor<[5], i32>",
     "0..9"),
    ("tensor.flip %few {axes = [0]} : tensor<[4], i32>", "0..3"),
    ("tensor.gather %threes, %at {axes = [0], outside = clamp} : tensor<[4], i32>", "3..3"),
    ("tensor.gather %threes, %at {axes = [0], outside = zero} : tensor<[4], i32>", "0..3"),
    ("tensor.scatter %signed, %at, %few {axes = [0], combiner = set} : tensor<[n], i32>",
     "-128..127"),
    ("tensor.scatter %threes, %at, %few {axes = [0], combiner = add} : tensor<[n], i32>",
     "-2147483648..2147483647"),
    ("tensor.bitcast %u {dtype = i8} : tensor<[n], i8>", "-128..127"),
]  # fmt: skip

PROGRAM = """
func @f<n: 0..64, w: 0..1000>(%u: tensor<[n], u8>, %k: tensor<[n], i8>, %p: tensor<[n], bool>, %x: tensor<[n], f32>, %y: tensor<[w], f32>, %at: tensor<[4, 1], i32>) -> () {{
  %fifteen = tensor.constant {{value = 15}} : tensor<[], i32>
  %fifteens = tensor.broadcast %fifteen {{shape = [n], axes = []}} : tensor<[n], i32>
  %three = tensor.constant {{value = 3}} : tensor<[], i32>
  %threes = tensor.broadcast %three {{shape = [n], axes = []}} : tensor<[n], i32>
  %zero = tensor.constant {{value = 0}} : tensor<[], i32>
  %zeros = tensor.broadcast %zero {{shape = [n], axes = []}} : tensor<[n], i32>
  %wide = tensor.cast %u {{dtype = i32}} : tensor<[n], i32>
  %small = tensor.bit_and %wide, %fifteens : tensor<[n], i32>
  %signed = tensor.cast %k {{dtype = i32}} : tensor<[n], i32>
  %places = tensor.iota {{shape = [n], axis = 0, dtype = i32}} : tensor<[n], i32>
  %few = tensor.iota {{shape = [4], axis = 0, dtype = i32}} : tensor<[4], i32>
  %square = tensor.multiply %x, %x : tensor<[n], f32>
  {op}
  return
}}
"""  # noqa: E501 # a header has no lines to break


@pytest.mark.parametrize(("op", "expected"), KNOWN)
def test_the_range_of_an_op(op: str, expected: str) -> None:
    module = parse(PROGRAM.format(op="" if op.startswith("%") else f"%z = {op}"))
    verify(module)
    found = {value.name: str(range_) for value, range_ in ranges(module.main).items()}
    assert found[op.removeprefix("%") if op.startswith("%") else "z"] == expected


KNOWN_OF_FLOATS = [
    ("tensor.constant {value = 1.5} : tensor<[], f32>", "FINITE PLUS"),
    ("tensor.constant {value = -0.0} : tensor<[], f32>", "FINITE NOT_NEGATIVE NOT_POSITIVE WHOLE"),
    ("tensor.constant {value = nan} : tensor<[], f32>", "PLUS NOT_POSITIVE WHOLE"),
    ("tensor.constant {value = [-inf, 0.5]} : tensor<[2], f32>", "NUMBER"),
    ("tensor.iota {shape = [n], axis = 0, dtype = f32} : tensor<[n], f32>", "FINITE PLUS WHOLE"),
    ("tensor.iota {shape = [w], axis = 0, dtype = f8e4m3} : tensor<[w], f8e4m3>", "PLUS WHOLE"),
    ("tensor.cast %k {dtype = f32} : tensor<[n], f32>", "FINITE WHOLE"),
    ("tensor.cast %u {dtype = f8e5m2} : tensor<[n], f8e5m2>", "FINITE PLUS WHOLE"),
    ("tensor.cast %large {dtype = f16} : tensor<[n], f16>", "NUMBER PLUS WHOLE"),
    ("tensor.cast %large {dtype = f8e4m3} : tensor<[n], f8e4m3>", "PLUS WHOLE"),
    ("tensor.cast %float {dtype = f8e4m3} : tensor<[n], f8e4m3>", "PLUS WHOLE"),
    ("tensor.exp %x : tensor<[n], f32>", "PLUS"),
    ("tensor.exp %float : tensor<[n], f32>", "NUMBER PLUS"),
    ("tensor.multiply %x, %x : tensor<[n], f32>", "PLUS"),
    ("tensor.multiply %float, %float : tensor<[n], f32>", "NUMBER PLUS WHOLE"),
    ("tensor.multiply %tiny, %tiny : tensor<[n], f8e4m3>", "PLUS WHOLE"),
    ("tensor.add %float, %float : tensor<[n], f32>", "NUMBER PLUS WHOLE"),
    ("tensor.add %infinite, %infinite : tensor<[n], f32>", "NUMBER PLUS"),
    ("tensor.add %infinite, %below : tensor<[n], f32>", ""),
    ("tensor.subtract %infinite, %infinite : tensor<[n], f32>", ""),
    ("tensor.divide %infinite, %float : tensor<[n], f32>", "PLUS"),
    ("tensor.absolute %x : tensor<[n], f32>", "PLUS"),
    ("tensor.negate %float : tensor<[n], f32>", "FINITE NOT_POSITIVE WHOLE"),
    ("tensor.square_root %x : tensor<[n], f32>", "NOT_NEGATIVE"),
    ("tensor.square_root %float : tensor<[n], f32>", "FINITE PLUS"),
    ("tensor.ceil %x : tensor<[n], f32>", "WHOLE"),
    ("tensor.tanh %infinite : tensor<[n], f32>", "FINITE PLUS"),
    ("tensor.sin %infinite : tensor<[n], f32>", ""),
    ("tensor.maximum %x, %float : tensor<[n], f32>", "PLUS"),
    ("tensor.minimum %x, %below : tensor<[n], f32>", "NOT_POSITIVE"),
    ("tensor.reduce_sum %infinite {axes = [0]} : tensor<[], f32>", "NUMBER PLUS"),
    ("tensor.reduce_sum %signed {axes = [0]} : tensor<[], f32>", "WHOLE"),
    ("tensor.reduce_maximum %float {axes = [0]} : tensor<[], f32>", "NUMBER WHOLE"),
    ("tensor.reduce_minimum %float {axes = [0]} : tensor<[], f32>", "NUMBER PLUS WHOLE"),
    ("tensor.bitcast %float {dtype = f32} : tensor<[n], f32>", ""),
]

PROGRAM_OF_FLOATS = """
func @f<n: 0..64, w: 0..1000>(%u: tensor<[n], u8>, %k: tensor<[n], i8>, %large: tensor<[n], u32>, %x: tensor<[n], f32>, %y: tensor<[w], f32>) -> () {{
  %float = tensor.cast %u {{dtype = f32}} : tensor<[n], f32>
  %signed = tensor.cast %k {{dtype = f32}} : tensor<[n], f32>
  %tiny = tensor.cast %u {{dtype = f8e4m3}} : tensor<[n], f8e4m3>
  %infinite = tensor.exp %float : tensor<[n], f32>
  %below = tensor.negate %infinite : tensor<[n], f32>
  %z = {op}
  return
}}
"""  # noqa: E501 # a header has no lines to break


@pytest.mark.parametrize(("op", "expected"), KNOWN_OF_FLOATS)
def test_the_traits_of_an_op(op: str, expected: str) -> None:
    module = parse(PROGRAM_OF_FLOATS.format(op=op))
    verify(module)
    known = analysed(module.main)
    found = known.traits(list(module.main.walk())[-2].results[0])
    wanted = 0
    for name in expected.split():
        wanted |= TRAITS[name]
    assert found == wanted, [name for name, bits in TRAITS.items() if trait.have(found, bits)]


def carried(body: str, start: int = 0) -> dict[str | None, str]:
    """The ranges in a loop that carries one i32 and has the given body."""
    module = parse(f"""
    func @f<n: 0..64>(%x: tensor<[n], f32>, %k: tensor<[n], i32>) -> tensor<[], i32> {{
      %start = tensor.constant {{value = {start}}} : tensor<[], i32>
      %one = tensor.constant {{value = 1}} : tensor<[], i32>
      %ten = tensor.constant {{value = 10}} : tensor<[], i32>
      %end, %stack = tensor.loop [%start], %k {{trip = n}} (%i: tensor<[], i64>, %c: tensor<[], i32>, %s: tensor<[], i32>) {{
        {body}
        yield %d, %i
      }} : tensor<[], i32>, tensor<[n], i64>
      return %end
    }}""")  # noqa: E501 (IR text has long lines)
    verify(module)
    return {value.name: str(range_) for value, range_ in ranges(module.main).items()}


def test_an_index_counts_the_steps_and_so_does_a_stack_of_it() -> None:
    found = carried("%d = tensor.minimum %c, %ten : tensor<[], i32>")
    assert found["i"] == found["stack"] == "0..n - 1"


def test_a_carry_that_stays_in_its_range_keeps_it() -> None:
    found = carried("%d = tensor.maximum %c, %s : tensor<[], i32>", start=5)
    assert found["c"] == found["end"] == "5..2147483647"


def test_a_carry_that_may_grow_for_ever_may_wrap() -> None:
    found = carried("%d = tensor.add %c, %one : tensor<[], i32>")
    assert found["c"] == found["end"] == "-2147483648..2147483647"


def test_a_carry_that_shrinks_towards_zero_keeps_its_sign() -> None:
    found = carried("%d = tensor.divide %c, %ten : tensor<[], i32>", start=1000)
    assert found["c"] == found["end"] == "0..1000"


def test_loops_in_loops_settle_in_few_rounds() -> None:
    depth = 12
    opening = "".join(
        f"%r{level} = tensor.loop [%c{level}] {{trip = 2}} "
        f"(%i{level}: tensor<[], i64>, %c{level + 1}: tensor<[], i32>) {{\n"
        for level in range(depth)
    )
    closing = "".join(
        f"yield %r{level + 1} }} : tensor<[], i32>\n" for level in reversed(range(depth))
    )
    one = "%one = tensor.constant {value = 1} : tensor<[], i32>\n"
    module = parse(
        f"func @f(%c0: tensor<[], i32>) -> tensor<[], i32> {{\n{one}{opening}"
        f"%r{depth} = tensor.add %c{depth}, %one : tensor<[], i32>\n{closing}return %r0 }}"
    )
    verify(module)
    looked_at = 0

    class Counting(Known):
        def look_again(self, value: AnyValue) -> Any:
            nonlocal looked_at
            looked_at += 1
            return super().look_again(value)

    learn(module.main.body, Counting(rule_of))
    assert looked_at < 20 * depth


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> dict[AnyValue, Any]:
    """Facts that the interpreter holds against every value it computes, in regions too."""
    facts: dict[AnyValue, Any] = {}
    run, step = Frame.run, Frame._step

    def checked_run(frame: Frame, block: Block, arguments: Any) -> Any:
        for value, array in zip(block.arguments, arguments, strict=True):
            hold(facts, value, array, frame.sizes)
        return run(frame, block, arguments)

    def checked_step(frame: Frame, op: Op, operands: list[Any]) -> None:
        step(frame, op, operands)
        for result in op.results:
            hold(facts, result, frame.values[result], frame.sizes)

    monkeypatch.setattr(Frame, "run", checked_run)
    monkeypatch.setattr(Frame, "_step", checked_step)
    return facts


def hold(
    facts: Mapping[AnyValue, Any], value: AnyValue, array: Any, sizes: Mapping[Symbol, int]
) -> None:
    """What is known of a value is true of an array that it was."""
    if value.type.dtype in BITS and np.size(array):
        low, high = (evaluate(end, sizes) for end in facts[value])
        assert low <= int(np.min(array)), (value.owner, low)
        assert int(np.max(array)) <= high, (value.owner, high)
    elif value.type.dtype in FLOATS:
        hold_traits(facts[value], np.asarray(array, np.float64), value.owner)


def hold_traits(traits: int, array: Any, owner: Op | Block) -> None:
    numbers = array[~np.isnan(array)]
    holds = {
        "NUMBER": numbers.size == array.size,
        "FINITE": np.isfinite(array).all(),
        "NOT_NEGATIVE": (numbers >= 0).all(),
        "PLUS": not np.signbit(numbers).any(),
        "NOT_POSITIVE": (numbers <= 0).all(),
        "WHOLE": (numbers == np.floor(numbers)).all(),
    }
    for name, bits in TRAITS.items():
        assert holds[name] or not trait.have(traits, bits), (owner, name)


def integer_plans(count: int) -> Iterator[Plan]:
    """Programs of ops that the analysis has rules for, in loops and out of them."""
    ops = [cls for cls in drawable(False) if cls in OF_INTEGERS or cls in CONTROL]
    for seed in range(count):
        random = Random(seed)
        steps = tuple(Step(random.choice(ops), random.getrandbits(32)) for _ in range(20))
        yield Plan(steps, seed, collectives=False)


def test_every_element_is_where_it_is_known_to_be(checked: dict[AnyValue, Any]) -> None:
    narrowed = 0
    plans = [*integer_plans(80), *random_plans(140, collectives=False)]
    for seed, plan in enumerate(plans):
        module = program(plan)
        for func in module:
            known, found = analysed(func), ranges(func)
            assert all(known[value] == range_ for value, range_ in found.items())
            checked.update({value: known[value] for value in func.arguments} | known)
            narrowed += sum(range_ != LIMITS[v.type.dtype] for v, range_ in found.items())
        for number, sizes in enumerate(choose_sizes(module.main)):
            rng = np.random.default_rng((seed, number))
            arguments = random_arguments(module.main, sizes, rng, special=number % 2 == 0)
            interpret(module, *arguments, sizes=sizes)
        checked.clear()
    assert narrowed > 1000


def test_what_a_rewrite_makes_is_looked_at_when_asked_for() -> None:
    main = parse("func @f(%u: tensor<[4], u8>) -> () { return }").main
    known = analysed(main)
    made = Builder(main.body, main.body.terminator).emit(tensor.Cast, main.arguments[0], i32)
    assert str(known.range(made)) == "0..255"
    assert known.traits(made) == trait.NONE


def test_long_sizes_give_way_to_numbers() -> None:
    names = [f"a_size_with_a_long_name_{place}" for place in range(6)]
    total = " + ".join(names)
    module = parse(f"""
    func @f<{", ".join(f"{name}: 0..9" for name in names)}>() -> tensor<[{total}], i64> {{
      %x = tensor.iota {{shape = [{total}], axis = 0, dtype = i64}} : tensor<[{total}], i64>
      return %x
    }}""")
    assert len(total) > LETTERS_AT_MOST
    assert [str(range_) for range_ in ranges(module.main).values()] == ["0..53"]
