"""`brimstone ops`: the grammar of the IR and every op there is, as Markdown.

Comes in: the registry. Goes out: the text of `docs/ir.md`, which a test holds against this.
Never: anything about an op that its declaration does not say.
"""

import sys
from collections.abc import Iterable
from inspect import getdoc
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from ..ir.declare import Field

INTRODUCTION = """\
# The IR: its grammar and every op

`brimstone ops > docs/ir.md` writes this page from the declarations, and a test keeps it true.
`brimstone ops tensor` shows one dialect. What happens at the edges (overflow, NaN, division by
zero) is in [semantics.md](semantics.md); how to declare an op is in [add-an-op.md](add-an-op.md).
"""

GRAMMAR = """\
## Grammar

```text
module     = func { func }
func       = "func" "@" word [ "<" symbol { "," symbol } ">" ] arguments [ "->" types ]
             [ "with" mapping ] [ location ] "{" { op } "}"
symbol     = word ":" least ".." largest [ "%" multiple ]
arguments  = "(" [ "%" word ":" type { "," "%" word ":" type } ] ")"
types      = type | "(" type { "," type } ")"
op         = [ values "=" ] name [ operands ] [ attributes ] { region }
             [ ":" type { "," type } ] [ location ]
name       = [ dialect "." ] word
values     = "%" word { "," "%" word }
operands   = operand { "," operand }
operand    = "%" word | "[" [ values ] "]"
attributes = "{" word "=" attribute { "," word "=" attribute } "}"
region     = arguments "{" { op } "}"
attribute  = integer | dim | number | "true" | "false" | string | word | dtype | "@" word
           | "[" [ attribute { "," attribute } ] "]" | mapping
mapping    = "{" [ word ":" attribute { "," word ":" attribute } ] "}"
type       = "tensor<" shape "," dtype ">" | "tile<" shape "," dtype ">"
           | "array<" shape "," dtype ">" | "view<" rank "," dtype [ "," mapping ] ">"
           | "scalar<" dtype ">" | "vec<" lanes "," dtype ">" | "buffer<" dtype "," space ">"
           | "fragment<" rows "," columns "," dtype "," use ">"
shape      = "[" [ dim { "," dim } ] "]"
location   = "at" string ":" line { "," string ":" line }
```

- A **dim** is an integer, a size that the func names, or a sum, product, `ceildiv(a, b)`,
  `min(a, b)` or `max(a, b)` of dims.
- A **number** is `1`, `-2.5`, `1e-7`, `inf`, `nan`, `true`, `0x7fc00001` (the bits) or
  `(1.0, -2.0)` (complex). Nested lists of numbers are arrays; `empty<[0, 3]>` is one without any.
- An op that takes **several lists** of operands writes all but its last list in brackets.
- A func ends in `return`, a region in `yield`. A value is visible from its definition to the end of
  its region, and in the regions inside; it is defined once. `//` begins a comment.
"""

TABLES = """\
## How to read the tables

An op is shown as its text begins: operands with the dtypes they may have, `{attributes}` with what
they may be, `(regions)`, and after the colon its results. `*` follows a list; an attribute with a
default or a `?` may be left out. Operands of one `tensor` op have one shape unless its line says
otherwise, and where dtypes are not named, any will do or the other operands decide.
"""

KINDS = {
    "an integer": "int", "true or false": "bool", "the name of a func": "@func",
    "a mapping {name: value, …}": "mapping",
}  # fmt: skip


def ops(
    dialect: Annotated[str, typer.Argument(help="Show the ops of one dialect only.")] = "",
) -> None:
    """Print the grammar of the IR and the table of its ops, as Markdown."""
    typer.echo(reference(dialect), nl=False)


def reference(dialect: str = "") -> str:
    """The whole reference, or the ops of one dialect."""
    from ..ir.declare import REGISTRY
    from ..ir.dialects import DIALECTS

    wanted = [name for name in DIALECTS if dialect in ("", name)]
    if not wanted:
        raise typer.BadParameter(f"the dialects are {', '.join(filter(None, DIALECTS))}")
    parts = [] if dialect else [INTRODUCTION, GRAMMAR, _types(), _dtypes(), TABLES]
    for name in wanted:
        classes = [cls for op, cls in REGISTRY.items() if op.rpartition(".")[0] == name]
        parts.append(f"## `{name}`: {DIALECTS[name]}\n" if name else f"## {DIALECTS[name]}\n")
        by_file = sorted(classes, key=lambda cls: cls.__module__)
        for file, group in groupby(by_file, key=lambda cls: cls.__module__):
            parts.append(_table(sys.modules[file].__doc__ if name else None, group))
    return "\n".join(parts)


