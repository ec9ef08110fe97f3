"""A test for each row of the table in CONTRIBUTING.md: what has no proof fails, with a sentence that says what to add.

The lists are read from the folders. Whether a proof holds is tested beside it; here it only has to be there.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import toolvet
from toolvet.assess.report import formats
from toolvet.assess.rules import cards
from toolvet.assess.rules.judge import rules
from toolvet.assess.rules.rule import Rule
from toolvet.cli import commands_of
from toolvet.core.checks.answer import SignalType
from toolvet.core.checks.answer.ending_marks import ending_table
from toolvet.core.checks.answer.shape import finish_reasons, plain_reason
from toolvet.core.checks.arguments.wording import wording as keyword_wording
from toolvet.core.checks.result.shapes import result_shapes
from toolvet.core.discover import modules
from toolvet.core.tools.shape import tool_shapes
from toolvet.core.turn.check import wording as answer_wording
from toolvet.server.scores import destination_names

TESTS = Path(__file__).parent
PACKAGE = Path(toolvet.__file__).parent

# Rows that no arguments in JSON reach.
NOT_FROM_JSON = {
    "fromUtf8": "the engine reports the encoding first",
    "unchecked": "for tools without a schema",
    "unlisted": "for calls with thousands of mistakes",
    "unexplained": "for values that are not JSON, and violations without number",
    "other": "for keywords that a later version of the engine may report",
}


def name_of(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]


def table(path: Path) -> dict[str, object]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def test_a_rule_has_cases() -> None:
    lacking = [rule for rule in rules() if not both_kinds(subject_of(rule), rule.card.id)]
    assert not lacking, (
        f"{lacking[0].card.id} has no proof: add to tests/assess/rules/cases/{subject_of(lacking[0])}.toml a "
        f'[[{lacking[0].card.id}]] that the rule finds and one that it leaves alone (expect = "nothing")'
    )


def subject_of(rule: Rule[...]) -> str:
    """The name of the file of a rule."""
    return rule.judge.__module__.rpartition(".")[2]


def both_kinds(subject: str, rule: str) -> bool:
    path = TESTS / "assess" / "rules" / "cases" / f"{subject}.toml"
    cases = table(path).get(rule) if path.exists() else None
    assert cases is None or isinstance(cases, list)
    return {case["expect"] == "nothing" for case in cases or ()} == {True, False}


# The whole of a rule: its name and what it finds.
NEW_RULE = """
from toolvet.findings import Card, Severity
from toolvet.assess.rules.rule import of_tool

TOOL_SHOUTS = Card(
    id="tool-shouts", title="A name shouts", severity=Severity.INFO, looks_for="Capitals.", why="They are loud.",
    remedy="Write small letters.",
)


@of_tool(TOOL_SHOUTS)
def check_tool_shouts(tool):
    if tool.name.isupper():
        yield TOOL_SHOUTS.finding(message="The name shouts.")
