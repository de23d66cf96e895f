"""`explain`: what it tells of kernels is true, in the user's lines; nothing is compiled for it."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from rich.console import Console

import brimstone as bs
from brimstone.frontend.explanation import Explanation
from brimstone.frontend.explanation.kernels import readable
from brimstone.frontend.explanation.labels import argument_labels
from brimstone.frontend.tree import flatten
from brimstone.runtime.steps import STATISTICS
from kit.browser import needs_browser, tales

FILE = Path(__file__).name
LIGHT, DARK = (f"--blink-settings=preferredColorScheme={number}" for number in (1, 0))
CONTRAST = """
const parts = (color) => color.match(/[\\d.]+/g).map(Number);
const light = (color) => parts(color).slice(0, 3).map((each) => each / 255)
  .map((each) => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4)
  .reduce((sum, each, at) => sum + each * [0.2126, 0.7152, 0.0722][at], 0);
const behind = (element) => {
  const color = getComputedStyle(element).backgroundColor;
  return element.parentElement && parts(color)[3] === 0 ? behind(element.parentElement) : color;
};
const shown = [...document.querySelectorAll("article *:not(style)")].filter((element) =>
  [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
tell("shown", shown.length);
tell("behind", parts(behind(document.querySelector("article"))).slice(0, 3));
tell("weak", shown.filter((element) => {
  const pair = [light(getComputedStyle(element).color), light(behind(element))];
  return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05) < 4.5;
}).map((element) => element.outerHTML));
tell("wide", document.documentElement.scrollWidth > innerWidth);
told();
"""


@pytest.fixture(autouse=True)
def on_cpu() -> Iterator[None]:
    with bs.device("cpu"):
        yield


def ranked(x: bs.Tensor) -> bs.Tensor:
    shares = bs.softmax(x * 0.25)
    return bs.sort(shares)


def scaled(x: bs.Tensor) -> bs.Tensor:
    return bs.exp(x * 2.5) + 1.0


def matrix(rows: int, columns: int) -> bs.Tensor:
    return bs.asarray(np.linspace(-1, 1, rows * columns, dtype=np.float32).reshape(rows, columns))


def explain(function: Callable[..., Any], *args: Any) -> Explanation:
    return bs.explain(function)(*args)


def test_each_kernel_has_its_lines() -> None:
    softmax, sort = explain(ranked, matrix(8, 16)).kernels
    assert [line.text for line in softmax.lines] == ["shares = bs.softmax(x * 0.25)"]
    assert [line.text for line in sort.lines] == ["return bs.sort(shares)"]
    first = ranked.__code__.co_firstlineno
    assert softmax.lines[0].place.endswith(f"{FILE}:{first + 1}")
    assert softmax.name.startswith("softmax_test_explain_")
    assert {"multiply", "exp", "reduce_sum"} < {*softmax.ops}


def test_the_lines_are_those_of_this_function() -> None:
    """The step was compiled for another function that does the same."""
    one, other = bs.jit(lambda x: x * x - x), bs.jit(lambda x: x * x - x)
    one(matrix(3, 5)).sync()
    (kernel,) = other.explain(matrix(3, 5)).kernels
    assert other.explain(matrix(3, 5)).new_steps == 0
    assert kernel.lines[0].number == other.function.__code__.co_firstlineno


@pytest.mark.parametrize(("rows", "columns"), [(2, 3), (7, 64), (64, 7), (33, 65)])
def test_bytes_are_those_of_the_arrays(rows: int, columns: int) -> None:
    softmax, sort = explain(ranked, matrix(rows, columns)).kernels
    whole = 4 * rows * columns
    assert softmax.reads[0].name == "x"
    assert [each.bytes.number for each in softmax.reads] == [whole, 4]
    assert [each.bytes.number for each in softmax.writes] == [whole]
    assert softmax.moved.number == 2 * whole + 4
    assert (sort.moved.number, sort.saved.number) == (2 * whole, 0)
    assert str(softmax.writes[0].bytes.formula) == "4*n0*n1"
    assert softmax.writes[0].type == f"f32[{rows}, {columns}]"
    assert (sort.reads[0].source, sort.writes[0].name) == (softmax.name, "the result")


def test_what_fusion_saves_is_what_ops_would_move() -> None:
    """`x * 2.5`, `exp` and `+ 1`: what lies between them is written once and read once."""
    told = explain(scaled, matrix(4, 8))
    assert told.saved == 4 * (4 * 8 * 4)
    assert told.moved == 2 * (4 * 8 * 4) + 4
    assert "saved      512 B  16*n0*n1\n" in str(told)


def test_each_boundary_has_its_reason() -> None:
    softmax, sort = explain(ranked, matrix(8, 16)).kernels
    assert softmax.apart == {sort.name: "sort has a kernel of its own"}
    assert sort.apart == {}
    assert f"apart      from {sort.name}: sort has a kernel of its own\n" in str(
        explain(ranked, matrix(8, 16))
    )


def test_arrays_of_one_shape_have_their_own_sources() -> None:
    def both(x: bs.Tensor, y: bs.Tensor) -> bs.Tensor:
        return bs.sort(x) + bs.sort(y)

    *sorts, added = explain(both, matrix(8, 16), matrix(8, 16)).kernels
    assert [each.source for each in added.reads] == [each.name for each in sorts]


def test_what_is_interpreted_is_what_has_no_code() -> None:
    f = bs.jit(lambda x: bs.sort(bs.exp(x)))
    told = f.explain(matrix(8, 16))
    f(matrix(8, 16)).sync()
    program: Any = f.plans[0].executable
    reasons = {reason for kernel in told.kernels for reason in kernel.reasons}
    assert reasons == {*program.code.refused.values()}
    does = {kernel.name: kernel.does for kernel in told.kernels}
    assert {name for name, how in does.items() if how == "interpreted"} == {*program.code.refused}
    assert "machine code" in does.values()


@pytest.mark.parametrize(
    ("sizes", "stages"),
    [
        ((2, 8, 16), {"pack_few", "few"}),
        ((64, 32, 16), {"alone"}),
        ((64, 700, 16), {"parts", "added"}),
        ((512, 64, 512), {"pack_left", "pack_right", "main"}),
    ],
)
def test_stages_are_those_of_these_sizes(sizes: tuple[int, int, int], stages: set[str]) -> None:
    rows, inner, columns = sizes
    told = explain(bs.matmul, matrix(rows, inner), matrix(inner, columns))
    (product,) = told.kernels
    assert {each.name for each in product.stages if each.is_made} == stages
    others = {each.name for each in product.stages if each.is_made is False}
    text = str(told)
    assert others
    assert all(name in text for name in others | stages)
    assert all(each.tile["n"] > 0 for each in product.stages)


def test_explaining_compiles_and_counts_nothing() -> None:
    f = bs.jit(lambda x: bs.tanh(x) * 1.75 - x)
    compiled, planned = STATISTICS.compiled, STATISTICS.planned
    told = f.explain(matrix(3, 4))
    assert (STATISTICS.compiled, STATISTICS.planned) == (compiled, planned)
    assert (told.kinds, told.steps, told.new_steps) == (0, (), 1)
    assert "not called yet; a call with these arguments compiles 1 step" in str(told)


def test_a_new_batch_size_compiles_nothing() -> None:
    f = bs.jit(lambda x, w: bs.softmax(bs.cosh(x @ w)))
    w = matrix(16, 8)
    f(matrix(32, 16), w).sync()
    compiled = STATISTICS.compiled
    told = f.explain(matrix(47, 16), w)
    assert (told.new_steps, told.kinds, len(told.steps)) == (0, 1, 1)
    f(matrix(47, 16), w).sync()
    assert STATISTICS.compiled == compiled
    told = f.explain(matrix(5, 16), w)
    assert (told.new_steps, told.kinds, len(told.steps)) == (0, 2, 1)
    (step,) = told.steps
    assert step.takes == ("f32[n0, n1]", "f32[n1, n2]")
    assert step.bounds == ("n0 2 or more", "n1 2 or more", "n2 2 or more")
    assert step.kinds == ("n0 = 32, n1 = 16, n2 = 8", "n0 = 47, n1 = 16, n2 = 8")
    assert "1 step compiled for 2 kinds of arguments so far; a call" in str(told)
    assert str(told).count("compiles nothing") == 1


def test_a_new_fact_compiles_a_step() -> None:
    """One row is a fact, and what is compiled for it says so."""
    f = bs.jit(lambda x: bs.sinh(x) / x.sum(0))
    f(matrix(32, 16)).sync()
    assert f.explain(matrix(1, 16)).new_steps == 1
    f(matrix(1, 16)).sync()
    told = f.explain(matrix(1, 16))
    assert (told.new_steps, told.kinds) == (0, 2)
    assert [step.takes for step in told.steps] == [("f32[n0, n1]",), ("f32[1, n0]",)]


def test_sizes_have_a_place() -> None:
    (part,) = explain(bs.matmul, matrix(4, 8), matrix(8, 2)).parts
    found = [(each.name, each.number, each.place, each.bounds) for each in part.sizes]
    assert found == [
        ("n0", 4, "axis 0 of x", "2 or more"),
        ("n1", 8, "axis 1 of x", "2 or more"),
        ("n2", 2, "axis 1 of y", "2 or more"),
    ]


def test_named_sizes_keep_their_names() -> None:
    f = bs.jit(lambda x: x * 3.0, dynamic={"x": {0: bs.dim("batch", 1, 64)}})
    told = f.explain(matrix(12, 5))
    assert ("batch", 12, "1..64") in [each[:3] for each in told.parts[0].sizes]
    assert str(told.kernels[0].writes[0].bytes.formula) == "4*batch*n0"
    assert told.kernels[0].writes[0].bytes.number == 4 * 12 * 5


def test_the_reference_runs_each_op() -> None:
    told = explain(scaled, bs.ones((2, 3), device="reference"))
    assert (told.device, told.kernels, told.moved) == ("reference", (), 0)
    assert "the interpreter runs each op by itself; nothing is fused" in str(told)
    assert f"{FILE}:{scaled.__code__.co_firstlineno + 1}: " in str(told)
    assert "ops by line" in told.html()


def test_sizes_that_the_data_decide() -> None:
    told = explain(lambda x: bs.exp(x[x > 0]) * 1.5, matrix(4, 8))
    assert (len(told.parts), told.new_steps, told.moved) == (2, 2, None)
    assert "`index` at" in told.parts[0].ends[0]
    unknown = [each for kernel in told.kernels for each in kernel.writes if "count0" in each.type]
    assert unknown
    assert all(str(each.bytes) == "?" for each in unknown)
    assert "count0, known when the data are; may be 0 or more" in str(told)
    assert "how much memory is moved depends on values" in told.html()


def test_memory_that_the_host_fills() -> None:
    def placed(x: bs.Tensor) -> bs.Tensor:
        return bs.zeros(32).at[bs.asarray([3, 5])].set(x)

    filling = [each for each in explain(placed, bs.ones(2)).kernels if not each.stages]
    assert [each.does for each in filling] == ["done by the host"]
    assert [each.writes[0].bytes.number for each in filling] == [4 * 32]


def test_many_kinds_are_not_all_listed() -> None:
    f = bs.jit(lambda x: bs.expm1(x) * 0.125)
    for rows in range(2, 9):
        f(matrix(rows, 3)).sync()
    text = str(f.explain(matrix(2, 3)))
    assert "1 step compiled for 7 kinds of arguments so far" in text
    assert "    n0 = 5, n1 = 3\n    and 3 more\n" in text


def test_the_line_of_a_gradient_is_not_in_every_kernel() -> None:
    def loss(x: bs.Tensor) -> bs.Tensor:
        return bs.cumulative_sum(bs.tanh(x), axis=0).sum()

    told = explain(bs.grad(loss), matrix(8, 16))
    assert len(told.kernels) > 1
    texts = {line.text for kernel in told.kernels for line in kernel.lines}
    assert texts == {"return bs.cumulative_sum(bs.tanh(x), axis=0).sum()"}


def test_loops_say_how_often() -> None:
    told = explain(lambda x: bs.fori_loop(0, 12, lambda _, y: bs.tanh(y), x), matrix(4, 8))
    kernel = next(each for each in told.kernels if "tanh" in each.name)
    assert (kernel.times.number, kernel.moved.number) == (12, 12 * 2 * 4 * 8 * 4)
    assert f"{kernel.name}  machine code, 12 times" in str(told)


def test_what_is_read_from_outside_and_the_hidden_key() -> None:
    outer = matrix(4, 8)
    told = explain(lambda x: x + outer + bs.random.uniform(shape=(4, 8)), matrix(4, 8))
    assert told.takes == {"x": "f32[4, 8]", "outside[0]": "f32[4, 8]"}
    assert {each.name for kernel in told.kernels for each in kernel.reads} >= {
        "x",
        "outside[0]",
        "the key",
    }


class Pair(NamedTuple):
    one: Any
    two: Any


@dataclass
class Layer:
    weight: Any
    bias: Any


def taking(x: Any, /, *rest: Any, scale: Any = None) -> None: ...


@pytest.mark.parametrize(
    ("args", "kwargs", "labels"),
    [
        ((1,), {}, ["x"]),
        (([1, (2, 3)],), {}, ["x[0]", "x[1][0]", "x[1][1]"]),
        (({"w": 1, 2: 3},), {}, ["x['w']", "x[2]"]),
        ((Pair(1, Layer(2, 3)),), {}, ["x.one", "x.two.weight", "x.two.bias"]),
        ((1, 2, 3), {"scale": 4}, ["x", "rest[0]", "rest[1]", "scale"]),
        ((None, 1), {}, ["rest[0]"]),
    ],
    ids=str,
)
def test_labels(args: tuple[Any, ...], kwargs: dict[str, Any], labels: list[str]) -> None:
    assert argument_labels(taking, flatten((args, kwargs))[1]) == labels


def test_a_function_whose_parameters_nobody_knows() -> None:
    assert argument_labels(max, flatten(((1, 2), {}))[1]) == ["arguments[0]", "arguments[1]"]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1 kB"),
        (999_499, "999 kB"),
        (999_500, "1 MB"),
        (8 * 10**15, "8e+03 TB"),
    ],
)
def test_bytes_can_be_read(number: int, text: str) -> None:
    assert readable(number) == text


def test_the_text_is_plain_and_a_terminal_has_colours() -> None:
    told = explain(ranked, matrix(8, 16))
    plain = str(told)
    assert repr(told) == plain
    assert not re.search(r"[\x00-\x09\x0b-\x1f]|[ ]$", plain, re.MULTILINE)
    file, terminal = StringIO(), StringIO()
    told.show(Console(file=file))
    assert file.getvalue() == plain + "\n"
    told.show(Console(file=terminal, force_terminal=True, color_system="truecolor"))
    assert "\x1b[" in terminal.getvalue()
    assert re.sub(r"\x1b\[[\d;]*m", "", terminal.getvalue()) == plain + "\n"


def test_without_tiles_there_is_nothing_of_the_machine() -> None:
    told = explain(ranked, matrix(8, 16))
    assert "   tiles      n " in told.text()
    assert "   tiles  " not in told.text(tiles=False)
    assert "launches" not in told.text(tiles=False)


def hostile(x: bs.Tensor) -> bs.Tensor:
    return bs.exp(x) if "</pre><script>alert('&')</script>" else x


def test_the_page_needs_no_other_file_and_runs_nothing() -> None:
    told = explain(hostile, {"<b>": matrix(8, 16)}["<b>"])
    html = told.html()
    assert html.startswith("<!doctype html>")
    assert "<script" not in html
    assert "&lt;/pre&gt;&lt;script&gt;alert(&#x27;&amp;&#x27;)" in html
    assert not re.search(r"\b(?:src|href)=\"(?!#)|url\(|@import", html)
    assert told._repr_html_() in html


def test_labels_are_texts_on_the_page() -> None:
    html = explain(lambda x: bs.exp(x["<b>"]), {"<b>": matrix(8, 16)}).html()
    assert "x[&#x27;&lt;b&gt;&#x27;]" in html
    assert "<b>" not in html


def test_the_style_leaves_a_notebook_alone() -> None:
    html = explain(ranked, matrix(8, 16))._repr_html_()
    style = re.sub(r"/\*.*?\*/|@media[^{]*\{", "", html.split("<style>")[1].split("</style>")[0])
    selectors = re.findall(r"([^{}]+)\{", style)
    assert len(selectors) > 30
    outside = [
        each for rule in selectors for each in rule.split(", .") if "brimstone-explain" not in each
    ]
    assert outside == []


@needs_browser
@pytest.mark.parametrize(("scheme", "behind"), [(LIGHT, [255, 255, 255]), (DARK, [21, 24, 29])])
def test_everything_can_be_read(scheme: str, behind: list[int], tmp_path: Path) -> None:
    """Text stands out from what is behind it as much as WCAG's level AA asks for."""
    f = bs.jit(lambda x, w: bs.sort(bs.softmax(x @ w)))
    seen = tales(f.explain(matrix(8, 16), matrix(16, 8)).html(), CONTRAST, tmp_path, scheme)
    assert seen["problems"] == []
    assert seen["shown"] > 40
    assert (seen["behind"], seen["wide"]) == (behind, False)
    assert seen["weak"] == [], json.dumps(seen["weak"], indent=1)
