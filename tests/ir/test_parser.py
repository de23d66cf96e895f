"""The parser: what it reads, and what it says of a text that is not IR."""

import re

import pytest

from brimstone.ir.dims import MAX_SIZE
from brimstone.ir.errors import ParseError, VerifyError
from brimstone.ir.parser import MAX_REGION_DEPTH, parse
from brimstone.ir.printer import print_module
from brimstone.ir.verifier import verify

# A text, and the complaint: line, column and message; only the line where an op is wrong.
TEXTS = [
    ("", "1:1: expected 'func', found the end of the text"),
    ("// only a comment", "1:18: expected 'func', found the end of the text"),
    ("fun @f() {\n  return\n}", "1:1: expected 'func', found 'fun'"),
    ("func f() {\n  return\n}", "1:6: expected '@', found 'f'"),
    ("func @() {\n  return\n}", "1:7: expected the name of a func, found '('"),
    ("func @f {\n  return\n}", "1:9: expected '(', found '{'"),
    ("func @f() with 3 {\n  return\n}", "1:16: expected a mapping {name: value, …}, found '3'"),
    ("func @f() with {a 3} {\n  return\n}", "1:19: expected ':', found '3'"),
    (
        "func @f() -> tensor<[], f32> {\n  return\n}",
        "1:11: @f declares tensor<[], f32> and returns nothing",
    ),
    ("func @f() {\n}", "2:1: expected 'return' at the end of @f"),
    ("func @f() {\n  return\n", "3:1: expected an op or '}', found the end of the text"),
    ("func @f() {\n  return\n}\nfunc @f() {\n  return\n}", "4:1: a func @f stands above already"),
    ("func @f() {\n  return\n}}", "3:2: expected 'func', found '}'"),
    ("func @f<n: 0..4, n: 0..4>() {\n  return\n}", "1:18: the size n is named twice"),
    ("func @f<n: 0-4>() {\n  return\n}", "1:13: expected '..', found '-'"),
    ("func @f<4>() {\n  return\n}", "1:9: expected the name of a size, found '4'"),
    (
        "func @f<n: 0..4>(%x: tensor<[m], f32>) {\n  return\n}",
        "1:30: expected a size, found 'm' (the sizes named here: n)",
    ),
]

ARGUMENTS = [
    ("x: tensor<[], f32>", "1:19: expected an argument (%name), found 'x'"),
    ("%x", "1:21: expected ':', found ')'"),
    ("%x: tensor<[], f32>, %x: tensor<[], f32>", "1:40: %x is defined above already"),
    ("%x: tensor<[], f32> %y: tensor<[], f32>", "1:39: expected ',' or ')', found '%y'"),
    (
        "%x: tensr<[], f32>",
        "1:23: expected a type (tensor, tile, array, view, scalar, vec, buffer, "
        "fragment), found 'tensr'",
    ),
    (
        "%x: tensor<[], float>",
        "1:34: expected a dtype (bf16, bool, c128, c64, f16, f32, f64, f8e4m3, f8e5m2, "
        "i16, i32, i64, i8, u16, u32, u64, u8), found 'float'",
    ),
    ("%x: tensor<[2 3], f32>", "1:33: expected ',' or ']', found '3'"),
    ("%x: tensor<[k], f32>", "1:31: expected a size, found 'k' (the sizes named here: n)"),
    ("%x: tensor<[-1], f32>", "1:23: -1 is not a size: it is never within 0..9223372036854775807"),
    ("%x: tensor<[4], f32", "1:38: expected '>', found ')'"),
    ("%x: tensor[4]", "1:29: expected '<', found '['"),
    ("%x: tensor<4, f32>", "1:30: expected '[', found '4'"),
    (
        "%x: tensor<[9223372036854775808], i8>",
        "1:23: 9223372036854775808 is not a size: it is never within 0..9223372036854775807",
    ),
    (
        "%x: tensor<[4294967296, 4294967296], f32>",
        "1:23: [4294967296, 4294967296] of f32 needs more than 2^63 - 1 bytes",
    ),
    (
        "%x: tensor<[99999999999999999999999999999999999999999], f32>",
        "1:31: an integer of 41 digits is too large",
    ),
    ("%x: tensor<[2*], f32>", "1:33: expected a size, found ']'"),
    ("%x: tensor<[ceildiv(n, 0)], f32>", "1:31: cannot divide n by 0, which may be less than 1"),
    ("%x: tensor<[ceildiv(n)], f32>", "1:31: ceildiv with 1 arguments"),
    (
        "%x: tensor<[n - 65], f32>",
        "1:23: n - 65 is not a size: it is never within 0..9223372036854775807",
    ),
    ("%x: tile<[4, n], f32>", "1:23: a tile has static sizes, not [4, n]"),
    ("%x: vec<0, f32>", "1:23: a vector has 1 to 4096 lanes, not 0"),
    ("%x: buffer<f32, heap>", "1:35: expected one of global, shared, local, found 'heap'"),
    ("%x: tensor<[(n], f32>", "1:33: expected ')', found ']'"),
    ("%x: tensor<[(n, 4)], f32>", "1:31: brackets without a function hold one size"),
    (f"%x: tensor<[{'(' * 65}n], f32>", "1:93: brackets nest more than 64 deep"),
    ("%x: fragment<0, 4, f32, left>", "1:23: a fragment has at least one row and column"),
    ("%x: view<40, f32, {}>", "1:23: a view has rank 0 to 32, not 40"),
    ("%x: tensor<[%n], f32>", "1:31: expected a size, found '%n'"),
]

