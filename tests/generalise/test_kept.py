"""What stays a number, and why; nothing is ever refused."""

import pytest

from brimstone.ir import Builder, Func, Module, parse, print_func, tensor, verify
from brimstone.ir.dims import Symbol
from brimstone.ir.dtypes import f32
from brimstone.ir.func import Return
from brimstone.ir.types import Tensor
from brimstone.passes.generalise import generalise
from brimstone.passes.generalise.recording import Recording, by_own_rule
from brimstone.passes.generalise.relations import RELATIONS, unrelated
from kit.general import check_bits, general, text_of
from kit.recorder import Recorder

PAIR, LINE = "tensor<[4, 5], f32>", "tensor<[6], f32>"
TWO = f"""
func @f(%x: {PAIR}, %y: {PAIR}, %z: {LINE}) -> ({PAIR}, {LINE}) {{
  %a = tensor.add %x, %y : {PAIR} at "model.py":3
  %b = tensor.exp %z : {LINE}
  return %a, %b
}}
"""


def test_a_reason_names_the_op_and_its_line() -> None:
    r = Recorder()
    made = general(r.done(r.reshape(r.argument(4, 6), 3, 8)))
    assert [each.size for each in made.kept] == [4, 6, 3, 8]
    assert str(made.kept[0]) == (
        "4 at tensor.reshape (no line): the sizes before and after are not made of common pieces"
    )
    assert made.sizes == {}


def test_sizes_that_an_op_minds_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if nobody had said that the operands of an add are alike."""

    def wrong(op: tensor.Add, recording: Recording) -> None:
        recording.parts[op.result] = recording.parts[op.left]

    monkeypatch.setitem(RELATIONS, tensor.Add, wrong)  # pyright: ignore[reportArgumentType]
    module = parse(TWO)
    made = general(module.main)
    assert made.sizes == {"n0": 6}
    assert {each.op for each in made.kept} == {"tensor.add"}
    assert "(model.py:3): right has type" in str(made.kept[0])
    check_bits(module, made)


def test_a_result_that_is_of_another_size_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(op: tensor.Add, recording: Recording) -> None:
        recording.parts[op.result] = tuple(reversed(recording.parts[op.left]))

    monkeypatch.setitem(RELATIONS, tensor.Add, wrong)  # pyright: ignore[reportArgumentType]
    module = parse(TWO)
    made = general(module.main)
    assert "at the sizes of the recording" in made.kept[0].reason
    check_bits(module, made)


def test_a_func_that_nothing_helps_is_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(op: tensor.Add, recording: Recording) -> None:
        recording.parts[op.result] = ()

    monkeypatch.setitem(RELATIONS, tensor.Add, wrong)  # pyright: ignore[reportArgumentType]
    module = parse(TWO)
    made = generalise(module.main)
    assert print_func(made.func) == print_func(module.main)
    assert (made.sizes, made.scalars) == ({}, ())


@pytest.mark.parametrize("relation", [by_own_rule, unrelated])
def test_an_op_that_nobody_has_related(monkeypatch: pytest.MonkeyPatch, relation: object) -> None:
    """Its own shape rule may be enough, and where it is not its sizes stay."""
    monkeypatch.setitem(RELATIONS, tensor.Contract, relation)  # pyright: ignore[reportArgumentType]
    r = Recorder()
    x, y = r.arguments((4, 5), (5, 6))
    func = r.done(r.contract(x, y, 0, 0), r.emit(tensor.Exp, r.argument(7)))
    made = general(func)
    assert made.sizes == {"n0": 7}
    check_bits(Module([func]), made)


def test_a_shape_rule_is_enough_for_one_operand(monkeypatch: pytest.MonkeyPatch) -> None:
    def rebuilt() -> str:
        r = Recorder()
        x = r.emit(tensor.Iota, (14, 15), 0, f32)
        return text_of(r.done(r.emit(tensor.Permute, x, axes=(1, 0))))

    expected = rebuilt()
    for cls in (tensor.Permute, tensor.Iota):
        monkeypatch.setitem(RELATIONS, cls, by_own_rule)  # pyright: ignore[reportArgumentType]
    assert rebuilt() == expected


def test_other_floors_stay_as_they_are() -> None:
    text = """
    func @k<n: 1..64>(%x: tile<[16], f32>, %y: scalar<f32>) -> (tile<[16], f32>, scalar<f32>) {
      %a = tile.binary %x, %x {kind = add} : tile<[16], f32>
      return %a, %y
    }"""
    module = parse(text)
    made = general(module.main)
    assert print_func(made.func) == print_func(module.main)


def test_sizes_beyond_what_a_symbol_may_be_stay() -> None:
    r = Recorder()
    func = r.done(r.emit(tensor.Exp, r.argument(2**31, 1000)))
    assert general(func).sizes == {"n0": 1000}


def test_a_sum_of_more_terms_than_a_dim_can_have() -> None:
    r = Recorder()
    x = r.emit(tensor.Concat, r.arguments(*[(2, 3)] * 300), axis=0)
    made = general(r.done(x, r.emit(tensor.Exp, r.argument(7))))
    assert made.sizes == {"n0": 7}
    assert "terms" in made.kept[0].reason


@pytest.mark.parametrize("merged_first", [False, True])
def test_a_product_of_more_terms_than_a_dim_can_have(merged_first: bool) -> None:
    """Nine sums multiplied; what the sizes are sums of is known before that or after it."""
    r = Recorder()
    x = r.argument(*[4] * 9)
    merged = r.reshape(x, 4**9) if merged_first else None
    for axis in range(9):
        line = r.emit(tensor.Concat, [r.argument(2), r.argument(2)], axis=0)
        x = r.emit(tensor.Add, x, r.to(line, *x.shape, first=axis))
    func = r.done(merged or r.reshape(x, 4**9))
    made = general(func)
    assert "terms" in made.kept[0].reason
    check_bits(Module([func]), made)


def test_names_that_are_taken_are_not_taken_again() -> None:
    symbols = [Symbol("n0", 1, 64), Symbol("_1", 2), Symbol("__2", 2)]
    types = [Tensor((symbols[0], 4), f32), Tensor((*symbols[1:], 5), f32)]
    func = Func("f", types, tuple(symbols))
    builder = Builder(func.body)
    x, y = func.arguments
    twice = [
        builder.emit(tensor.Concat, [x, x], axis=1),
        builder.emit(tensor.Concat, [y, y], axis=2),
    ]
    builder.emit_all(Return, twice)
    verify(func)
    made = general(func)
    assert made.sizes == {"n1": 4, "n2": 5}
    assert [symbol.name for symbol in made.func.symbols] == ["n0", "_1", "__2", "n1", "n2"]
    check_bits(Module([func]), made)


def test_a_func_without_ops() -> None:
    assert general(Recorder().done()).sizes == {}
