"""Pages in a real browser, without a window.

Comes in: HTML, and a script to run in it, such as `press("j"); return $("name").textContent`.
Goes out: what the script returns, or an error if anything went wrong in the page.
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
QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--virtual-time-budget=8000", "--window-size=1600,1000",
)  # fmt: skip
SECONDS = 120

needs_browser = pytest.mark.skipif(
    BROWSER is None, reason="no browser here to show a page in: apt-get install chromium"
)

# The page's own policy lets no other script run, so it is left out; errors end up in the result.
WATCH = """<script>
const problems = [];
addEventListener("error", (event) => problems.push(event.message));
addEventListener("unhandledrejection", (event) => problems.push(String(event.reason)));
</script>"""
DRIVE = """<script>
const later = () => new Promise((done) => setTimeout(done, 60));
const press = async (key, target = document.activeElement) => {
  target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  await later();
};
const click = async (target) => (target.click(), await later());
const text = (selector) => document.querySelector(selector).textContent;
const texts = (selector) => [...document.querySelectorAll(selector)].map((each) => each.innerText);
addEventListener("load", async () => {
  let result = null;
  try {
    await later();
    result = await (async () => { SCRIPT })();
  } catch (error) {
    problems.push(String(error));
  }
  const shown = document.createElement("pre");
  shown.id = "result";
  shown.textContent = JSON.stringify({ result, problems });
  document.body.append(shown);
});
</script></body>"""


def dom(page: Path, fragment: str = "", *options: str) -> str:
    """The elements of a page when all its scripts have run, as HTML."""
    assert BROWSER is not None
    profile = page.with_name("profile")
    command = [BROWSER, *QUIET, *options, f"--user-data-dir={profile}", "--dump-dom"]
    done = subprocess.run(
        [*command, page.as_uri() + fragment],
        check=True, capture_output=True, text=True, timeout=SECONDS,
    )  # fmt: skip
    return done.stdout


def drive(html: str, folder: Path, script: str, fragment: str = "", *options: str) -> Any:
    """What a script returns that runs in the page, once it is loaded."""
    free = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', WATCH, html)
    assert free != html
    page = folder / "driven.html"
    page.write_text(free.replace("</body>", DRIVE.replace("SCRIPT", script)), encoding="utf-8")
    found = re.search(r'<pre id="result">(.*?)</pre>', dom(page, fragment, *options), re.DOTALL)
    assert found is not None, "the script did not end"
    outcome = json.loads(unescape(found[1]))
    assert outcome["problems"] == []
    return outcome["result"]
