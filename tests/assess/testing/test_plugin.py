"""The fixtures for pytest, in pytest runs of their own, against real servers."""

import json
import sys
import tomllib
from pathlib import Path

import pytest

from toolvet.assess.testing.server import ServerUnderTest, differences, written
from toolvet.mcp.transport import StdioTarget

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/testing.md").read_text(encoding="utf-8")
GOOD = (Path(__file__).parent / "good_server.py").read_text(encoding="utf-8")


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project with a server and the tests of the page."""
    pytester.path.joinpath("server.py").write_text(GOOD, encoding="utf-8")
    pytester.makeini(f"[pytest]\ntoolvet_server = {sys.executable} server.py\n")
    pytester.makepyfile(test_server=PAGE.split("```python\n")[1].split("```")[0])
    return pytester


@pytest.fixture(autouse=True)
def no_plugins_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of all packages here would take seconds to load."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


def run(project: pytest.Pytester, *args: str) -> pytest.RunResult:
    return project.runpytest_subprocess("-p", "toolvet.assess.testing.plugin", "-q", *args)


def test_pytest_finds_the_plugin() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (entry,) = project["entry-points"]["pytest11"].items()
    assert entry == ("toolvet", "toolvet.assess.testing.plugin")


def test_the_page_is_a_test_of_a_good_server(project: pytest.Pytester) -> None:
    run(project, "--toolvet-update", "-k", "defined").assert_outcomes(passed=1, deselected=2)
    snapshot = project.path / "__toolvet__" / "test_server.json"
    assert [tool["name"] for tool in json.loads(snapshot.read_text())["tools"]] == ["search_books"]
    run(project).assert_outcomes(passed=3)
    (project.path / "server.py").write_text(GOOD.replace("Search the shelf", "Look"), encoding="utf-8")
    changed = run(project, "-k", "defined")
    changed.assert_outcomes(failed=1, deselected=2)
    assert '~ search_books /description: "Search the shelf for a title." → "Look for a title."' in changed.stdout.str()


def test_a_bad_server_fails_with_its_findings(project: pytest.Pytester) -> None:
    bad = GOOD.replace('f"1 book: {query}"', '"Error: the shelf cannot be reached: connection refused"')
    (project.path / "server.py").write_text(bad, encoding="utf-8")
    found = run(project, "-k", "promises")
    found.assert_outcomes(failed=1, deselected=2)
    found.stdout.fnmatch_lines(["*score*", "*again: toolvet assess --tool search_books*", "*toolvet explain*"])


def test_without_a_server_a_test_says_what_is_missing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(toolvet_server): pass")
    found = run(pytester)
    found.assert_outcomes(errors=1)
    assert "which server? Set toolvet_server" in found.stdout.str()


def test_a_run_that_asks_for_nothing_imports_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "import sys\n"
        "def test_it():\n"
        "    loaded = {name for name in sys.modules if name.startswith('toolvet.')}\n"
        "    others = loaded - {'toolvet.assess', 'toolvet.assess.testing', 'toolvet.assess.testing.plugin'}\n"
        "    assert not {name for name in others if 'assess' in name or 'transport' in name}, loaded\n"
        "    assert len(loaded) < 10, loaded\n"
    )
    run(pytester).assert_outcomes(passed=1)


def test_a_tool_that_is_not_there_is_said(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(GOOD, encoding="utf-8")
    server = ServerUnderTest(StdioTarget(sys.executable, ("server.py",), cwd=str(tmp_path)))
    with pytest.raises(Exception, match="no tool 'find'; it has: search_books"):
        server.call("find", {})
    assert server.call("search_books", {"query": "Emma"}).text == "1 book: Emma"
    assert server.call("search_books", {"query": 7}).verdict.is_error


OLD = {"name": "find", "inputSchema": {"properties": {"n": {"maximum": 1}, "a/b~c": {}}, "required": ["n"]}}


@pytest.mark.parametrize(
    ("new", "lines"),
    [
        ([OLD], ()),
        ([], ("- find: the tool is gone",)),
        ([OLD, {"name": "add"}], ("+ add: the tool is new",)),
        (
            [{"name": "find", "inputSchema": {"properties": {"n": {"maximum": True}}, "required": ["n", "m"]}}],
            (
                "~ find /inputSchema/properties/a~1b~0c: {} is gone",
                "~ find /inputSchema/properties/n/maximum: 1 → true",
                '~ find /inputSchema/required: ["n"] → ["n", "m"]',
            ),
        ),
        ([{**OLD, "title": "Find"}], ('~ find /title: "Find" is new',)),
    ],
)
def test_differences_are_told_place_by_place(new: list[object], lines: tuple[str, ...]) -> None:
    assert differences(json.loads(written([OLD])), json.loads(written(new))) == lines


def test_many_differences_are_cut_and_counted() -> None:
    found = differences({"tools": [{"name": str(n)} for n in range(100)]}, {"tools": []})
    assert len(found) == 41
    assert found[-1] == "… and 60 more differences"


def test_what_servers_send_beside_a_definition_is_no_difference() -> None:
    assert written([{"name": "b", "_meta": {"x": 1}}, {"name": "a"}]) == written([{"name": "a"}, {"name": "b"}])
    assert differences(None, {"tools": 5}) == ()
