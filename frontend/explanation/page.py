"""An explanation as HTML: an article for notebooks, and a page around it.

Comes in: an `Explanation`. Goes out: HTML that asks for nothing from anywhere and runs no script.
Never: a text of the user's as markup.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from importlib.resources import files

from . import words
from .explanation import Explanation, Part
from .kernels import CODE, Amount, ExplainedArray, ExplainedKernel

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
STYLE = "page.css"
CLASS = "brimstone-explain"
"""The style speaks of what is in an element of this class, and of nothing else."""
BODY = "margin: 0; background: light-dark(#ffffff, #15181d); color-scheme: light dark"


def page(told: Explanation) -> str:
    """The article as a file of its own."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(told.name)} – brimstone explain</title>\n</head>\n"
        f'<body style="{BODY}">\n{article(told)}\n</body>\n</html>\n'
    )


def article(told: Explanation) -> str:
    """All of it, with its style."""
    style = files(__name__.rpartition(".")[0]).joinpath(STYLE).read_text(encoding="utf-8")
    kernels = told.kernels
    numbers = {id(kernel): number for number, kernel in enumerate(kernels, 1)}
    amounts = [each for kernel in kernels for each in (*_bytes(kernel), kernel.saved)]
    most = max([each.number or 0 for each in amounts], default=0)
    parts = [
        _part(place, part, len(told.parts) > 1, [(numbers[id(k)], k) for k in part.kernels], most)
        for place, part in enumerate(told.parts)
    ]
    lines = "" if kernels else _details("ops by line", [f"{a}: {n}" for a, n in told.lines()])
    return (
        f'<article class="{CLASS}">\n<style>\n{style}</style>\n'
        f"{_head(told)}{''.join(parts)}{lines}</article>"
    )


def _head(told: Explanation) -> str:
    takes = ", ".join(f"{name} {type_}" for name, type_ in told.takes.items()) or "nothing"
    returns = ", ".join(told.returns) or "nothing"
    rows = {"Kernels": words.summary(told), "Steps": words.readiness(told)}
    if told.kernels:
        rows["Memory"] = words.traffic(told)
    if told.no_attention:
        rows["No attention"] = "; ".join(told.no_attention)
    boxes = "".join(f"<div><dt>{k}</dt><dd>{escape(v)}</dd></div>" for k, v in rows.items())
    return (
        f"<h1>{escape(told.name)} <small>on {escape(told.device)}</small></h1>\n"
        f'<p class="signature"><small>takes</small> <code>{escape(takes)}</code> '
        f"<small>returns</small> <code>{escape(returns)}</code></p>\n"
        f'<dl class="facts">{boxes}</dl>\n'
        f"{_details(words.counted(told.ops.total(), 'op'), [words.ops_text(told)])}{_steps(told)}"
    )


def _steps(told: Explanation) -> str:
    """What is compiled so far."""
    items = "".join(
        f"<li>{escape(words.facts(step))}{_list(words.kinds_of(step))}</li>" for step in told.steps
    )
    title = f"{words.counted(len(told.steps), 'step')} compiled so far"
    return f"<details><summary>{title}</summary><ul>{items}</ul></details>\n" if items else ""


def _part(
    place: int, part: Part, titled: bool, kernels: list[tuple[int, ExplainedKernel]], most: int
) -> str:
    sizes = [*map(words.size_text, part.sizes), *[f"stays {each}" for each in part.kept]]
    title = "sizes, which may be others without compiling again"
    made = "".join(_kernel(number, kernel, most) for number, kernel in kernels)
    ends = "".join(f"<p>split after stage {place}: {escape(each)}</p>\n" for each in part.ends)
    heading = f"<h3>Stage {place}</h3>\n" if titled else ""
    return f"{heading}{_details(title, sizes)}{_memory(part)}<ol>\n{made}</ol>\n{ends}"