OPS = [
    (
        "%y = tensor.tanhh %x : T",
        "2:8: expected an op, found 'tensor.tanhh', which no dialect declares; "
        "is it 'tensor.tanh'?",
    ),
    ("%y = tensor.add %x, %z : T", "2:23: %z is not defined here"),
    ("%sum = tensor.add %x,%smu : T", "2:24: %smu is not defined here"),
    (
        '%sum = tensor.exp %x : T  at "a":1\n  %y = tensor.add %suma, %x : T',
        "3:19: %suma is not defined here; is it '%sum'?",
    ),
    (
        "%y = tensor.add %x : T",
        "2: tensor.add: it has 1 operands, 0 attributes, 0 regions, 1 results",
    ),
    (
        "%y = tensor.add %x, %x, %x : T",
        "2: tensor.add: it has 3 operands, 0 attributes, 0 regions, 1 results",
    ),
    ("%y = tensor.add %x, %x", "3:3: expected ':' and the types of the results, found 'return'"),
    ("%y = tensor.add %x %x : T", "2:22: expected ':' and the types of the results, found '%x'"),
    ("%y tensor.add %x, %x : T", "2:3: expected an op or '}', found '%y'"),
    (
        "%y = tensor.add %x, %x : tensor<[n, 4], f64>",
        "2: tensor.add: the result has type tensor<[n, 4], f64>, expected tensor<[n, 4], f32>",
    ),
    ("%y = tensor.add %x, %x : T, T", "2:8: 1 results are named, 2 have a type"),
    ("%x = tensor.add %x, %x : T", "2:8: %x is defined above already"),
    (
        "%y = tensor.add %x, %x {a = 1} : T",
        "2:27: tensor.add: expected an attribute (none), found 'a'",
    ),
    ("%y = tensor.add %x, %x : T at 4", "2:51: expected a quoted string, found '4'"),
    ('%y = tensor.add %x, %x : T at "a.py"', "3:3: expected ':', found 'return'"),
    ("%y = tensor.add %x, %x () { return } : T", "2:26: tensor.add has 0 regions, not more"),
    ("%y = 4", "2:3: expected an op or '}', found '%y'"),
    ("%y, %z = tensor.add %x, %x : T", "2:12: 2 results are named, 1 have a type"),
    ("tensor.add %x, %x : T", "2:3: 0 results are named, 1 have a type"),
    (
        "%y = tensor.iota {shape = [n, 4], axis = 0} : T",
        "2:20: tensor.iota needs the attribute dtype",
    ),
    (
        "%y = tensor.iota {shape = [n, 4], axis = 2, dtype = f32} : T",
        "2: tensor.iota: axis 2 is outside 0..1, the axes: tensor<[n, 4], f32>",
    ),
    (
        "%y = tensor.iota {shape = [n, 4], axis = 1.5, dtype = f32} : T",
        "2:45: expected ',' or '}', found '.5'",
    ),
    (
        "%y = tensor.iota {axis = 0, axis = 0} : T",
        "2:31: tensor.iota: expected each attribute once, found 'axis'",
    ),
    ("%y = tensor.iota {shape = 4} : T", "2:29: expected '[', found '4'"),
    (
        "%y = tensor.iota {dtype = f33} : T",
        "2:29: expected a dtype (bf16, bool, c128, c64, f16, f32, f64, f8e4m3, f8e5m2, "
        "i16, i32, i64, i8, u16, u32, u64, u8), found 'f33'",
    ),
    ("%y = tensor.iota {axis = 0 dtype = f32} : T", "2:30: expected ',' or '}', found 'dtype'"),
    (
        "%y = tensor.constant {value = one} : tensor<[], f32>",
        "2:33: expected a number, found 'one'",
    ),
    (
        "%y = tensor.constant {value = 1.5} : tensor<[], i32>",
        "2:8: tensor.constant: 1.5 is not a value of i32",
    ),
    (
        "%y = tensor.constant {value = 300} : tensor<[], i8>",
        "2:8: tensor.constant: 300 does not fit i8",
    ),
    (
        "%y = tensor.constant {value = -1} : tensor<[], u8>",
        "2:8: tensor.constant: -1 does not fit u8",
    ),
    (
        "%y = tensor.constant {value = [1, [2]]} : tensor<[2], i8>",
        "2:33: expected rows of equal, non-zero length",
    ),
    (
        "%y = tensor.constant {value = [1, 2]} : tensor<[3], i8>",
        "2: tensor.constant: the result has type tensor<[3], i8>, expected tensor<[2], i8>",
    ),
    (
        "%y = tensor.constant {value = []} : tensor<[0], i8>",
        "2:33: expected rows of equal, non-zero length",
    ),
    (
        "%y = tensor.constant {value = 0x100} : tensor<[], u8>",
        "2:8: tensor.constant: 0x100 has more bits than u8",
    ),
    (
        "%y = tensor.constant {value = (1, 2)} : tensor<[], f32>",
        "2:8: tensor.constant: (1, 2) is not a value of f32",
    ),
    (
        "%y = tensor.constant {value = 1} : tensor<[], bool>",
        "2:8: tensor.constant: 1 is not a value of bool",
    ),
    (
        "%y = tensor.constant {value = nan} : tensor<[], i32>",
        "2:8: tensor.constant: nan is not a value of i32",
    ),
    (
        "%y = tensor.constant {value = 1.0} : scalar<f32>",
        "2: tensor.constant: the result has type scalar<f32>, expected tensor<[], f32>",
    ),
    (
        "%y = tensor.attention %x, %x, %x {scale = 0x10000000000000000} (%s: T) { yield %s } : T",
        "2:37: 0x10000000000000000 has more bits than f64",
    ),
    ("return %x", "3:10: %y is not defined here"),
    ("$", "2:3: expected an op or '}', found '$'"),
    ("%y = tensor.tanh %x {} : T /* why */", "2:48: expected an op or '}', found '/'"),
]


