"""Kinds of attribute: what they take, what they print, and that equal means equal bits."""

from enum import Enum
from typing import Any

import pytest

from brimstone.ir.attributes import Frozen, Kind, Ref, Shape, kind_of
from brimstone.ir.dims import Size, Symbol, ceil_div
from brimstone.ir.dtypes import DType, f32, f64, i8
from brimstone.ir.errors import ParseError, Unmet
from brimstone.ir.payloads import Number
from brimstone.ir.scanner import Scanner

N = Symbol("n", 0, 64)


class Policy(Enum):
    """What to do."""

    KEEP = "keep"
    DROP_ALL = "drop_all"


def read(kind: Kind, text: str) -> Any:
    """What a kind reads from all of a text, where the size n is named."""
    scanner = Scanner(text)
    scanner.symbols = {"n": N}
    value = kind.normalise(kind.parse(scanner))
    assert scanner.skip() == len(text)
    return value


ROUND_TRIPS: list[tuple[Any, Any, str]] = [
    (int, -12, "-12"),
    (int, 2**63, "9223372036854775808"),
    (bool, True, "true"),
    (bool, False, "false"),
    (str, 'a "b"\\\n\r\té', '"a \\"b\\"\\\\\\n\\r\té"'),
    (str, "", '""'),
    (Ref, Ref("part_1"), "@part_1"),
    (Size, 4, "4"),
    (Size, 2 * N + 1, "2*n + 1"),
    (Size, ceil_div(N, 4), "ceildiv(n, 4)"),
    (DType, i8, "i8"),
    (Policy, Policy.DROP_ALL, "drop_all"),
    (tuple[int, ...], (), "[]"),
    (tuple[int, ...], (1, -2), "[1, -2]"),
    (tuple[tuple[int, int], ...], ((0, 1), (1, 0)), "[[0, 1], [1, 0]]"),
    (tuple[str, ...], ("a", "b"), '["a", "b"]'),
    (Shape, (N, 4), "[n, 4]"),
    (Frozen, Frozen({}), "{}"),
    (
        Frozen,
        Frozen({"a": 1, "b": True, "c": [1, True, f32], "d": {"e": "x", "f": N, "g": 1.5}}),
        '{a: 1, b: true, c: [1, true, f32], d: {e: "x", f: n, g: 1.5}}',
    ),
]  # fmt: skip


@pytest.mark.parametrize(("annotation", "value", "text"), ROUND_TRIPS)
def test_kinds_print_and_are_read_back(annotation: Any, value: Any, text: str) -> None:
    kind = kind_of(annotation)
    assert kind.normalise(value) == value
    assert kind.text(value) == text
    assert read(kind, text) == value


@pytest.mark.parametrize(
    ("value", "text"), [(0.5, "0.5"), (3, "3.0"), (-0.0, "-0.0"), (1e300, "1e+300"), (0.1, "0.1")]
)
def test_floats_are_kept_as_doubles(value: float, text: str) -> None:
    kind = kind_of(float)
    kept = kind.normalise(value)
    assert kind.text(kept) == text
    assert read(kind, text) == kept
    assert float(kept) == value


@pytest.mark.parametrize(
    ("annotation", "value", "said"),
    [
        (int, 1.0, "expected an integer, got 1.0"),
        (int, "1", "expected an integer, got '1'"),
        (int, None, "expected an integer, got None"),
        (bool, 1, "expected true or false, got 1"),
        (str, b"a", "expected a string, got b'a'"),
        (Ref, "a b", "expected the name of a func, got 'a b'"),
        (Size, 1.5, "expected an integer, got 1.5"),
        (float, True, "expected a number, got True"),
        (float, "1", "expected a number, got '1'"),
        (DType, "f32", "expected a dtype, got 'f32'"),
        (Policy, "keep", "expected one of keep, drop_all, got 'keep'"),
        (tuple[int, ...], 3, "expected a list, each an integer, got 3"),
        (tuple[int, ...], [1, "a"], "expected an integer, got 'a'"),
        (Frozen, 3, "expected a mapping {name: value, …}, got 3"),
        (Frozen, {"a b": 1}, "expected names in a mapping, got 'a b'"),
        (Frozen, {1: 2}, "expected names in a mapping, got 1"),
    ],
)
def test_other_values_are_refused(annotation: Any, value: Any, said: str) -> None:
    with pytest.raises(Unmet) as caught:
        kind_of(annotation).normalise(value)
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("annotation", "text", "said"),
    [
        (bool, "yes", "expected true or false, found 'yes'"),
        (Policy, "drop", "expected one of keep, drop_all, found 'drop'"),
        (Frozen, "{a: 1, a: 2}", "expected each name once, found 'a'"),
        (tuple[int, ...], "[1, 2", "expected ',' or ']', found the end of the text"),
        (str, "'a'", "expected a quoted string, found '''"),
    ],
)
def test_other_texts_are_refused(annotation: Any, text: str, said: str) -> None:
    with pytest.raises(ParseError) as caught:
        read(kind_of(annotation), text)
    assert caught.value.message == said


def test_equal_means_equal_bits() -> None:
    doubles = kind_of(float)
    assert doubles.normalise(0.0) != doubles.normalise(-0.0)
    assert doubles.normalise(float("nan")) == doubles.normalise(float("nan"))
    assert hash(doubles.normalise(float("nan"))) == hash(doubles.normalise(float("nan")))
    assert doubles.normalise(1) == doubles.normalise(1.0)
    assert Frozen({"a": 1}) != Frozen({"a": True})
    assert Frozen({"a": [1]}) == Frozen({"a": (1,)})
    assert Frozen({"a": 1, "b": 2}) != Frozen({"b": 2, "a": 1})
    assert hash(Frozen({"a": [1]})) == hash(Frozen({"a": (1,)}))
    assert Number(1.0, f32) is not Number(1.0, f64)


def test_an_integer_is_never_a_bool() -> None:
    """The first of two equal values is kept, so this decides what later ones print."""
    assert kind_of(int).normalise(True).__class__ is int
    (kept,) = kind_of(tuple[int, ...]).normalise([True])
    assert kept.__class__ is int


def test_equal_lists_are_one_object() -> None:
    kind = kind_of(tuple[int, ...])
    assert kind.normalise([1, 2, 3]) is kind.normalise((1, 2, 3))


def test_mappings_are_read_as_such() -> None:
    frozen = Frozen({"tile": {"m": 128}, "warps": 8})
    assert dict(frozen["tile"]) == {"m": 128}
    assert list(frozen) == ["tile", "warps"]
    assert len(frozen) == 2
    assert {**frozen, "warps": 4}["warps"] == 4


def test_annotations_without_a_kind_are_refused() -> None:
    with pytest.raises(TypeError, match="no attribute kind for"):
        kind_of(object)
