"""Declaring ops: one class in one place, and it builds, prints, parses, verifies and runs."""

from collections.abc import Iterator
from enum import Enum
from random import Random
from typing import Any

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.builder import Builder
from brimstone.ir.declare import (
    REGISTRY,
    Attr,
    Effect,
    Op,
    Operand,
    Operands,
    Region,
    Result,
    Results,
    among,
    same_as,
    shaped_as,
)
from brimstone.ir.dtypes import FLOATS, boolean, f16, f32, i32
from brimstone.ir.errors import VerifyError, require
from brimstone.ir.func import Func, Module, Return, Yield
from brimstone.ir.interpreter import interpret
from brimstone.ir.parser import parse
from brimstone.ir.payloads import Number
from brimstone.ir.printer import print_func, print_module
from brimstone.ir.tensor.base import TensorOp
from brimstone.ir.tensor.elementwise import Unary
from brimstone.ir.types import Scalar, Tensor
from brimstone.ir.verifier import verify
from kit.draft import Draft
from kit.programs import draw
from kit.recipes import drawable

VECTOR = Tensor((4,), f32)


@pytest.fixture(autouse=True)
def forget_new_ops() -> Iterator[None]:
    """What a test declares is gone after it."""
    known = set(REGISTRY)
    yield
    for name in set(REGISTRY) - known:
        del REGISTRY[name]
    drawable.cache_clear()


def start(*types: Any) -> tuple[Func, Builder]:
    func = Func("f", types or (VECTOR, VECTOR))
    return func, Builder(func.body)


def test_a_new_op_in_one_place() -> None:
    class SquareWave(Unary, name="tensor.square_wave", meaning=lambda x: np.where(x < 0, -1, 1)):
        """-1 below 0, else 1."""

    text = (
        "func @f<n: 0..9>(%x: tensor<[n], bf16>) -> tensor<[n], bf16> {\n"
        "  %y = tensor.square_wave %x : tensor<[n], bf16>\n"
        "  return %y\n"
        "}\n"
    )
    module = parse(text)
    verify(module)
    assert print_module(module) == text
    storage = module.main.arguments[0].dtype.storage
    (found,) = interpret(module, np.array([-3.0, 0.0, 2.0], storage))
    assert found.tolist() == [-1.0, 1.0, 1.0]

    _, builder = start()
    folded = builder.emit(SquareWave, builder.emit(tensor.Constant, Number(-2.0, f32)))
    assert isinstance(folded.op, tensor.Constant)
    assert folded.op.value is Number(-1.0, f32)


def test_a_new_op_of_a_family_is_drawn_into_random_programs() -> None:
    class Wave(Unary, name="tensor.wave", meaning=np.sin):
        """sin(x)."""

    drawable.cache_clear()
    assert Wave in drawable()
    module = Module([Func("main")])
    draft = Draft(module, module.main, Random(0), built=False)
    draw(draft, Wave)
    assert [op.name for op in module.main.walk()][-1] == "tensor.wave"


class Policy(Enum):
    """What to do."""

    KEEP = "keep"
    DROP = "drop"


def declare_all_roles() -> type[Op]:
    class Everything(TensorOp, name="tensor.everything"):
        """One of each role."""

        first: Operand[Tensor] = among(FLOATS)
        mask: Operand[Tensor] = shaped_as("first", boolean)
        some: Operands[Tensor]
        others: Operands[Tensor]
        count: Attr[int]
        policy: Attr[Policy] = Policy.KEEP
        note: Attr[str | None] = None
        body: Region
        result: Result[Tensor] = same_as("first")
        more: Results[Tensor]

        def check(self) -> None:
            require(self.count >= 0, "count is negative", self.count)

    return Everything


def everything(builder: Builder, cls: type[Op], **named: Any) -> tuple[Any, ...]:
    x = builder.block.arguments[0]
    mask = builder.emit(tensor.Equal, x, x)
    body = builder.nest([VECTOR])
    body.emit_all(Yield, [x])
    arguments = {"some": [x], "others": [mask, x], "count": 3, "types_of_more": [VECTOR], **named}
    return builder.emit_all(cls, first=x, mask=mask, body=body.block, **arguments)