def complaint(text: str) -> str:
    """The first line of the error, without the name of the file."""
    with pytest.raises((ParseError, VerifyError)) as caught:
        verify(parse(text, "file"))
    return str(caught.value).split("\n")[0].removeprefix("file:")


@pytest.mark.parametrize(("text", "said"), TEXTS)
def test_bad_texts(text: str, said: str) -> None:
    assert complaint(text) == said


@pytest.mark.parametrize(("arguments", "said"), ARGUMENTS)
def test_bad_arguments(arguments: str, said: str) -> None:
    assert complaint(f"func @f<n: 0..64>({arguments}) {{\n  return\n}}") == said


@pytest.mark.parametrize(("op", "said"), OPS)
def test_bad_ops(op: str, said: str) -> None:
    text = f"func @f<n: 0..64>(%x: T) -> T {{\n  {op}\n  return %y\n}}"
    assert complaint(re.sub(r"\bT\b", "tensor<[n, 4], f32>", text)) == said


def test_a_complaint_points_at_the_place() -> None:
    with pytest.raises(ParseError) as caught:
        parse("func @f(%x: tensor<[2 3], f32>) {\n  return\n}", "a.ir")
    assert str(caught.value).split("\n") == [
        "a.ir:1:23: expected ',' or ']', found '3'",
        "  func @f(%x: tensor<[2 3], f32>) {",
        " " * 24 + "^",
    ]
    assert (caught.value.file, caught.value.line, caught.value.column) == ("a.ir", 1, 23)