"""


@pytest.mark.parametrize("file", ["definitions", "voices"])
def test_a_rule_needs_nothing_but_its_text_in_a_file_of_the_catalogue(file: str, tmp_path: Path) -> None:
    """In a file that is there, or in a new one: a process that finds the changed catalogue judges by the rule."""
    for path in (PACKAGE / "assess" / "rules" / "catalog").glob("*.*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    with (tmp_path / f"{file}.py").open("a", encoding="utf-8") as rule:
        rule.write(NEW_RULE)
    judged = (
        "import sys, toolvet.assess.rules.catalog; toolvet.assess.rules.catalog.__path__.insert(0, sys.argv[1])\n"
        "from toolvet.assess.rules import cards, judge_tool, tool_definition\n"
        "print(*[finding.id for finding in judge_tool(tool_definition({'name': 'SEARCH', 'inputSchema': {}}))])\n"
        "print(len(cards()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", judged, str(tmp_path)], capture_output=True, encoding="utf-8", check=True
    )
    found, count = done.stdout.splitlines()
    assert found.split() == ["schema-not-object", "tool-shouts", "tool-undescribed"]
    assert int(count) == len(cards()) + 1


def test_a_phrase_has_hits_and_misses() -> None:
    found = 0
    for path in sorted(PACKAGE.rglob("*.toml")):
        for entry in phrases_in(table(path)):
            found += 1
            lacking = [proof for proof in ("hits", "misses") if not entry.get(proof)]
            assert not lacking, (
                f"{path.relative_to(PACKAGE)}: the entry that matches {entry['match']!r} has no {lacking[0]}: "
                f"add texts {'in which it must' if lacking[0] == 'hits' else 'in which it must not'} count"
            )
    assert found > 2000


def phrases_in(value: object) -> Iterator[dict[str, object]]:
    """Every table with a `match`, however deep."""
    if isinstance(value, dict):
        if "match" in value:
            yield value
        for inner in value.values():
            yield from phrases_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from phrases_in(inner)


def test_a_finish_reason_has_a_hit_and_one_meaning() -> None:
    kinds: dict[str, str] = {}
    for kind, vendors in finish_reasons().items():
        for vendor, entry in vendors.items():
            unproven = set(entry.reasons) - {plain_reason(hit) for hit in entry.hits}
            assert not unproven, (
                f"finish.toml: [{kind}.{vendor}] lists {min(unproven)!r} without a proof: "
                "add to its `hits` how the vendor's responses spell it"
            )
            for hit in entry.hits:
                reason = plain_reason(hit)
                assert reason in entry.reasons, f"finish.toml: [{kind}.{vendor}] has a hit {hit!r} for no reason of it"
                assert kinds.setdefault(reason, kind) == kind, f"finish.toml: {reason!r} is {kinds[reason]} and {kind}"


def test_a_language_of_endings_has_hits_and_misses() -> None:
    endings = ending_table()
    for language in endings.dangling:
        for proof, texts in (("hits", endings.hits), ("misses", endings.misses)):
            assert texts.get(language), (
                f"ending.toml: [dangling] knows words of {language!r} without a proof: add to [{proof}] a text that "
                f"{'breaks off at one of them' if proof == 'hits' else 'ends without a mark, and need not go on'}"
            )


def test_a_wording_of_answers_belongs_to_a_signal() -> None:
    sources = [path for suffix in ("py", "toml") for path in PACKAGE.rglob(f"*.{suffix}") if path.stem != "wording"]
    known = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    types = {signal.value for signal in SignalType}
    missing = types - answer_wording().keys()
    assert not missing, f"checks/answer/wording.toml: add [{min(missing)}] with a name, feedback and advice"
    for row in answer_wording():
        kind, _, label = row.partition("-")
        assert kind in types | {"turn"}, f"checks/answer/wording.toml: [{row}] is for no signal: use one of {types}"
        assert re.search(rf"\b{label}", known), (
            f"checks/answer/wording.toml: [{row}] is for a label that no signal has: give a phrase the label {label!r}"
        )


def test_a_wording_of_arguments_has_a_case() -> None:
    cases = table(TESTS / "core" / "checks" / "keywords.toml")["case"]
    assert isinstance(cases, list)
    lacking = set(keyword_wording().keyword) - {case["row"] for case in cases} - set(NOT_FROM_JSON)
    assert not lacking, (
        f"[keyword.{min(lacking)}] in checks/arguments/wording.toml has no proof: add a [[case]] with "
        f'row = "{min(lacking)}" to tests/core/checks/keywords.toml'
    )


def test_a_report_format_has_a_snapshot() -> None:
    taken = {path.name.partition(".")[2] for path in (TESTS / "assess" / "report" / "snapshots").iterdir()}
    for report_format in formats().values():
        ending = report_format.name if report_format.suffix == ".txt" else report_format.suffix.removeprefix(".")
        assert ending in taken, (
            f"the report format {report_format.name!r} has no snapshot: "
            "run TOOLVET_UPDATE_SNAPSHOTS=1 pytest tests/assess/report, and read what it wrote to its snapshots/"
        )


def test_a_scenario_category_has_cases() -> None:
    for name in map(name_of, modules("toolvet.assess.scenarios")):
        path = TESTS / "assess" / "categories" / f"{name}.toml"
        assert path.exists(), (
            f"the scenario category {name!r} has no proof: add tests/assess/categories/{name}.toml with "
            "[[case]] entries: a schema, and the names of the calls that it plans"
        )


def test_a_command_has_a_test() -> None:
    folders = [TESTS / name for name in ("cli", "proxy", "assess", "server", "agents")]
    files = [path.read_text(encoding="utf-8") for folder in folders for path in folder.rglob("*.py")]
    for words in commands():
        # `"check", "answer"` and `toolvet check answer` are both calls of a command; `check` alone may be any word.
        quoted = re.escape(words).replace(r"\ ", r"\W+")
        assert any(re.search(rf"""["']{quoted}["']|toolvet {quoted}\b""", file) for file in files), (
            f"the command 'toolvet {words}' has no test: add one to tests/cli that runs it and reads what it prints"
        )


