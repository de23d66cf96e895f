"""The rules of style that ruff has no check for, and the order of the folders."""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from kit.collector import collector_paused

ROOT = Path(__file__).resolve().parents[1]

# What stands on what: a folder may import those of lower rank, and never its neighbours.
RANKS = {
    "ir": 0,
    "passes": 1,
    "targets": 2,
    "runtime": 3,
    "autotune": 3,
    "frontend": 4,
    "nn": 5,
    "interop": 5,
    "data": 5,
    "train": 6,
    "command": 7,
}
FOLDERS = (*RANKS, "tests", "benchmarks", "examples", "docs", ".ci")
CODE = {".py", ".cpp", ".h", ".hpp"}
PROSE = {".cff", ".ir", ".json", ".lock", ".md", ".toml", ".txt", ".yaml", ".yml"}
UNSUFFIXED = {".gitignore", "LICENSE", "run"}

FILE_LINES = 400
COLUMNS = 100
CORE_LINES = 3000  # in ir/, without the dialects and the interpreter in its folders
FUNCTION_LINES = 40
EXCUSED_FUNCTION_LINES = 60
NESTING = 3

Function = ast.FunctionDef | ast.AsyncFunctionDef
Import = ast.Import | ast.ImportFrom
Compound = (
    ast.For
    | ast.AsyncFor
    | ast.While
    | ast.If
    | ast.With
    | ast.AsyncWith
    | ast.Try
    | ast.TryStar
    | ast.Match
)
Container = ast.stmt | ast.ExceptHandler | ast.match_case

pytestmark = pytest.mark.skipif(
    not (ROOT / "ir").is_dir(), reason="these are rules about a checkout, and this is a copy"
)


@pytest.fixture(autouse=True)
def undisturbed() -> Iterator[None]:
    """Trees of syntax have no cycles, and to look for some takes longer than to parse."""
    with collector_paused():
        yield


def test_the_core_is_small() -> None:
    core = [path for path in (ROOT / "ir").glob("*.py") if path.name != "dialects.py"]
    assert sum(text(path).count("\n") for path in core) <= CORE_LINES


def test_files_are_short() -> None:
    lengths = {path: text(path).count("\n") for path in files() if path.suffix in CODE}
    report(
        f"{path}: {length} lines, at most {FILE_LINES}"
        for path, length in lengths.items()
        if length > FILE_LINES
    )


def test_lines_of_the_native_core_are_short() -> None:
    """Those of Python are looked at by the linter."""
    report(
        f"{path}:{number}: {len(line)} columns, at most {COLUMNS}"
        for path in files()
        if path.suffix in (".cpp", ".hpp", ".h")
        for number, line in enumerate(text(path).splitlines(), 1)
        if len(line) > COLUMNS
    )


def test_functions_are_short() -> None:
    report(
        f"{path}:{function.lineno} {function.name}: {length(function)} lines, at most {limit}"
        for path, function in functions()
        if length(function) > (limit := limit_of(path, function))
    )


def test_nesting_is_shallow() -> None:
    report(
        f"{path}:{function.lineno} {function.name}: nested {depth} deep, at most {NESTING}"
        for path, function in functions()
        if (depth := nesting(function)) > NESTING
    )


def test_imports_run_downward() -> None:
    report(
        f"{path}:{node.lineno} {path.parts[0]}/ may not import {folder}/"
        for path, node in imports()
        for folder in imported_folders(path, node)
        if path.parts[0] in RANKS
        and folder != path.parts[0]
        and RANKS.get(folder, len(RANKS)) >= RANKS[path.parts[0]]
    )


def test_imports_are_relative_inside_the_package_only() -> None:
    report(
        f"{path}:{node.lineno} {'relative' if relative(node) else 'absolute'} import"
        for path, node in imports()
        if (of_brimstone(node) and in_package(path)) or (relative(node) and not in_package(path))
    )


def test_properties_have_no_lock() -> None:
    """That of Python 3.11 stays locked in the child of a process that forks beside a thread."""
    report(
        f"{path}:{node.lineno} take cached_property from ir/shared/properties.py"
        for path, node in imports()
        if isinstance(node, ast.ImportFrom) and node.module == "functools" and in_package(path)
        if any(alias.name == "cached_property" for alias in node.names)
    )


def test_no_package_file_under_tests() -> None:
    report(
        f"{path}: with it, tests would be imported as a package"
        for path in files()
        if path.parts[0] == "tests" and path.name == "__init__.py"
    )


def test_ignored_type_errors_are_named() -> None:
    bare = re.compile(r"#\s*(?:type|pyright):\s*ignore(?!\[)")
    report(
        f"{path}:{number} say which rule is ignored: ignore[rule]"
        for path in python_files()
        if "ignore" in text(path)
        for number, line in enumerate(text(path).splitlines(), 1)
        if bare.search(line)
    )


def test_no_text_names_a_home_folder() -> None:
    home = re.compile(r"/(?:home|Users)/\w|/(?:root)/")
    report(
        f"{path}:{number} {line.strip()}"
        for path in files()
        for number, line in enumerate(text(path).splitlines(), 1)
        if home.search(line)
    )


