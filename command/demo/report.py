"""What fusion made of a compiled function, in as many lines as are read.

Comes in: an explanation. Goes out: a table of kernels for `rich`, and the sentences above it.
Never: all there is to say; the explanation prints that itself.
"""

from collections.abc import Iterable
from heapq import nlargest

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...frontend.explanation import Explanation
from ...frontend.explanation.words import summary, traffic

MOST = 8
"""How many kernels are shown: those that move most."""
WIDE = 72
"""From so many columns on there is room for the user's lines."""


def sentences(told: Explanation) -> Iterable[str]:
    """What became of the ops, and for which sizes that holds."""
    yield f"{told.ops.total()} operations became {summary(told)}"
    yield traffic(told)
    sizes = [size for part in told.parts for size in part.sizes]
    yield f"one code for all sizes: {', '.join(f'{size.name} = {size.number}' for size in sizes)}"


def kernel_table(told: Explanation, console: Console) -> Table:
    """A line for each of the largest kernels, in the order in which they run: its operations, its
    bytes, and the first of the user's lines in it."""
    wide = console.width >= WIDE
    shown = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", expand=wide)
    cut = "ellipsis" if console.encoding.lower().startswith("utf") else "crop"
    shown.add_column("kernel", no_wrap=True, overflow=cut, max_width=26 if wide else 14)
    for heading in ("ops", "moves", "saved"):
        shown.add_column(heading, justify="right", no_wrap=True)
    if wide:
        shown.add_column("begins with", no_wrap=True, overflow=cut, style="italic", ratio=1)
    largest = nlargest(MOST, told.kernels, key=lambda each: each.moved.number or 0)
    for kernel in [each for each in told.kernels if each in largest]:
        saved = str(kernel.saved) if kernel.saved.formula != 0 else ""
        cells = [kernel.name, str(len(kernel.ops)), str(kernel.moved), saved]
        if wide:
            cells.append(kernel.lines[0].text if kernel.lines else "")
        shown.add_row(*map(Text, cells))
    return shown
