"""What hostile testing found, kept so that it stays mended."""

import copy
import pickle

import numpy as np
import pytest

from brimstone.ir import (
    Builder,
    Func,
    ParseError,
    Return,
    VerifyError,
    parse,
    print_module,
    tensor,
    verify,
)
from brimstone.ir.attributes import Double, Frozen
from brimstone.ir.dtypes import c64, f16, f32
from brimstone.ir.payloads import Number
from brimstone.ir.types import Tensor, View
from brimstone.passes import run_pipeline


def test_zeros_of_other_signs_are_other_numbers() -> None:
    assert Number(complex(0.0, 0.0), c64) is not Number(complex(0.0, -0.0), c64)
    assert Number(np.float64(0.0), f32) is not Number(np.float64(-0.0), f32)
    assert Number(complex(-0.0, 0.0), c64).text == "(-0.0, 0.0)"


def test_an_integer_is_rounded_once() -> None:
    wide = (1 << 60) + (1 << 36) + 1
    assert Number(wide, f32).value == 2**60 + 2**37
    assert Number(-wide, f32).value == -(2**60 + 2**37)
    assert Number(wide, c64).value == 2**60 + 2**37


def test_doubles_with_other_bits_are_other_doubles() -> None:
    quiet, other = Double(float("nan")), Double(np.array(0x7FF8000000000001).view(np.float64))
    assert quiet != other
    assert Double(0.0) != Double(-0.0)


@pytest.mark.parametrize("settings", ["{a: -nan}", "{a: 0x7ff8000000000001}", "{a: [inf, 1.5]}"])
def test_numbers_in_settings_are_read_back(settings: str) -> None:
    printed = print_module(parse(f"func @f() with {settings} {{\n  return\n}}"))
    assert print_module(parse(printed)) == printed


@pytest.mark.parametrize("name", ["inf", "true", "f32", "min"])
def test_a_size_has_a_name_of_its_own(name: str) -> None:
    with pytest.raises(ParseError, match=f"the size {name} has a name that means something"):
        parse(f"func @f<{name}: 1..4>() {{\n  return\n}}")


def test_a_bool_has_one_bit() -> None:
    with pytest.raises(ParseError, match="0x2 has more bits than bool"):
        parse("func @f() {\n  %a = tensor.constant {value = 0x2} : tensor<[], bool>\n  return\n}")


def test_comments_and_line_ends_stand_anywhere() -> None:
    text = (
        "\ufefffunc @f(%x: tensor<[2, 3], f32>) -> tensor<[2], f32> {\n"
        "  %a\n =\n tensor.reduce_sum %x {axes = [1] // a brace: }\n} : tensor<[2], f32>\n"
        "  return %a\n}"
    )
    assert len(list(parse(text).main.walk())) == 2


@pytest.mark.parametrize("attributes", [(0, 1), (False, False), (0, None)])
def test_attributes_of_another_kind_are_found(attributes: tuple[object, ...]) -> None:
    func = Func("f", [Tensor((4,), f32)])
    builder = Builder(func.body)
    summed = builder.emit(tensor.CumulativeSum, func.arguments[0], 0)
    builder.emit_all(Return, [summed])
    assert summed.op is not None
    summed.op.attributes = attributes
    with pytest.raises(VerifyError, match=r"tensor\.cumulative_sum"):
        verify(func)


def test_many_ops_go_before_the_same_one() -> None:
    func = Func("f", [Tensor((4,), f32)])
    value = func.arguments[0]
    last = Builder(func.body).emit_all(Return, [value])
    assert last == ()
    builder = Builder(func.body, func.body.terminator)
    for _ in range(3000):
        value = builder.emit(tensor.Exp, value)
    verify(func)


def test_regions_nest_deeply_in_what_is_inlined() -> None:
    depth = 600
    opening = "%y = tensor.cond %p () {\n"
    closing = "yield %x\n} () {\nyield %x\n} : tensor<[], f32>\n"
    text = (
        "func @f(%p: tensor<[], bool>, %x: tensor<[], f32>) -> tensor<[], f32> {\n"
        "%yes = tensor.constant {value = true} : tensor<[], bool>\n"
        "%y = tensor.cond %yes () {\n"
        + opening * depth
        + closing * depth
        + closing
        + "return %y\n}"
    )
    module = parse(text)
    run_pipeline(module, "simplify")
    verify(module)


def test_views_and_errors_are_pickled() -> None:
    view = View(2, f16, Frozen({"align": 64}))
    assert pickle.loads(pickle.dumps(view, 0)) is copy.deepcopy(view) is view
    with pytest.raises(ParseError) as caught:
        parse("func")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
