"""`brimstone info`: what a bug report needs to say.

In: the installed packages and the machine. Out: lines of text, or one JSON object whose `schema`
number changes when a key changes its meaning or goes. It never fails because something is missing:
that is what it is there to show.
"""

import json as json_module
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any

import typer

from .. import runtime

SCHEMA = 1
LIBRARIES = ("numpy", "ml_dtypes", "cffi", "typer", "rich", "llvmlite", "triton")


def info(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show versions, the platform and the native library."""
    facts = collect()
    if json:
        typer.echo(json_module.dumps({"schema": SCHEMA, **facts}, indent=2))
        return
    for line in lines(facts):
        typer.echo(line)


def collect() -> dict[str, Any]:
    """Everything that `info` shows, as JSON has it."""
    return {
        "brimstone": installed("brimstone"),
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "executable": sys.executable,
        "platform": platform.platform(),
        "machine": platform.machine(),
        "native": native_library(),
        "libraries": {name: installed(name) for name in LIBRARIES},
    }


def installed(name: str) -> str | None:
    """A package's version, asked without importing it."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def native_library() -> dict[str, str | None]:
    """Where the native library is and what it says it is, or why it cannot be used."""
    try:
        from ..runtime import native

        return {"path": str(native.library_path()), "version": runtime.version(), "error": None}
    except (ImportError, OSError) as error:
        return {"path": None, "version": None, "error": str(error)}


def lines(facts: dict[str, Any]) -> list[str]:
    """The same facts for a reader: nested ones as `native.path`."""
    flat: dict[str, str | None] = {}
    for name, value in facts.items():
        inner = value.items() if isinstance(value, dict) else [(None, value)]
        flat |= {f"{name}.{key}" if key else name: entry for key, entry in inner}
    width = max(map(len, flat))
    return [f"{name:{width}}  {'-' if text is None else text}" for name, text in flat.items()]