def test_the_wheel_holds_every_folder_of_the_package() -> None:
    project = tomllib.loads(text(Path("pyproject.toml")))
    mapped = project["tool"]["scikit-build"]["wheel"]["packages"]
    assert all(name == f"brimstone/{folder}" for name, folder in mapped.items())
    report(
        f"{folder}/ needs a line under tool.scikit-build.wheel.packages"
        for folder in RANKS
        if any((ROOT / folder).glob("*.py")) and folder not in mapped.values()
    )


def test_the_native_core_uses_no_streams() -> None:
    """Some compilers link C++'s library into ours. What its streams know of locales is then shared
    with another version of it that the process has, too, and reading a number ends the process."""
    folder = ROOT / "runtime" / "native"
    texts = {path.name: path.read_text() for path in folder.iterdir() if path.suffix in CODE}
    streams = re.compile(r"#include <(\w*stream|iomanip|locale|regex|syncstream)>")
    assert not {name: found for name, text in texts.items() if (found := streams.findall(text))}


def test_the_link_for_type_checkers_leads_to_the_root() -> None:
    link = ROOT / "typings" / "brimstone"
    assert link.is_symlink()
    assert link.resolve() == ROOT


@cache
def files() -> tuple[Path, ...]:
    """Every text file of the project, relative to the root."""
    found = list(ROOT.iterdir())
    for folder in FOLDERS:
        found += (ROOT / folder).rglob("*")
    ours = (path for path in found if path.suffix in CODE | PROSE or path.name in UNSUFFIXED)
    return tuple(sorted(path.relative_to(ROOT) for path in ours if path.is_file()))


@cache
def text(path: Path) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


@cache
def statements(path: Path) -> tuple[ast.stmt, ...]:
    """The functions and imports of a file, which expressions never hold."""
    found: list[ast.stmt] = []
    inside: list[ast.AST] = [ast.parse(text(path))]
    for node in inside:
        inner = [child for child in ast.iter_child_nodes(node) if isinstance(child, Container)]
        found += [child for child in inner if isinstance(child, Function | Import)]
        inside += inner
    return tuple(found)


def python_files() -> Iterator[Path]:
    return (path for path in files() if path.suffix == ".py")


def functions() -> Iterator[tuple[Path, Function]]:
    for path in python_files():
        yield from ((path, node) for node in statements(path) if isinstance(node, Function))


def imports() -> Iterator[tuple[Path, Import]]:
    for path in python_files():
        found = (node for node in statements(path) if isinstance(node, Import))
        yield from ((path, node) for node in found)


def length(function: Function) -> int:
    """Lines from `def` to the end, without the docstring's."""
    first = function.body[0]
    documented = ast.get_docstring(function, clean=False) is not None
    return lines(function) - (lines(first) if documented else 0)


def lines(node: ast.stmt) -> int:
    assert node.end_lineno is not None
    return node.end_lineno - node.lineno + 1


def limit_of(path: Path, function: Function) -> int:
    """More than usual where the signature carries the comment `long:` and a reason."""
    end = max(function.lineno, function.body[0].lineno - 1)
    signature = text(path).splitlines()[function.lineno - 1 : end]
    excused = any(re.search(r"# long: \w", line) for line in signature)
    return EXCUSED_FUNCTION_LINES if excused else FUNCTION_LINES


def nesting(node: ast.AST) -> int:
    """How deep compound statements lie in each other; an inner function is counted by itself."""
    inner = [child for child in ast.iter_child_nodes(node) if isinstance(child, Container)]
    return max(
        (
            nesting(child) + (isinstance(child, Compound) and not continues(node, child))
            for child in inner
            if not isinstance(child, Function)
        ),
        default=0,
    )


def continues(parent: ast.AST, child: ast.AST) -> bool:
    """Whether `child` is an `elif` of `parent`: an `if` that stands in its column."""
    return (
        isinstance(parent, ast.If)
        and isinstance(child, ast.If)
        and parent.orelse == [child]
        and parent.col_offset == child.col_offset
    )


def imported_folders(path: Path, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """The folders under the root that a relative import reaches."""
    if isinstance(node, ast.Import) or not node.level:
        return
    package = path.parent.parts
    base = package[: len(package) - node.level + 1]
    place = (*base, *(node.module.split(".") if node.module else ()))
    if place:
        yield place[0]
        return
    names = (alias.name for alias in node.names if not alias.name.startswith("__"))
    yield from (name if name in RANKS else "frontend" for name in names)


def relative(node: ast.Import | ast.ImportFrom) -> bool:
    return isinstance(node, ast.ImportFrom) and node.level > 0


def of_brimstone(node: ast.Import | ast.ImportFrom) -> bool:
    named = [alias.name for alias in node.names]
    modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else named
    return not relative(node) and any(name.split(".")[0] == "brimstone" for name in modules)


def in_package(path: Path) -> bool:
    return path.parts[0] in RANKS or str(path) in ("__init__.py", "__main__.py")


def report(problems: Iterator[str]) -> None:
    found = list(problems)
    assert not found, "\n" + "\n".join(found)
