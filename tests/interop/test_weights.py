"""Names, choices, dtypes and shapes of tensors on their way into a model."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import interop
from brimstone.frontend.errors import ArgumentError, DTypeError
from brimstone.interop.weights import convert, match, remap, select

ONE, TWO, THREE = (bs.asarray(np.full(shape, 1.5, np.float32)) for shape in ((2, 3), (3,), ()))


def test_rules_are_applied_one_after_the_other() -> None:
    tensors = {"module.layer1.weight": ONE, "module.layer2.weight": TWO, "other": THREE}
    rules = {r"^module\.": "", r"layer(\d)\.": r"layers.\1.", r"weight$": "kernel"}
    assert remap(tensors, rules) == {
        "layers.1.kernel": ONE, "layers.2.kernel": TWO, "other": THREE,
    }  # fmt: skip
    assert remap(tensors, {}) == tensors


def test_two_tensors_do_not_get_one_name() -> None:
    with pytest.raises(ArgumentError, match=r"'a\.1' and 'a\.2' would both be called 'a'"):
        remap({"a.1": ONE, "a.2": TWO}, {r"\.\d": ""})
    with pytest.raises(ArgumentError, match="'x' and 'y' would both be called 'y'"):
        remap({"x": ONE, "y": TWO}, {"x": "y"})
    assert remap({"x": ONE, "y": TWO}, {"y": "z", "x": "y"}) == {"y": ONE, "z": TWO}


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        ({"(": ""}, r"'\(' is no regular expression: missing \)"),
        ({1: ""}, "1 is no regular expression"),
        ({"a": r"\1"}, r"replaces nothing: invalid group reference 1"),
        ({"a": 1}, "1 replaces nothing"),
    ],
)
def test_rules_that_are_none(rules: Any, reason: str) -> None:
    with pytest.raises(ArgumentError, match=reason):
        remap({"a": ONE}, rules)


def test_tensors_are_selected_by_what_is_in_their_names() -> None:
    tensors = {"encoder.0": ONE, "encoder.1": TWO, "head": THREE}
    assert select(tensors, "^encoder") == {"encoder.0": ONE, "encoder.1": TWO}
    assert select(tensors, ["head", r"\.0$"]) == {"encoder.0": ONE, "head": THREE}
    with pytest.raises(ArgumentError, match=r"'decoder' is found in no name\n.*\n.*'encoder\.0'"):
        select(tensors, ["head", "decoder"])


def test_a_part_of_a_file_is_read(tmp_path: Path) -> None:
    interop.safetensors.save(tmp_path / "file", {"a.x": ONE, "a.y": np.arange(3), "b": TWO})
    with interop.open(tmp_path / "file") as reader:
        found = convert(remap(select(reader, r"^a\."), {r"^a\.": ""}), "bfloat16")
    assert {name: (each.dtype.name, each.shape) for name, each in found.items()} == {
        "x": ("bfloat16", (2, 3)), "y": ("int64", (3,)),
    }  # fmt: skip


def test_floats_are_converted_and_all_else_stays() -> None:
    whole = bs.asarray([1, 2])
    found = convert({"a": ONE, "b": whole, "c": bs.asarray([True])}, bs.float16)
    assert [each.dtype.name for each in found.values()] == ["float16", "int64", "bool"]
    assert found["b"] is whole
    assert convert({"a": ONE}, bs.float32)["a"] is ONE
    with pytest.raises(DTypeError, match="another float dtype, not int64"):
        convert({"a": ONE}, int)


def test_what_fits_is_given_back_in_the_order_that_is_expected() -> None:
    found = match({"b": (3,), "a": ONE}, {"a": ONE, "b": TWO})
    assert [*found.tensors.items()] == [("b", TWO), ("a", ONE)]
    assert (found.missing, found.unexpected) == ([], [])
    part = match({"b": (3,), "c": ()}, {"a": ONE, "b": TWO}, partial=True)
    assert part == ({"b": TWO}, ["c"], ["a"])


def test_all_that_does_not_fit_is_said_at_once() -> None:
    expected = {"a": (3, 2), "b": (4,), "c": (1,), "d": ()}
    with pytest.raises(interop.MismatchError) as caught:
        match(expected, {"a": ONE, "b": TWO, "x": THREE, "y": THREE})
    lines = str(caught.value).splitlines()
    assert [line for line in lines if "at: " not in line] == [
        "match: the tensors do not fit what is expected",
        "  missing (2): 'c', 'd'",
        "  unexpected (2): 'x', 'y'",
        "  'a' is float32[2, 3] and should be [3, 2], which is its transpose",
        "  'b' is float32[3] and should be [4]",
    ]


def test_shapes_that_differ_are_refused_in_parts_too() -> None:
    with pytest.raises(interop.MismatchError, match=r"'b' is float32\[3\] and should") as caught:
        match({"b": (4,), "c": ()}, {"b": TWO}, partial=True)
    assert "missing" not in str(caught.value)


@pytest.mark.parametrize(
    ("expected", "found", "hint"),
    [
        ("ab", ["net.a", "net.b"], r"remap(tensors, {'^net\\.': ''})"),
        (["net.a", "net.b"], "ab", "remap(tensors, {'^': 'net.'})"),
        ("ab", ["net.a", "net.c"], "with partial=True"),
        ("ab", "a", "with partial=True"),
    ],
)
def test_names_that_differ_by_their_beginning(expected: Any, found: Any, hint: str) -> None:
    with pytest.raises(interop.MismatchError) as caught:
        match({name: (3,) for name in expected}, {name: TWO for name in found})
    assert f"hint: {hint}" in str(caught.value).replace("`", "")


def test_stored_tensors_are_matched_unread(tmp_path: Path) -> None:
    interop.safetensors.save(tmp_path / "file", {"a": ONE})
    reader = interop.open(tmp_path / "file")
    assert match({"a": (2, 3)}, reader).tensors["a"].read().tolist() == ONE.tolist()
    with pytest.raises(interop.MismatchError, match=r"'a' is float32\[2, 3\] and should be \[2\]"):
        match({"a": (2,)}, reader)
