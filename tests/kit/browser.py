"""Pages in a real browser, without a window.

Comes in: HTML, and a script, which calls `tell(name, result)` and in the end `told()`. Goes out:
what it told.
Never: a connection to anywhere, or a profile that outlives the test.
"""

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--virtual-time-budget=30000", "--window-size=1600,1000",
)  # fmt: skip
SECONDS = 120

needs_browser = pytest.mark.skipif(
    BROWSER is None, reason="there is no browser to show the page in: apt-get install chromium"
)

# A page's own policy lets no other script run, so it makes way for this one, which comes first.
WATCH = """<script>
const toldSoFar = {}, tell = (name, result) => (toldSoFar[name] = result ?? null);
const told = () => document.body.append(Object.assign(document.createElement("pre"),
  { id: "told", textContent: JSON.stringify(toldSoFar) }));
tell("problems", []);
addEventListener("error", (event) => toldSoFar.problems.push(event.message));
addEventListener("unhandledrejection", (event) => toldSoFar.problems.push(String(event.reason)));
</script>"""


def dom(page: Path, fragment: str = "", *options: str) -> str:
    """The elements of a page when all its scripts have run, as HTML."""
    assert BROWSER is not None
    profile = f"--user-data-dir={page.with_name('profile')}"
    command = [BROWSER, *OPTIONS, *options, profile, "--dump-dom", page.as_uri() + fragment]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=SECONDS)
    return done.stdout


def tales(html: str, script: str, folder: Path, *options: str) -> dict[str, Any]:
    """What a script tells that runs at the end of the page; "problems" are errors of the page."""
    watched = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', WATCH, html)
    assert watched != html
    page = folder / "watched.html"
    page.write_text(watched.replace("</body>", f"<script>{script}</script></body>"), "utf-8")
    found = re.search(r'<pre id="told">(.*?)</pre>', dom(page, "", *options), re.DOTALL)
    assert found is not None, "the script did not come to its end"
    return json.loads(unescape(found[1]))
