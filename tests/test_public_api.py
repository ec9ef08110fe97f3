"""The list of public names is true for Python, for type checkers and for editors, and importing it stays cheap."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import toolvet

DRIVERS = ("mcp", "httpx2", "rich", "cyclopts", "asyncio", "jinja2")
ROOT = Path(__file__).parent.parent
STUB = ROOT / "src" / "toolvet" / "__init__.pyi"

LISTED = {
    alias.asname: f"{statement.module}.{alias.name}"
    for statement in ast.parse(STUB.read_text(encoding="utf-8")).body
    if isinstance(statement, ast.ImportFrom)
    for alias in statement.names
}
PUBLIC: list[str] = getattr(toolvet, "__all__")  # noqa: B009 - dynamic, and not in the stub


def test_python_gives_the_names_that_the_stub_lists_and_no_other() -> None:
    assert set(PUBLIC) == set(LISTED)
    assert len(PUBLIC) == len(set(PUBLIC))
    assert set(PUBLIC) <= set(dir(toolvet))
    starred: dict[str, object] = {}
    exec("from toolvet import *", starred)  # noqa: S102 - the only way to ask for a star here
    assert set(starred) - {"__builtins__"} == set(PUBLIC)


def test_the_stub_holds_nothing_but_imports_that_export_their_names() -> None:
    for statement in ast.parse(STUB.read_text(encoding="utf-8")).body:
        assert isinstance(statement, ast.ImportFrom), ast.unparse(statement)
        assert all(alias.asname == alias.name for alias in statement.names), ast.unparse(statement)


@pytest.mark.parametrize(("name", "home"), LISTED.items())
def test_a_public_name_comes_from_where_the_stub_says(name: str, home: str) -> None:
    module = __import__(home.rpartition(".")[0], fromlist=[name])
    assert getattr(toolvet, name) is getattr(module, name)


def test_a_name_that_is_not_public_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="check_nothing"):
        toolvet.check_nothing  # type: ignore[attr-defined]  # noqa: B018


def test_every_public_name_is_there_and_documented() -> None:
    for name in PUBLIC:
        value = getattr(toolvet, name)
        assert name == "__version__" or value.__doc__, name


@pytest.mark.parametrize("module", DRIVERS)
def test_the_checks_do_not_load_what_only_drivers_need(module: str) -> None:
    every = "[getattr(toolvet, name) for name in toolvet.__all__]"
    code = f"import sys, toolvet; {every}; sys.exit({module!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_to_import_toolvet_loads_only_what_loads_its_names() -> None:
    code = (
        "import sys, toolvet; loaded = {name for name in sys.modules if name.startswith('toolvet.')};"
        "sys.exit(loaded != {'toolvet.core', 'toolvet.core.exports'})"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_free_threaded_python_is_refused_in_one_sentence() -> None:
    program = "import sys; sys._is_gil_enabled = lambda: False\nimport toolvet"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].startswith("ImportError: toolvet is not tested on free-threaded Python")
