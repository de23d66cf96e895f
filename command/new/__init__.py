"""`brimstone new`: a small project that trains, as a place to begin.

In: a name. Out: a folder of that name with a model, its data, a config and a test, each to be
changed. Nothing that exists is written over.
"""

import re
from pathlib import Path
from typing import Annotated

import typer

from ..programs import fail

PROJECT = Path(__file__).parent / "project"
FILES = ("README.md", "config.json", "model.py", "train.py", "test_model.py")
PLACE = "PROJECT"
"""What stands for the name in the files of the project."""


def new(
    name: Annotated[Path, typer.Argument(help="The folder to make; it has to be new.")],
) -> None:
    """Make a small project that trains."""
    if not re.fullmatch(r"[^\W\d_][\w-]*", name.name):
        fail(f"{name.name!r} is no name of a project: letters, digits, - and _, a letter first")
    try:
        name.mkdir(parents=True)
    except FileExistsError:
        fail(f"{name} is there already")
    for each in FILES:
        text = (PROJECT / f"{each}.txt").read_text("utf-8")
        (name / each).write_text(text.replace(PLACE, name.name), "utf-8")
    typer.echo(f"{name} is made. To train: cd {name} && brimstone train config.json")
