"""Each rule of a directory finds its hits and leaves its near misses."""

import json
import re

import pytest

from toolvet.core.directories import DirectoryRule, directory, directory_names, unmet
from toolvet.errors import UsageError

RULES = [(name, rule) for name in directory_names() for rule in directory(name).rule]


def found(name: str, rule: DirectoryRule, text: str) -> bool:
    """`<9>` in a proof is nine letters."""
    given, value = directory(name), json.loads(re.sub(r"<(\d+)>", lambda size: "x" * int(size[1]), text))
    tools, manifests = ([value], {}) if rule.about == "tool" else ([], {given.manifest: value})
    return rule.id in {each.id for each, _ in unmet(given, tools, manifests)}


@pytest.mark.parametrize(("name", "rule"), RULES, ids=[f"{name}-{rule.id}" for name, rule in RULES])
def test_a_rule_finds_its_hits_and_leaves_its_misses(name: str, rule: DirectoryRule) -> None:
    assert rule.hits
    assert rule.misses
    assert [text for text in rule.hits if not found(name, rule, text)] == []
    assert [text for text in rule.misses if found(name, rule, text)] == []
    assert (rule.source or directory(name).source).startswith("https://")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", rule.date or directory(name).date)
    assert not rule.says.endswith(".")


def test_a_manifest_of_something_else_and_one_that_is_missing_break_nothing() -> None:
    assert not list(unmet(directory("claude"), [], {"manifest.json": {"manifest_version": 3, "name": "browser"}}))
    assert not list(unmet(directory("registry"), [], {}))


@pytest.mark.parametrize("tool", [None, 7, [], {"annotations": 1}, {"inputSchema": {"properties": []}}])
def test_any_definition_gets_an_answer(tool: object) -> None:
    for name in directory_names():
        for rule, position in unmet(directory(name), [tool], {"server.json": tool, "manifest.json": tool}):
            assert (rule.says, position) == (rule.says, 0)


def test_an_unknown_directory_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="there is no profile 'acme'; there are claude, openai, registry"):
        directory("acme")
