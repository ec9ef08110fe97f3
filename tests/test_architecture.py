"""ARCHITECTURE.md's promises about imports: no circle, one order of the wings, and other wings only by their doors."""

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SRC = ROOT / "src"
PACKAGE = SRC / "toolvet"
WINGS = ("core", "mcp", "store", "assess", "proxy", "agents", "server", "batch", "cli")


def module_name(file: Path) -> str:
    parts = file.relative_to(SRC).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(file: Path, known: Mapping[str, Path]) -> Iterator[Path]:
    """The files of `known` that a file imports anywhere in it: also in functions, and for type checkers only.

    That importing `a.b` runs `a/__init__.py` first does not count: a package loads its public names when they are
    first used, so it does not need its own modules to be imported.
    """
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file.relative_to(ROOT)}:{node.lineno}: write the import with the whole name"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                names.append(whole if whole in known else f"{node.module}")
        yield from (known[name] for name in names if name in known)


def circles(edges: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """The strongly connected components with more than one node, or with an edge to itself (Tarjan)."""
    found: list[list[str]] = []
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in edges[node]:
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            component = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(component) > 1 or node in edges[node]:
                found.append(sorted(component))

    for node in edges:
        if node not in index:
            visit(node)
    return found


def test_circles_are_found() -> None:
    assert circles({"a": ["b"], "b": ["c"], "c": ["a"], "d": ["d", "a"], "e": ["a"]}) == [["a", "b", "c"], ["d"]]


def test_the_import_graph_has_no_circle() -> None:
    known = {module_name(file): file for file in sorted(PACKAGE.rglob("*.py"))}
    edges = {name: sorted({module_name(other) for other in imported(file, known)}) for name, file in known.items()}
    # A reader that finds nothing would find no circle either.
    assert sum(map(len, edges.values())) > 1000
    for circle in circles(edges):
        files = ", ".join(str(known[name].relative_to(ROOT)) for name in circle)
        pytest.fail(f"these files import each other in a circle: {files}; move what they share into a file below them")


def contract() -> Mapping[str, object]:
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = pyproject["tool"]["importlinter"]["contracts"]
    (layers,) = [each for each in contracts if each.get("containers") == ["toolvet"]]
    assert isinstance(layers, dict)
    return layers


def test_every_wing_has_a_place_and_nothing_else_is_at_the_top() -> None:
    layers = contract()
    assert layers["exhaustive"] is True
    assert "exhaustive_ignores" not in layers
    assert "ignore_imports" not in layers
    rows = layers["layers"]
    assert isinstance(rows, list)
    placed = [room for row in rows for room in re.split(r"\s*[|:]\s*", row)]
    assert len(placed) == len(set(placed)), "a wing has two places in the layers of pyproject.toml"
    assert set(placed) == {*WINGS, "__main__", "errors", "findings", "version"}
    at_the_top = {path.name.partition(".")[0] for path in PACKAGE.iterdir() if path.name != "__pycache__"}
    assert at_the_top == {*placed, "__init__", "py"}


def test_architecture_md_draws_the_wings() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert len(text.encode()) <= 12 * 1024
    drawn = re.search(r"```\n(.*?)```", text, re.DOTALL)
    assert drawn is not None
    for wing in WINGS:
        assert re.search(rf"\b{wing}\b", drawn[1]), f"the picture in ARCHITECTURE.md lacks {wing}"
        assert re.search(rf"^\*\*`{wing}`\*\*", text, re.MULTILINE), f"ARCHITECTURE.md has no paragraph on {wing}"


def deep_imports(file: Path) -> Iterator[str]:
    """The modules of other wings that a file imports from deeper than a direct child of the wing."""
    own = file.relative_to(PACKAGE).parts[0]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        for name in [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]:
            parts = name.split(".")
            if parts[0] == "toolvet" and len(parts) > 3 and parts[1] != own:
                yield f"{file.relative_to(ROOT)}:{node.lineno}: {name}"


def test_another_wing_is_imported_by_its_name_or_by_a_direct_child() -> None:
    found = [line for file in sorted(PACKAGE.rglob("*.py")) for line in deep_imports(file)]
    assert found == [], "add the name to the __init__.pyi of the wing's direct child, and import it from there"


@pytest.mark.parametrize(
    "stub", sorted(PACKAGE.rglob("__init__.pyi")), ids=lambda stub: module_name(stub.with_suffix(".py"))
)
def test_a_door_offers_what_it_lists(stub: Path) -> None:
    package = import_module(module_name(stub.with_suffix(".py")))
    lines = ast.parse(stub.read_text(encoding="utf-8")).body
    listed = [alias for line in lines if isinstance(line, ast.ImportFrom) for alias in line.names]
    assert len(listed) == sum(len(getattr(line, "names", ())) for line in lines), "a stub holds imports only"
    assert all(alias.asname == alias.name for alias in listed)
    assert sorted(alias.name for alias in listed) == getattr(package, "__all__")  # noqa: B009 - not in the stub
    # An import of the submodule would replace a function of the same name.
    submodules = {path.stem for path in stub.parent.iterdir() if path.is_dir() or path.suffix == ".py"}
    for line in lines:
        assert isinstance(line, ast.ImportFrom)
        assert line.module == package.__name__ or submodules.isdisjoint(alias.name for alias in line.names)
    assert all(hasattr(package, alias.name) for alias in listed)


@pytest.mark.parametrize("folder", sorted(PACKAGE.rglob("__init__.py")), ids=module_name)
def test_a_folder_says_in_one_line_what_it_is(folder: Path) -> None:
    words = ast.get_docstring(ast.parse(folder.read_text(encoding="utf-8"))) or ""
    line = words.partition("\n")[0]
    assert re.fullmatch(r".{10,}[.:]", line), f"{folder.relative_to(ROOT)}: its docstring must open with one whole line"
