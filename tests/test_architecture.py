"""ARCHITECTURE.md's promises about imports: they form no circle, and every room has a place in a layer."""

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SRC = ROOT / "src"
PACKAGE = SRC / "toolvet"


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


def test_every_room_has_a_place_in_a_layer() -> None:
    layers = contract()
    assert layers["exhaustive"] is True
    assert "exhaustive_ignores" not in layers
    assert "ignore_imports" not in layers
    rows = layers["layers"]
    assert isinstance(rows, list)
    placed = [room for row in rows for room in re.split(r"\s*[|:]\s*", row)]
    rooms = {path.stem for path in PACKAGE.glob("*.py")} | {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    rooms -= {"__init__", PACKAGE.name}
    assert len(placed) == len(set(placed)), "a room has two places in the layers of pyproject.toml"
    assert set(placed) == rooms, f"pyproject.toml's layers do not match src/toolvet: {sorted(set(placed) ^ rooms)}"


def test_architecture_md_draws_the_same_layers() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    drawn = re.search(r"```\n(testing .*?)```", text, re.DOTALL)
    assert drawn is not None
    rows = contract()["layers"]
    assert isinstance(rows, list)
    for room in (room for row in rows for room in row.split(" | ") if room not in {"__main__", "version"}):
        assert re.search(rf"\b{room}\b", drawn[1]), f"ARCHITECTURE.md's drawing of the layers lacks the room {room}"


@pytest.mark.parametrize("folder", sorted(PACKAGE.rglob("__init__.py")), ids=module_name)
def test_a_folder_says_in_one_line_what_it_is(folder: Path) -> None:
    words = ast.get_docstring(ast.parse(folder.read_text(encoding="utf-8"))) or ""
    line = words.partition("\n")[0]
    assert re.fullmatch(r".{10,}[.:]", line), f"{folder.relative_to(ROOT)}: its docstring must open with one whole line"
