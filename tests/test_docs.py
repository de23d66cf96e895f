"""The documents say what is true: their code runs, their links lead somewhere, nothing is stale.

Every ```python block runs, and every ```ir block is parsed and verified. A comment before a block
says more: `file: PATH` makes the block that file of the package or the tests, `into: PATH` adds it
to one; `prints` compares it with what the blocks since the last such block have printed,
`output: COMMAND` with what a command prints.
"""

import linecache
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from brimstone.command import application
from brimstone.command.ops import reference
from brimstone.ir import parse, print_module, verify
from brimstone.ir.declare import REGISTRY
from brimstone.passes import Pass
from brimstone.passes.examine import DIFFERS, examine
from brimstone.passes.pipelines import PASSES
from brimstone.runtime import device
from brimstone.targets import TARGETS
from kit.cases import read_cases
from kit.ir_files import transformed
from kit.recipes import RECIPES
from kit.running import run_both

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
NAMES = [str(path.relative_to(ROOT)) for path in DOCUMENTS]
EXAMPLE = "example.py"
"""The file of a block of Python, where its lines are named."""
GUIDES = ("docs/add-an-op.md", "docs/add-a-pass.md", "docs/add-a-target.md")
MOST_LINES = {**dict.fromkeys(GUIDES, 100), "docs/architecture.md": 120}

BLOCK = re.compile(
    r"(?:^<!-- (?P<role>file|into|prints|output)(?:: (?P<where>[^\n]*))? -->\n)?"
    r"^```(?P<language>\w+)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)

pytestmark = pytest.mark.skipif(
    not (ROOT / "docs").is_dir(), reason="these are rules about a checkout, and this is a copy"
)


class Block(NamedTuple):
    """A block of code of a document."""

    role: str | None
    where: str
    language: str
    text: str


def blocks(name: str) -> list[Block]:
    text = (ROOT / name).read_text(encoding="utf-8")
    found = (match.group("role", "where", "language", "text") for match in BLOCK.finditer(text))
    return [Block(role, where or "", language, code) for role, where, language, code in found]


class Reader:
    """Somebody who follows a document to the letter."""

    def __init__(self, patch: pytest.MonkeyPatch, folder: Path) -> None:
        self.patch, self.folder = patch, folder
        self.names: dict[str, object] = {}
        self.printed = StringIO()

    def follow(self, block: Block) -> None:
        """Do what a block is there for."""
        match block:
            case Block(None, _, "python", text):
                lines = text.splitlines(keepends=True)
                linecache.cache[EXAMPLE] = (len(text), None, lines, EXAMPLE)  # for who shows them
                with redirect_stdout(self.printed):
                    exec(compile(text, EXAMPLE, "exec"), self.names)
            case Block(None, _, "ir", text):
                verify(parse(text))
            case Block("file", where, "python", text):
                self.write(where, text)
            case Block("file", where, "ir", text):
                run_cases(self.folder / Path(where).name, text)
            case Block("into", where, _, text):
                self.add(import_module(module_name(where)), text)
            case Block("prints", _, _, text):
                assert self.printed.getvalue() == text
                self.printed.seek(0)
                self.printed.truncate()
            case Block("output", where, _, text):
                shown = CliRunner().invoke(application(), shlex.split(where)[1:])
                assert (shown.exit_code, shown.stdout) == (0, text)
            case _:
                assert block.language in ("bash", "text")

    def write(self, where: str, text: str) -> None:
        """A new module of the package, or a file of tests, which are run."""
        name = module_name(where)
        for op in [op for op, cls in REGISTRY.items() if cls.__module__ == name]:
            del REGISTRY[op]  # this checkout has followed the guide already
        module = ModuleType(name)
        module.__package__ = name if where.endswith("__init__.py") else name.rpartition(".")[0]
        self.patch.setitem(sys.modules, name, module)
        exec(compile(text, where, "exec"), vars(module))
        for test in [each for name, each in vars(module).items() if name.startswith("test_")]:
            test()

    def add(self, module: ModuleType, text: str) -> None:
        """More lines of a module; that a pass is also listed, a guide may say in words."""
        names = dict(vars(module))
        exec(text, names)
        for name, value in names.items():
            if vars(module).get(name) is not value:
                self.patch.setattr(module, name, value, raising=False)
                if isinstance(value, Pass):
                    PASSES[value.name] = value


def module_name(where: str) -> str:
    """The name under which the file of a path is imported."""
    path = where.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return path.removeprefix("tests.") if path.startswith("tests.") else f"brimstone.{path}"


def run_cases(file: Path, text: str) -> None:
    """What pytest does with a file of cases."""
    file.write_text(text, encoding="utf-8")
    for case in read_cases(file):
        module = transformed(case)
        assert print_module(module).strip() == (case.expected or "").strip()
        run_both(parse(case.text), module, case.ranges)


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Reader]:
    """A reader, whose traces are wiped out afterwards."""
    import_module("brimstone.ir.dialects")  # every op there is, or it would be taken for a trace
    known = (REGISTRY, PASSES, RECIPES, TARGETS, device._DEVICES)
    tables = [(table, dict(table)) for table in known]
    monkeypatch.chdir(ROOT)
    yield Reader(monkeypatch, tmp_path)
    for table, before in tables:
        table.clear()
        table.update(before)  # pyright: ignore[reportArgumentType, reportCallIssue]


@pytest.mark.parametrize("name", NAMES)
def test_code_runs(name: str, reader: Reader) -> None:
    for block in blocks(name):
        reader.follow(block)


def test_the_guides_are_tested() -> None:
    for guide in GUIDES:
        assert any(block.where.startswith("tests/") for block in blocks(guide))


def test_the_rule_of_the_guide_is_wrong_on_floats(reader: Reader) -> None:
    """As the guide says, and asks its readers to see for themselves."""
    golden = ""
    for block in blocks("docs/add-a-pass.md"):
        if block.language == "python":
            reader.follow(block._replace(text=block.text.replace("not in INTEGERS", "is None")))
        elif block.language == "ir":
            golden = block.text.partition("// ----")[0]
    failure = examine(parse(golden), "signs").failure
    assert failure is not None
    assert failure.kind == DIFFERS
    assert "result 1 differs" in failure.message


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    for path, anchor in LINK.findall(text):
        target = (ROOT / name).parent / path if path else ROOT / name
        assert target.exists(), path
        assert not anchor or anchor in anchors(target), f"{path}#{anchor}"


def anchors(document: Path) -> set[str]:
    """What the headings of a document are called in links."""
    headings = HEADING.findall(document.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", MOST_LINES)
def test_guides_are_short(name: str) -> None:
    lines = (ROOT / name).read_text(encoding="utf-8").count("\n")
    assert lines <= MOST_LINES[name]


def test_every_document_is_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    listed = {(ROOT / "docs" / path).resolve() for path, _ in LINK.findall(index)}
    ours = {path for path in DOCUMENTS if path.is_relative_to(ROOT / "docs")}
    assert not {path for path in ours - listed if path != ROOT / "docs" / "README.md"}


def test_the_reference_is_what_the_declarations_say() -> None:
    found = (ROOT / "docs" / "ir.md").read_text(encoding="utf-8")
    assert found == reference(), "run: brimstone ops > docs/ir.md"
