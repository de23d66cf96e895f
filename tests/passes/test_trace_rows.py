"""`passes.trace`: what values are called in all passes, and which line became which."""

from collections.abc import Sequence

from brimstone.ir.func import Func, Module
from brimstone.ir.parser import parse
from brimstone.ir.printer import print_module
from brimstone.passes import Context, pipeline_pass
from brimstone.passes.copying import copy_module
from brimstone.passes.trace import Recorder
from brimstone.passes.trace.align import Row, align, in_order
from brimstone.passes.trace.lines import Line, lines_of
from brimstone.passes.trace.names import Names
from kit.layers import network
from kit.traces import NESTED, UNNAMED, adding, record


@pipeline_pass("rebuild")
def rebuild(func: Func, context: Context) -> None:
    """Make every op anew."""
    copy = copy_module(Module([func]))[func.name]
    context.module.funcs[func.name] = copy


@pipeline_pass("reverse")
def reverse(func: Func, context: Context) -> None:
    """Move the second op to the front."""
    first, second, *_ = func.body
    func.body.move(second, first)


def texts(lines: Sequence[Line]) -> list[str]:
    return [line.text.strip() for line in lines]


def changes(recorder: Recorder, func: str = "f") -> list[tuple[str | None, str | None]]:
    """The rows of the last pass in which not both sides are the same."""
    before = [recorder.start, *(moment.lines for moment in recorder.moments)][-2][func]
    after = recorder.last[func]
    rows = [
        (
            None if row.before is None else before[row.before].text.strip(),
            None if row.after is None else after[row.after].text.strip(),
        )
        for row in align(before, after)
    ]
    return [row for row in rows if row[0] != row[1]]


def test_lines_know_their_ops() -> None:
    func = parse(NESTED, "a.ir").main
    lines = lines_of(func, Names())
    assert "\n".join(line.text for line in lines) + "\n" == NESTED
    assert [line.location[0][1] for line in lines] == [1, 2, 3, 4, 2, 6, 2, 8, 1]
    assert len({line.key for line in lines}) == len(lines)


def test_a_value_keeps_its_number_while_others_go() -> None:
    recorder = record(UNNAMED, "dead,cse")
    assert texts(recorder.last["f"])[1:-1] == [
        "%0 = tensor.exp %x : tensor<[4], f32>",
        "%3 = tensor.add %0, %0 : tensor<[4], f32>",
        "return %3",
    ]


def test_a_number_is_not_given_twice() -> None:
    recorder = record(UNNAMED.replace("tensor.add", "tensor.multiply"), (adding,))
    assert "%4 = tensor.add %0, %2 : tensor<[4], f32>" in texts(recorder.last["f"])


def test_hints_are_as_before() -> None:
    module = parse(NESTED)
    Recorder(module)
    assert print_module(module) == NESTED
    assert [value.name for value in parse(UNNAMED).main.arguments] == ["x"]
    unnamed = parse(UNNAMED)
    Recorder(unnamed)
    assert all(op.results[0].name is None for op in unnamed.main.body if op.results)


def test_names_that_two_values_want_are_told_apart() -> None:
    func = parse(NESTED).main
    for op in func.walk():
        for result in op.results:
            result.name = "x"
    names = Names()
    assert sorted(names.of(func).values()) == ["a", "b", "x", "x_1", "x_2", "yes"]
    assert names.of(func) == names.of(func)


def test_a_func_that_was_built_anew_is_compared_by_its_text() -> None:
    assert changes(record(UNNAMED, (rebuild,))) == []
    assert changes(record(NESTED, (rebuild,))) == []


def test_readers_of_another_value_are_changed_lines() -> None:
    recorder = record(UNNAMED, "dead,cse")
    assert changes(recorder) == [
        ("%2 = tensor.exp %x : tensor<[4], f32>", None),
        ("%3 = tensor.add %0, %2 : tensor<[4], f32>", "%3 = tensor.add %0, %0 : tensor<[4], f32>"),
    ]


def test_an_op_that_takes_over_a_name_stands_beside_the_old_one() -> None:
    text = UNNAMED.replace("%3 = tensor.add", "%sum = tensor.multiply").replace("%3", "%sum")
    assert changes(record(text, (adding,)))[-1] == (
        "%sum = tensor.multiply %0, %2 : tensor<[4], f32>",
        "%sum = tensor.add %0, %2 : tensor<[4], f32>",
    )


def test_what_moves_is_taken_out_and_put_in() -> None:
    moved = "%1 = tensor.tanh %x : tensor<[4], f32>"
    other = "%0 = tensor.exp %x : tensor<[4], f32>"
    found = changes(record(UNNAMED, (reverse,)))
    assert found in ([(None, moved), (moved, None)], [(other, None), (None, other)])


def test_places_in_order_do_not_cross() -> None:
    assert in_order("abcde", "bacde") in (
        [(0, 1), (2, 2), (3, 3), (4, 4)],
        [(1, 0), (2, 2), (3, 3), (4, 4)],
    )
    assert in_order("abc", "") == []
    assert in_order("aab", "aab") == [(2, 2)]
    assert in_order([None, "x"], [None, "x"]) == [(1, 1)]
    assert in_order("dabc", "abcd") == [(1, 0), (2, 1), (3, 2)]


def test_every_line_stands_in_one_row() -> None:
    recorder = record(network(2, "model.py"), "simplify")
    before, after = recorder.start["main"], recorder.last["main"]
    rows = align(before, after)
    assert [row.before for row in rows if row.before is not None] == list(range(len(before)))
    assert [row.after for row in rows if row.after is not None] == list(range(len(after)))
    assert rows[0] == Row(0, 0)