def _types() -> str:
    from ..ir.types import BY_KEYWORD

    lines = [f"| `{cls.keyword}` | {_summary(cls)} |" for cls in BY_KEYWORD.values()]
    return "\n".join(["## Types", "", "| type | what it is |", "|---|---|", *lines, ""])


def _dtypes() -> str:
    """Each group of dtypes that declarations name, with its members."""
    groups = _dtype_groups()
    lines = [f"| {name} | {_words(dtypes)} |" for dtypes, name in groups.items()]
    return "\n".join(["| dtypes | which |", "|---|---|", *lines, ""])


def _dtype_groups() -> dict[frozenset[Any], str]:
    from ..ir import dtypes

    return {
        dtypes.FLOATS: "floats", dtypes.INTEGERS: "integers", dtypes.BITS: "bits",
        dtypes.COMPLEXES: "complexes", dtypes.INEXACT: "inexact", dtypes.REALS: "reals",
        dtypes.ORDERED: "ordered", dtypes.NUMBERS: "numbers", dtypes.ALL: "all",
    }  # fmt: skip


def _words(dtypes: Iterable[Any]) -> str:
    """The dtypes by kind, then by width."""
    listed = sorted(dtypes, key=lambda dtype: (dtype.kind.value, dtype.bits, dtype.name))
    return ", ".join(f"`{dtype.name}`" for dtype in listed)


def _table(doc: str | None, classes: Iterable[type]) -> str:
    title = [f"### {_first_line(doc)}", ""] if doc else []
    rows = [_row(cls) for cls in classes]
    return "\n".join([*title, "| op | what it does |", "|---|---|", *rows, ""])


def _row(cls: type) -> str:
    from ..ir.declare import Op

    assert issubclass(cls, Op)
    operands = ", ".join(_value(field) for field in cls.operand_fields)
    attributes = ", ".join(_attribute(field) for field in cls.attribute_fields)
    regions = "".join(f" ({field.name})" for field in cls.region_fields)
    results = ", ".join(_name(field) for field in cls.result_fields)
    text = f"{cls.name} {operands}".rstrip() + (f" {{{attributes}}}" if attributes else "")
    return f"| `{text}{regions}{f' : {results}' if results else ''}` | {_summary(cls)} |"


def _name(field: "Field") -> str:
    return field.name + "*" * field.many


def _value(field: "Field") -> str:
    """`left: floats`, where the declaration names the dtypes."""
    dtypes = field.rule.dtypes
    if dtypes is None:
        return _name(field)
    named = _dtype_groups().get(dtypes)
    return f"{_name(field)}: {named or ' or '.join(sorted(map(str, dtypes)))}"


def _attribute(field: "Field") -> str:
    """`axis: int`, `reverse: bool = false`, `scale: number?`"""
    from ..ir.declare import NO_DEFAULT

    assert field.kind is not None
    kind = f"{field.name}: {_kind(field.kind.expected)}"
    if field.default is NO_DEFAULT:
        return kind
    if field.default is None:
        return f"{kind}?"
    return f"{kind} = {field.kind.text(field.kind.normalise(field.default))}"


def _kind(expected: str) -> str:
    """What an attribute may be, in a word: errors say it at more length."""
    if expected in KINDS:
        return KINDS[expected]
    if expected.startswith("a list, each "):
        return f"[{_kind(expected.removeprefix('a list, each '))}]"
    if expected.startswith("one of "):
        return expected.removeprefix("one of ").replace(", ", "/")
    return expected.removeprefix("an ").removeprefix("a ")


def _summary(cls: type) -> str:
    """The first paragraph of the docstring, in one line."""
    paragraph = (getdoc(cls) or "").split("\n\n")[0]
    return " ".join(paragraph.split()).replace("|", "\\|")


def _first_line(doc: str) -> str:
    return doc.strip().split("\n")[0].rstrip(".")