def test_accessors_of_every_role() -> None:
    cls = declare_all_roles()
    func, builder = start()
    results = everything(builder, cls, note="x")
    op: Any = results[0].op
    x, mask = op.first, op.mask
    assert (op.some, op.others) == ((x,), (mask, x))
    assert (op.count, op.policy, op.note) == (3, Policy.KEEP, "x")
    assert op.body.terminator.operands == (x,)
    assert (op.result, op.more) == (results[0], results[1:])
    builder.emit_all(Return, [])
    verify(func)
    text = print_func(func)
    assert "%3, %4 = tensor.everything %0, %2, [%0], %2, %0 {" in text
    assert '{count = 3, policy = keep, note = "x"} (%5: tensor<[4], f32>) {' in text
    assert print_module(parse(text)) == text


def test_left_out_attributes_are_not_printed() -> None:
    cls = declare_all_roles()
    func, builder = start()
    everything(builder, cls)
    builder.emit_all(Return, [])
    text = print_func(func)
    assert "note" not in text
    assert print_module(parse(text)) == text
    assert print_module(parse(text.replace(", policy = keep", ""))) == text


def test_checks_run_when_an_op_is_built_and_when_it_is_read() -> None:
    cls = declare_all_roles()
    func, builder = start()
    with pytest.raises(VerifyError, match="count is negative: -1"):
        everything(builder, cls, count=-1)
    everything(builder, cls)
    builder.emit_all(Return, [])
    with pytest.raises(VerifyError, match="count is negative: -2"):
        parse(print_func(func).replace("count = 3", "count = -2"))


@pytest.mark.parametrize(
    ("left", "right", "said"),
    [
        (Tensor((4,), i32), Tensor((4,), i32), "expected a dtype among bf16, f16"),
        (VECTOR, Tensor((4,), f16), "expected tensor<[4], f32> (from left)"),
        (Scalar(f32), Scalar(f32), "left has type scalar<f32>, expected a tensor"),
    ],
)
def test_rules_of_operands(left: Any, right: Any, said: str) -> None:
    func, builder = start(left, right)
    with pytest.raises(VerifyError) as caught:
        builder.emit(tensor.Hypot, *func.arguments)
    assert said in str(caught.value)


def test_ops_with_effects_are_neither_merged_nor_dropped() -> None:
    class Note(Op, name="test.note", effects=(Effect.HOST,)):
        """Tells the host."""

        x: Operand[Tensor]

    func, builder = start()
    for _ in range(2):
        builder.emit_all(Note, func.arguments[0])
    assert [op.name for op in func.walk()] == ["test.note", "test.note"]
    assert not Note.pure
    assert not Note.numbered


def test_bad_declarations_are_refused() -> None:
    with pytest.raises(TypeError, match=r"the op tensor\.add is declared twice"):

        class Again(Op, name="tensor.add"):
            """A name that is taken."""

    with pytest.raises(TypeError, match="x refers to y, no field of the op"):

        class Nowhere(Op, name="test.nowhere"):
            """A rule about nothing."""

            x: Operand[Tensor] = same_as("y")

    with pytest.raises(TypeError, match="infer asks for y, no field"):

        class Asks(Op, name="test.asks"):
            """A shape rule that asks for what is not there."""

            x: Operand[Tensor]
            result: Result[Tensor]

            @staticmethod
            def infer(y: Tensor) -> Tensor:
                return y

    with pytest.raises(TypeError, match="only the last result may be a list"):

        class Lists(Op, name="test.lists"):
            """Two lists of results, which no text can tell apart."""

            some: Results[Tensor]
            others: Results[Tensor]


def test_every_op_says_what_it_is() -> None:
    silent = [cls.name for cls in REGISTRY.values() if not (cls.__doc__ or "").strip()]
    assert not silent