def _memory(part: Part) -> str:
    """How much memory is taken, and by which arrays most of it."""
    if part.memory is None:
        return ""
    title = words.memory(part.memory)
    return _details(title, words.held(part.memory)) or f"<p>{escape(title)}</p>\n"


def _kernel(number: int, kernel: ExplainedKernel, most: int) -> str:
    does = ", ".join(filter(None, (kernel.does, words.times_text(kernel))))
    kind = "does code" if kernel.does == CODE else "does"
    rows = [
        *[_array("reads", each, most, at == 0) for at, each in enumerate(kernel.reads)],
        *[_array("writes", each, most, at == 0) for at, each in enumerate(kernel.writes)],
    ]
    if kernel.saved.formula != 0:
        rows.append(_row("saved", "not moved, because it is fused", kernel.saved, most, True))
    return (
        f'<li class="kernel" id="{escape(kernel.name)}">\n<h2><span class="number">{number}</span>'
        f'{escape(kernel.name)} <span class="{kind}">{escape(does)}</span></h2>\n'
        f'<div class="body">{_source(kernel)}<p class="ops">{escape(words.short(kernel.ops))}</p>\n'
        f"<table>{''.join(rows)}</table>\n{_notes(kernel)}</div>\n</li>\n"
    )


def _source(kernel: ExplainedKernel) -> str:
    lines, more = words.shown_lines(kernel)
    width = max([len(line.place) for line in lines], default=0)
    texts = [
        f"<span>{escape(line.place.ljust(width))}</span>  {escape(line.text)}" for line in lines
    ]
    if more:
        texts.append(f"<span>and {words.counted(more, 'line')} more</span>")
    return f'<pre class="source">{chr(10).join(texts)}</pre>\n' if texts else ""


def _array(label: str, array: ExplainedArray, most: int, first: bool) -> str:
    name = f"{escape(words.array_text(array))} <code>{escape(array.type)}</code>"
    return _row(label, name, array.bytes, most, first)


def _row(label: str, name: str, amount: Amount, most: int, first: bool) -> str:
    """One amount of memory; the first of a kind has its label."""
    share = 100 * (amount.number or 0) / most if most else 0
    shown = f'<span class="bar {label}" style="width: {share:.1f}%"></span>' if share else ""
    return (
        f'<tr class="{label}"><th scope="row">{label if first else ""}</th>'
        f'<td class="name">{name}</td>'
        f'<td class="amount">{amount}</td>'
        f'<td class="formula">{escape(words.formula_of(amount))}</td>'
        f'<td class="share">{shown}</td></tr>\n'
    )


def _notes(kernel: ExplainedKernel) -> str:
    """How it is launched, why it is no machine code, and why it is not one with others."""
    here = [each for each in kernel.stages if each.is_made is not False and each.grid]
    notes = [
        *[("launches", escape(words.launched(each))) for each in here],
        *[("", f"<small>else {escape(each)}</small>") for each in words.launched_else(kernel)],
        *[("tiles", escape(each)) for each in words.tile_texts(kernel)],
        *[("slow", f'<span class="reason">{escape(each)}</span>') for each in kernel.reasons],
    ]
    for name, why in kernel.apart.items():
        link = f'<a href="#{escape(name)}">{escape(name)}</a>'
        notes.append(("apart", f"from {link}: {escape(why)}"))
    labels = [label for label, _ in notes]
    items = "".join(
        f"<dt>{'' if label in labels[:place] else label}</dt><dd>{text}</dd>"
        for place, (label, text) in enumerate(notes)
    )
    return f'<dl class="notes">{items}</dl>\n' if items else ""


def _details(title: str, texts: list[str]) -> str:
    """What one sees only when one asks."""
    return f"<details><summary>{escape(title)}</summary>{_list(texts)}</details>\n" if texts else ""


def _list(texts: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(each)}</li>" for each in texts)
    return f"<ul>{items}</ul>" if items else ""


def _bytes(kernel: ExplainedKernel) -> list[Amount]:
    return [each.bytes for each in (*kernel.reads, *kernel.writes)]
