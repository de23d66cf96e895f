"""`brimstone doctor`: does everything work here, and what helps where it does not?

Comes in: this machine and this installation. Goes out: a line for each thing that was looked at, or
one JSON object whose `schema` number changes when a key changes its meaning or goes; the exit code
is 1 if something is broken.
Never: a complaint about what is merely not there.
"""

import json as json_module
from collections.abc import Iterable
from typing import Annotated, Any

import typer

from .checks import findings
from .finding import Finding, State

SCHEMA, WIDTH = 1, 22
STYLES = {State.OK: "green", State.MISSING: "dim", State.BROKEN: "bold red"}


def doctor(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Check that everything works here, and say what helps where it does not."""
    found = list(findings()) if json else list(shown(findings()))
    healthy = all(each.state is not State.BROKEN for each in found)
    if json:
        listed = [each.as_json() for each in found]
        facts: dict[str, Any] = {"schema": SCHEMA, "healthy": healthy, "findings": listed}
        typer.echo(json_module.dumps(facts, indent=2))
    if not healthy:
        raise typer.Exit(1)


def shown(found: Iterable[Finding]) -> Iterable[Finding]:
    """Print findings as they come: the state, what it is about, what was found; then what helps."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for each in found:
        state, about = f"{each.state.value:8}", f"{each.about:{WIDTH}}"
        line = Text.assemble((state, STYLES[each.state]), about, each.text)
        console.print(line, soft_wrap=True)
        if each.remedy:
            console.print(Text(f"{'':{8 + WIDTH}}{each.remedy}", "italic"), soft_wrap=True)
        yield each
