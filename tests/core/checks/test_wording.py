"""Reports in the user's own words: another language, another voice, and clear errors for texts that cannot be used."""

import copy
import json
import pickle
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from toolvet import ArgumentCheck, ConfigError, Wording, check_arguments, load_settings, load_wording, read_wording
from toolvet.core.discover import data_file
from toolvet.proxy.session import Policies, ProxySettings, Session

TOOL = {
    "name": "sail",
    "inputSchema": {
        "type": "object",
        "properties": {"port": {"type": "string", "minLength": 2}, "crew": {"type": "integer", "minimum": 1}},
        "required": ["port"],
        "additionalProperties": False,
    },
}
WRONG: dict[str, Any] = {"crew": 0, "speed": 3}
GERMAN = """
inherit = true

[text]
summary_invalid = "Das Werkzeug '{tool}' kann so nicht aufgerufen werden: {count} Fehler."
issues_heading = "Fehler:"
received = "Gesendet"
expected = "Erwartet"
fix = "Abhilfe"

[phrase]
provide = "Senden Sie {what}."
integer = "eine ganze Zahl"
string = "einen Text"
with_limits = "{type} mit {limits}"
character = "Zeichen"
characters = "Zeichen"

[keyword.minimum]
problem = "Die Zahl muss mindestens {limit} sein"
expected = "mindestens {limit}"

[keyword.minLength]
phrase = "mindestens {characters}"

[keyword.required]
problem = "Fehlt"
fix = "Ergänzen Sie '{name}': {provide}"

[keyword.additionalProperties]
problem = "Unbekanntes Feld"
fix = "Entfernen Sie '{name}'; {allowed}."

[suggestion]
required = "Ergänzen Sie: {fields}"
"""


def builtin() -> str:
    return data_file("toolvet.core.checks.arguments", "wording.toml").decode()


def test_a_report_speaks_another_language() -> None:
    report = check_arguments(TOOL, WRONG, wording=read_wording(GERMAN))
    text = report.to_text()
    assert text.startswith("❌ Das Werkzeug 'sail' kann so nicht aufgerufen werden: 3 Fehler.\n\n## Fehler:")
    assert "**crew**: Die Zahl muss mindestens 1 sein\n   - Gesendet: 0\n   - Erwartet: mindestens 1" in text
    assert "Abhilfe: Senden Sie eine ganze Zahl >= 1." in text
    assert "Ergänzen Sie 'port': senden Sie einen Text mit mindestens 2 Zeichen." in text
    assert "Entfernen Sie 'speed'; allowed fields: port, crew." in text
    assert report.suggestions[0] == "Ergänzen Sie: port"
    assert report.to_dict()["error"]["summary"] == report.summary  # type: ignore[index]


def test_two_voices_do_not_mix() -> None:
    english, german = check_arguments(TOOL, WRONG), check_arguments(TOOL, WRONG, wording=read_wording(GERMAN))
    before = english.to_text()
    assert "Abhilfe" in german.to_text()
    assert check_arguments(TOOL, WRONG).to_text() == english.to_text() == before
    assert "Fehler" not in before


def test_a_copy_of_the_table_says_what_the_table_says() -> None:
    whole = read_wording(builtin())
    assert check_arguments(TOOL, WRONG, wording=whole).to_text() == check_arguments(TOOL, WRONG).to_text()


def test_a_valid_call_is_valid_in_any_voice() -> None:
    report = check_arguments(TOOL, {"port": "Porto"}, wording=read_wording(GERMAN))
    assert report.valid
    assert report.to_text() == "✅ Tool 'sail' received valid arguments."