def commands() -> Iterator[str]:
    """The words of every command: each module in the folder of commands has a `command`, sub-commands, or both."""
    for module in modules("toolvet.cli.commands"):
        command, inner = commands_of(module)
        if command is not None:
            yield name_of(module)
        yield from (f"{name_of(module)} {word}" for word in inner)


NEW_COMMAND = '''
"""`toolvet greet`: say hello."""

def command(name: str) -> int:
    """Say hello."""
    print("hello", name)
    return 0

def twice(name: str) -> int:
    """Say hello twice."""
    print("hello hello", name)
    return 0
'''


def test_a_command_needs_nothing_but_its_file(tmp_path: Path) -> None:
    (tmp_path / "greet.py").write_text(NEW_COMMAND, encoding="utf-8")
    called = (
        "import sys, toolvet.cli, toolvet.cli.commands; toolvet.cli.commands.__path__.append(sys.argv[1])\n"
        "sys.exit(toolvet.cli.run(sys.argv[2:]))"
    )
    for words, said in ((("greet", "Ada"), "hello Ada\n"), (("greet", "twice", "Ada"), "hello hello Ada\n")):
        done = subprocess.run(
            [sys.executable, "-c", called, str(tmp_path), *words], capture_output=True, encoding="utf-8", check=True
        )
        assert done.stdout == said


def test_a_format_of_messages_has_a_conversation() -> None:
    for name in map(name_of, modules("toolvet.core.messages.formats")):
        path = TESTS / "core" / "messages" / "conversations" / f"{name}.json"
        assert path.exists(), (
            f"the format of messages {name!r} has no proof: add tests/core/messages/conversations/{name}.json "
            "with the conversation that the files beside it have in theirs"
        )


def test_an_integration_has_a_test() -> None:
    files = [path.read_text(encoding="utf-8") for path in (TESTS / "agents" / "integrations").glob("*.py")]
    files += [path.read_text(encoding="utf-8") for path in (TESTS / "core" / "turn").rglob("*.py")]
    for name in sorted(path.stem for path in (PACKAGE / "agents" / "integrations").glob("[!_]*.py")):
        assert any(re.search(rf"toolvet\.agents\.integrations(\.| import .*\b){name}\b", file) for file in files), (
            f"toolvet.agents.integrations.{name} has no test: "
            f"add tests/agents/integrations/test_{name}.py with a server that uses it"
        )


def test_the_table_names_places_that_are_there() -> None:
    page = (TESTS.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("|")]
    places = {place for row in rows for place in re.findall(r"`((?:src|tests)/[\w/.]+?)(?:[<*][^`]*)?`", row)}
    assert len(places) > 8
    missing = {place for place in places if not (TESTS.parent / place).exists()}
    assert not missing, f"CONTRIBUTING.md names {min(missing)}, which does not exist"


def test_a_shape_that_comes_as_json_has_examples() -> None:
    lacking = [shape.name for shape in tool_shapes() if shape.example.startswith("{") and not shape.hits]
    lacking += [shape.name for shape in result_shapes() if shape.example.startswith("{") and not shape.fails]
    assert not lacking, f"{lacking[0]} has no proof: add hits (tools) or fails (results) to its table in shapes.toml"


def test_a_platform_for_scores_has_tests() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in (TESTS / "server" / "scores").glob("test_scores*.py"))
    lacking = [name for name in destination_names() if f'sent(store, "{name}"' not in text]
    assert not lacking, (
        f"{lacking[0]} has no proof: add tests to tests/server/scores/test_scores_NAME.py that send to a local "
        "server with its real SDK"
    )