def test_a_broken_rule_names_the_op_and_its_types() -> None:
    with pytest.raises(VerifyError) as caught:
        parse(
            "func @f(%x: scalar<f32>) {\n  %y = tensor.tanh %x : scalar<f32>\n  return\n}", "a.ir"
        )
    assert str(caught.value).split("\n") == [
        "a.ir:2: tensor.tanh: x has type scalar<f32>, expected a tensor",
        "  in: %y = tensor.tanh %x : scalar<f32>",
        "  operands: scalar<f32>",
    ]


@pytest.mark.parametrize(
    "type_",
    [
        "tensor<[], f32>",
        "tensor<[0], f32>",
        "tensor<[3, 0, 2], i8>",
        "tensor<[1, 2, 1, 2, 1, 2, 1, 2], bool>",
        f"tensor<[{MAX_SIZE}], i8>",
        f"tensor<[{MAX_SIZE}, 0], u8>",
        "tensor<[n, 2*n + 1, ceildiv(n, 4), min(n, 32), max(m, n)], c128>",
        "tile<[64, 1], bf16>",
        "array<[n], f8e5m2>",
        'view<2, f16, {unit: true, name: "x", sizes: [n, 4]}>',
        "scalar<i64>",
        "vec<16, f8e4m3>",
        "buffer<u32, shared>",
        "fragment<16, 8, f32, accumulator>",
    ],
)
def test_types_print_as_they_are_read(type_: str) -> None:
    text = f"func @f<n: 1..64 % 8, m: 0..70>(%x: {type_}) {{\n  return\n}}\n"
    assert print_module(parse(text)) == text


@pytest.mark.parametrize("size", [2**63, 2**64, 2**80, -1, -(2**80)])
def test_sizes_that_no_tensor_has(size: int) -> None:
    said = f"1:13: {size} is not a size: it is never within 0..{MAX_SIZE}"
    assert complaint(f"func @f(%x: tensor<[{size}], f32>) {{\n  return\n}}") == said


def test_space_comments_and_order_of_attributes_are_free() -> None:
    free = """
    // a comment
    func   @f ( ) -> tensor<[ 2 ],f32>
    { // another
      %i=tensor.iota   {dtype = f32,
        shape=[2], axis = 0}: tensor<[2], f32>
      return %i }
    """
    assert print_module(parse(free)) == (
        "func @f() -> tensor<[2], f32> {\n"
        "  %i = tensor.iota {shape = [2], axis = 0, dtype = f32} : tensor<[2], f32>\n"
        "  return %i\n"
        "}\n"
    )


def test_regions_nest_only_so_deep() -> None:
    nested = "tensor.cond %p () {\n" * (MAX_REGION_DEPTH + 2)
    text = f"func @f(%p: tensor<[], bool>) {{\n{nested}"
    assert f"regions nest more than {MAX_REGION_DEPTH} deep" in complaint(text)


def test_names_of_a_region_end_with_it() -> None:
    text = (
        "func @f(%p: tensor<[], bool>, %x: tensor<[], f32>) -> tensor<[], f32> {\n"
        "  %y = tensor.cond %p () {\n    %z = tensor.exp %x : tensor<[], f32>\n    yield %z\n"
        "  } () {\n    yield %x\n  } : tensor<[], f32>\n"
        "  return %z\n}\n"
    )
    assert complaint(text) == "8:10: %z is not defined here"
    module = parse(text.replace("return %z", "return %y"))
    verify(module)