@pytest.mark.parametrize("table", ["text", "phrase", "suggestion", "keyword"])
def test_without_inherit_a_missing_key_is_named(table: str) -> None:
    document = tomllib.loads(builtin())
    name = next(iter(document[table]))
    given = {key: value for key, value in document.items() if key != table}
    given[table] = {key: value for key, value in document[table].items() if key != name}
    with pytest.raises(ConfigError, match=rf"{table}\.{name}.* is missing: add it, or set inherit = true"):
        read_wording(as_toml(given))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("text.sumary = 'x'", "text.sumary: there is no such text; there are renamed, rename"),
        ("keyword.minimun.problem = 'x'", "keyword.minimun: there is no such text"),
        ("text.summary_invalid = '{tol}'", "{tol}; its placeholders are: {count}, {tool}"),
        ("text.missing = '{tool}'", "its placeholders are: none"),
        ("text.summary_invalid = '{tool'", "text.summary_invalid: is not a template"),
        ("text.summary_invalid = '{}'", "has no placeholder {}"),
        ("text.summary_invalid = '{0}'", "has no placeholder {0}"),
        ("text.summary_invalid = '{tool.__class__}'", "has no placeholder {tool.__class__}"),
        ("text.summary_invalid = '{tool!r}'", "its placeholders are"),
        ("keyword.minimum.phrase = 'at least {characters}'", "keyword.minimum.phrase: has no placeholder {characters}"),
        ("keyword.required.expected = '{name}'", "keyword.required.expected: has no placeholder {name}"),
        ("keyword.minimum.kind = 'size'", "keyword.minimum.kind: must be 'range'"),
        ("keyword.minimum.problm = 'x'", "unknown field `problm`"),
        ("colour.text = 'x'", "unknown field `colour`"),
        ("text = 'x'", "Expected `object`, got `str`"),
        ("[text", "wording.toml"),
    ],
)
def test_a_text_that_cannot_be_used_is_named(content: str, words: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(words)):
        read_wording(f"inherit = true\n{content}", "wording.toml")


def test_every_text_may_be_replaced_by_itself_with_every_placeholder() -> None:
    # Whatever the check lets pass can be filled in: every violation of every keyword is worded without an exception.
    document = tomllib.loads(builtin())
    for row in document["keyword"].values():
        row["problem"] = " ".join([row["problem"], row["fix"], row["expected"]])
        row["fix"] = row["problem"]
    loud = read_wording(as_toml(document))
    cases = tomllib.loads((Path(__file__).parent / "keywords.toml").read_text(encoding="utf-8"))
    for case in cases["case"]:
        tool = {"name": "t", "inputSchema": json.loads(case["schema"])}
        report = check_arguments(tool, json.loads(case["arguments"]), wording=loud)
        assert not report.valid
        assert report.to_text()


def test_a_settings_file_names_the_wording_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "de.toml").write_text(GERMAN, encoding="utf-8")
    (tmp_path / "toolvet.toml").write_text('[checks.arguments]\nwording = "texts/de.toml"\n', encoding="utf-8")
    settings = load_settings(tmp_path / "toolvet.toml")
    monkeypatch.chdir("/")
    assert "Fehler" in settings.argument_check()(TOOL, WRONG).summary
    assert "validation error" in load_settings(None).argument_check()(TOOL, WRONG).summary
    (tmp_path / "toolvet.toml").write_text('[checks.arguments]\nwording = "absent.toml"\n', encoding="utf-8")
    with pytest.raises(ConfigError, match="absent"):
        load_settings(tmp_path / "toolvet.toml").argument_check()


def test_a_wording_file_is_read_once_and_checked(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load_wording(path)
    path.write_text(GERMAN, encoding="utf-8")
    assert isinstance(load_wording(path), Wording)
    assert isinstance(copy.deepcopy(load_wording(path)), Wording)
    assert isinstance(pickle.loads(pickle.dumps(load_wording(path))), Wording)  # noqa: S301 - our own bytes


def test_the_proxy_answers_in_the_users_words() -> None:
    session = Session(Policies(ProxySettings(), check_arguments=ArgumentCheck(read_wording(GERMAN))))

    def message(**members: object) -> bytes:
        return json.dumps({"jsonrpc": "2.0", **members}).encode()

    session.from_client(message(id=1, method="tools/list"))
    session.from_server(message(id=1, result={"tools": [TOOL]}))
    steps = session.from_client(message(id=2, method="tools/call", params={"name": "sail", "arguments": WRONG}))
    assert any(b"Das Werkzeug 'sail'" in getattr(step, "data", b"") for step in steps)


def as_toml(document: dict[str, Any]) -> str:
    """A table of tables of texts as TOML."""
    lines: list[str] = []
    for table, rows in document.items():
        for name, row in rows.items():
            members = row if isinstance(row, dict) else None
            for key, text in members.items() if members else [(None, row)]:
                place = ".".join([table, quoted(name), *([key] if key else [])])
                lines.append(f"{place} = {quoted(text)}")
    return "\n".join(lines)


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
