"""The page: the template, its style and its script, and the data of a run, in one file.

Comes in: what `describe` gives. Goes out: HTML that asks for nothing from anywhere.
Never: a text of the run as markup. It is in the page as JSON without `<`, `>` or `&`, and the
script puts it on the screen as text only; the browser is told to run no other script.
"""

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any

SCRIPTS = ("model.js", "text.js", "rows.js", "panels.js", "search.js", "page.js", "input.js")
MARKER = re.compile(r"\{\{(\w+)\}\}")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'"


def page(described: Mapping[str, Any]) -> str:
    """The whole HTML."""
    script = "\n".join(_part(name) for name in SCRIPTS)
    contents = {
        "title": escape(str(described["title"])),
        "policy": POLICY.format(b64encode(sha256(script.encode()).digest()).decode()),
        "style": _part("page.css"),
        "data": json_for_html(described),
        "script": script,
    }
    return MARKER.sub(lambda marker: contents[marker[1]], _part("page.html"))


def json_for_html(value: object) -> str:
    """JSON that cannot end the element it stands in; ASCII only, so any name of a file fits."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _part(name: str) -> str:
    return files(__name__.rpartition(".")[0]).joinpath(name).read_text(encoding="utf-8")
