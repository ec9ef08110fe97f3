"""A data file is found by its whole name: a file beside it changes nothing."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import toolvet
from toolvet.core.discover import data_file, data_files, file_states
from toolvet.core.discover.toml import read_toml

PACKAGE = Path(toolvet.__file__).parent
# Asks everything that reads a table: one line each, so that a failure names what broke.
ASK_EVERYTHING = """
import sys
import toolvet
from toolvet.core.redact import redact_text
from toolvet.assess.rules import tool_definition
from toolvet.core.tool_rules.destructive import read_destructive_source
from toolvet.assess.rules.message import read_message_source
from toolvet.assess.rules.catalog.definitions import read_change_source
from toolvet.core.checks.answer.shape import finish_kind
from toolvet.core.schema.naming import choices, entries, formats
from toolvet.core.schema.repairs.notation import notations
from toolvet.core.turn.consistency import polarities

schema = {"type": "object", "required": ["day"], "properties": {"day": {"type": "string", "format": "date"}}}
tool = {"name": "book", "inputSchema": schema}
assert not toolvet.check_arguments(tool, {}).valid
assert toolvet.check_arguments(tool, {"day": "tomorrow"}).suggestions is not None
assert toolvet.repair(schema, {"day": "22 November 2026"}) is not None
assert toolvet.valid_example(schema)["day"]
assert toolvet.check_result(tool, {}, {"isError": True, "content": [{"type": "text", "text": "HTTP 404"}]}).is_error
assert toolvet.check_answer("I'm sorry, but I can't help with that.").should_escalate
call = {"name": "book", "arguments": {}, "result": {"isError": True, "content": [{"type": "text", "text": "down"}]}}
assert toolvet.check_answer("I booked it for May 3 at $40.", calls=[call]).signals
assert toolvet.check_answer("It ends with the", finish_reason="length").signals
assert redact_text("token=ghp_0123456789abcdefghijABCDEFGHIJ012345") != ""
assert read_destructive_source() and read_message_source() and read_change_source()
assert choices() and entries("name") and formats()
assert finish_kind("length") == "cut" and notations() and polarities()
print(toolvet.__file__)
"""


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the package, to add files to."""
    return Path(shutil.copytree(PACKAGE, tmp_path / "toolvet", ignore=shutil.ignore_patterns("__pycache__")))


def test_a_file_whose_name_ends_like_that_of_a_table_breaks_nothing(copied: Path) -> None:
    # A folder without an __init__.py is a list, where a new file is meant to be read.
    tables = [path for path in copied.rglob("*.toml") if (path.parent / "__init__.py").exists()]
    assert len(tables) > 15
    for table in tables:
        (table.parent / f"de_{table.name}").write_text("This is not TOML.", encoding="utf-8")
        (table.parent / "old").mkdir(exist_ok=True)
        (table.parent / "old" / table.name).write_text("This is not TOML.", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(copied.parent), "XDG_CACHE_HOME": str(copied.parent / "cache")}
    asked = subprocess.run(
        [sys.executable, "-c", ASK_EVERYTHING], env=environment, capture_output=True, text=True, check=False
    )
    assert asked.returncode == 0, asked.stderr
    assert Path(asked.stdout.strip()).parent == copied, "the copy was not the one that was asked"


def test_data_files_are_asked_for_by_extension() -> None:
    with pytest.raises(ValueError, match=r"data_file\(\) reads the file of a name"):
        data_files("toolvet.core.checks.answer", "wording.toml")


def test_a_table_is_the_file_of_exactly_this_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "package_of_tables"
    (package / "sub").mkdir(parents=True)
    for name in ("__init__.py", "words.toml", "de_words.toml", "sub/words.toml"):
        (package / name).write_text(f"# {name}", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert data_file("package_of_tables", "words.toml") == b"# words.toml"
    assert [path for path, _ in data_files("package_of_tables", ".toml")] == [
        "de_words.toml",
        "words.toml",
        "sub/words.toml",
    ]
    seen = {Path(state.path).relative_to(package).as_posix() for state in file_states(package.name, ("words.toml",))}
    assert seen == {"words.toml", "sub/words.toml"}


def test_a_table_is_read_as_a_type_and_an_error_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "package_of_toml"
    for name, text in {
        "__init__.py": "",
        "words.toml": "yes = ['oui']",
        "lists_of_old/de.toml": "yes = 1",
        "broken.toml": "yes = ",
    }.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert read_toml(package.name, "words.toml", dict[str, list[str]]) == {"yes": ["oui"]}
    with pytest.raises(msgspec.ValidationError, match="Expected `array`, got `int`") as wrong:
        read_toml(package.name, "lists_of_old/de.toml", dict[str, list[str]])
    assert wrong.value.__notes__ == ["package_of_toml: lists_of_old/de.toml"]
    with pytest.raises(msgspec.DecodeError, match="Invalid value") as broken:
        read_toml(package.name, "broken.toml", dict[str, list[str]])
    assert broken.value.__notes__ == ["package_of_toml: broken.toml"]


def test_toml_has_one_reader() -> None:
    others = [
        str(file.relative_to(PACKAGE))
        for file in PACKAGE.rglob("*.py")
        if file != PACKAGE / "core" / "discover" / "toml.py"
        and re.search(r"\btomllib\b|msgspec\.toml", file.read_text("utf-8"))
    ]
    assert not others, f"read TOML by toolvet.core.discover.toml in {', '.join(others)}"
