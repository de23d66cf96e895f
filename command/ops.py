"""`brimstone ops`: the grammar of the IR and every op there is, as Markdown.

Comes in: the registry. Goes out: the text of `docs/ir.md`, which a test holds against this.
Never: anything about an op that its class does not say.
"""

from collections.abc import Iterable
from typing import Annotated

import typer

GRAMMAR = """\
```
module    = { func }
func      = "func" "@" name [ "<" size { "," size } ">" ] arguments [ "->" types ]
            [ "with" mapping ] [ location ] "{" { op } "}"
size      = name ":" least ".." largest [ "%" multiple ]
arguments = "(" [ "%" name ":" type { "," "%" name ":" type } ] ")"
op        = [ values "=" ] dialect "." name [ operands ] [ attributes ] { region }
            [ ":" type { "," type } ] [ location ]
region    = arguments "{" { op } "}"
operands  = values | "[" [ values ] "]" { "," … }      every list but an op's last in brackets
values    = "%" name { "," "%" name }
attributes= "{" name "=" attribute { "," name "=" attribute } "}"
attribute = integer | dim | number | true | false | string | word | dtype | "@" name | type
          | "[" [ attribute { "," attribute } ] "]" | mapping
mapping   = "{" [ name ":" attribute { "," name ":" attribute } ] "}"
type      = "tensor<" shape "," dtype ">" | "tile<" shape "," dtype ">"
          | "array<" shape "," dtype ">" | "view<" rank "," dtype "," mapping ">"
          | "scalar<" dtype ">" | "vec<" lanes "," dtype ">" | "buffer<" dtype "," space ">"
          | "fragment<" rows "," columns "," dtype "," use ">"
shape     = "[" [ dim { "," dim } ] "]"
dim       = sums and products of integers and size names, ceildiv(a, b), min(a, …), max(a, …)
number    = 1, -2.5, 1e-7, inf, -inf, nan, 0x7fc00001 (the bits), true, (1.0, -2.0) (complex);
            nested lists of them are arrays, `empty<[0, 3]>` is one without elements
location  = "at" string ":" line { "," string ":" line }
```

`//` begins a comment. `func` ends in `return`, a region in `yield`. A name is visible from its
definition to the end of its region, and in the regions inside; it is defined once.
"""


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
        raise typer.BadParameter(f"the dialects are {', '.join(DIALECTS)}")
    parts = [] if dialect else [_INTRODUCTION, GRAMMAR, _types(), _dtypes()]
    for name in wanted:
        classes = [cls for op, cls in REGISTRY.items() if op.rpartition(".")[0] == name]
        parts.append(_table(DIALECTS[name], name, classes))
    return "\n".join(parts)


_INTRODUCTION = """\
# The IR in one screen

Written by `brimstone ops` from the declarations; a test keeps it true. `brimstone ops tensor` shows
one dialect. In the tables, `*` follows a list of values, `?` an attribute that may be left out.
"""


def _types() -> str:
    from ..ir.types import BY_KEYWORD

    lines = [f"| `{cls.keyword}` | {_summary(cls)} |" for cls in BY_KEYWORD.values()]
    return "\n".join(["## Types", "", "| type | what it is |", "|---|---|", *lines, ""])


def _dtypes() -> str:
    from ..ir.dtypes import BY_NAME

    return f"Dtypes: {', '.join(f'`{name}`' for name in BY_NAME)}.\n"


def _table(summary: str, dialect: str, classes: Iterable[type]) -> str:
    title = f"## `{dialect}`: {summary}" if dialect else f"## {summary}"
    rows = [_row(cls) for cls in classes]
    return "\n".join([title, "", "| op | what it does |", "|---|---|", *rows, ""])


def _row(cls: type) -> str:
    from ..ir.declare import Op

    assert issubclass(cls, Op)
    many = ("operands", "results")
    operands = [f"{f.name}{'*' * (f.role.value in many)}" for f in cls.operand_fields]
    attributes = [f"{f.name}{'?' if f.has_default else ''}" for f in cls.attribute_fields]
    results = [f"{f.name}{'*' * (f.role.value in many)}" for f in cls.result_fields]
    text = f"{cls.name} {', '.join(operands)}".rstrip()
    text += f" {{{', '.join(attributes)}}}" if attributes else ""
    text += "".join(f" ({field.name})" for field in cls.region_fields)
    text += f" : {', '.join(results)}" if results else ""
    return f"| `{text}` | {_summary(cls)} |"


def _summary(cls: type) -> str:
    return (cls.__doc__ or "").strip().split("\n")[0].replace("|", "\\|")
