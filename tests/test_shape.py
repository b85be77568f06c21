"""The shape of the tree: what a reader may rely on, and what a linter does not hold."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "batchcrawl"
TOP = {
    ".ci",
    ".gitignore",
    "LICENSE",
    "Makefile",
    "README.md",
    "batchcrawl",
    "data",
    "docs",
    "jobs",
    "pyproject.toml",
    "tests",
}
FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 60
FUNCTION_LINES_MOSTLY = 35
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "base", "manager"}
MACHINE_PATHS = re.compile(r"(?<![\w.])/(?:work|root|tmp/v|home/\w+)/")
DEPENDENCY = re.compile(r'^ +"([\w.-]+)[^"]*", +# .*\(([^()]+)\)$', re.MULTILINE)


def sources() -> list[Path]:
    return [path for folder in (PACKAGE, ROOT / "tests") for path in sorted(folder.rglob("*.py"))]


def texts() -> Iterator[Path]:
    """Yield the files that people wrote, without the data that tests took from elsewhere."""
    yield from (ROOT / name for name in sorted(TOP) if (ROOT / name).is_file())
    for folder in ("batchcrawl", "tests", "docs", "jobs", ".ci"):
        for path in sorted((ROOT / folder).rglob("*")):
            if "__pycache__" in path.parts or ROOT / "tests" / "data" in path.parents:
                continue
            if path.is_file() and path.suffix != ".png":
                yield path


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def functions() -> Iterator[tuple[str, int]]:
    """Yield every function as `file:line name` with its number of lines."""
    for path in sources():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or 0) - node.lineno + 1
                yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name}", lines


def imported(path: Path) -> set[str]:
    """Return the top-level names that a file imports for more than its types."""
    names: set[str] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names.add(node.module.partition(".")[0])
    return names - {"_typeshed"}


def dependencies() -> dict[str, list[str]]:
    """Return the dependencies and those of extras, each with the places that its comment names."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    project = text[text.index("dependencies = [") : text.index("[project.scripts]")]
    return {name: places.split(", ") for name, places in DEPENDENCY.findall(project)}


def import_names(distribution: str) -> set[str]:
    wanted = re.sub(r"[-_.]+", "-", distribution).lower()
    return {
        name
        for name, owners in packages_distributions().items()
        if wanted in {re.sub(r"[-_.]+", "-", owner).lower() for owner in owners}
    }


def test_the_top_level_holds_what_the_design_says_and_nothing_else() -> None:
    ignored = [line.strip("/") for line in (ROOT / ".gitignore").read_text("utf-8").splitlines() if line[:1] != "!"]
    names = {path.name for path in ROOT.iterdir() if not any(fnmatch(path.name, pattern) for pattern in ignored)}
    assert names - {".git"} == TOP


def test_no_file_is_too_long_to_be_read_at_one_sitting() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines()) for path in sources()}
    assert {name: lines for name, lines in lengths.items() if lines > FILE_LINES_MAX} == {}


def test_no_function_is_too_long() -> None:
    assert [name for name, lines in functions() if lines > FUNCTION_LINES_MAX] == []


def test_nine_functions_in_ten_are_short() -> None:
    lengths = [lines for _, lines in functions()]
    assert sum(lines < FUNCTION_LINES_MOSTLY for lines in lengths) >= 0.9 * len(lengths)


def test_no_module_has_a_name_that_says_nothing() -> None:
    paths = [path.relative_to(ROOT) for path in sources()]
    assert [str(path) for path in paths if EMPTY_NAMES & {*path.parts[:-1], path.stem}] == []


def test_every_folder_of_the_package_says_what_it_is() -> None:
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    assert [str(folder) for folder in folders if not ast.get_docstring(tree(folder / "__init__.py"))] == []


def test_every_dependency_has_a_line_of_reason_and_its_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    declared = [*project["dependencies"], *chain.from_iterable(project["optional-dependencies"].values())]
    assert list(dependencies()) == [re.split(r"[^\w.-]", line)[0] for line in declared]


@pytest.mark.parametrize("name", dependencies())
def test_a_dependency_is_imported_where_its_comment_says(name: str) -> None:
    for place in dependencies()[name]:
        path = PACKAGE / place
        files = sorted(path.rglob("*.py")) if place.endswith("/") else [path]
        assert all(file.exists() for file in files), f"{place} is not there"
        assert any(import_names(name) & imported(file) for file in files), f"{place} does not import it"


def test_nothing_is_imported_that_is_not_a_dependency() -> None:
    known = {"batchcrawl", *sys.stdlib_module_names}.union(*map(import_names, dependencies()))
    strange = {str(path.relative_to(ROOT)): imported(path) - known for path in sorted(PACKAGE.rglob("*.py"))}
    assert {name: names for name, names in strange.items() if names} == {}


def test_no_text_names_a_path_of_the_machine_it_was_written_on() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number} {line.strip()}"
        for path in texts()
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if MACHINE_PATHS.search(line)
    ]
    assert found == []
