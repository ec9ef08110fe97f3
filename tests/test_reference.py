"""The generated pages of the reference match the code, and the schema of settings accepts real files."""

import os
import re
import tomllib
from pathlib import Path

import jsonschema  # type: ignore[import-untyped] # ships no types; the tests want an independent judge
import pytest
from docs.site.reference import pages

from toolvet.core.settings import settings_schema

DOCS = Path(__file__).parent.parent / "docs"
EXAMPLE = DOCS / "assess.md"


@pytest.mark.parametrize("name", ["commands.md", "settings.md", "api.md", "toolvet.schema.json"])
def test_a_generated_page_is_up_to_date(name: str) -> None:
    content = pages()[name]
    if os.environ.get("TOOLVET_UPDATE_SNAPSHOTS"):
        (DOCS / name).write_text(content, encoding="utf-8")
    kept = (DOCS / name).read_text(encoding="utf-8")
    assert kept == content, "python docs/site/reference.py docs"


def test_the_help_shows_no_default_of_a_flag_that_is_off() -> None:
    words = pages()["commands.md"]
    assert "[default: 0]" in words
    assert not re.search(r"default: (?:False|\(\)|\"\")|--empty-", words)


def test_the_schema_of_settings_accepts_what_toolvet_reads_and_refuses_unknown_keys() -> None:
    schema = settings_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    shown = EXAMPLE.read_text(encoding="utf-8").split("```toml\n")[1].split("```")[0]
    assert list(validator.iter_errors(tomllib.loads(shown))) == []
    for bad in ("[asses]", "[assess]\ntimeuot = 5", "[assess]\ntimeout = 'long'", "[proxy]\nrecord = 'all'"):
        assert list(validator.iter_errors(tomllib.loads(bad))) != [], bad
