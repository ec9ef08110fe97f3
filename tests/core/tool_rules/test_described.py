"""Parameters that the schema does not describe have the words that the tool's description has for them."""

import pytest

from toolvet.core.json_value import members
from toolvet.core.tool_rules import tool_definition

DOCSTRING = """Reads a report.

Args:
    path (str, optional): The PDF file
        to read.
    limit: How many pages.

Returns:
    page: the first page
"""


def described(description: str, **properties: object) -> dict[str, object]:
    tool = tool_definition(
        {"name": "read", "description": description, "inputSchema": {"type": "object", "properties": properties}}
    )
    return {name: members(declared).get("description") for name, declared in tool.properties.items()}


def test_a_docstring_describes_its_parameters() -> None:
    found = described(DOCSTRING, path={"type": "string"}, limit={})
    assert found == {"path": "The PDF file to read.", "limit": "How many pages."}


@pytest.mark.parametrize(
    "line", ["- path: The file", "* **path** (string) - The file", "`path` \u2013 The file", '• "path": The file']
)
def test_a_list_describes_them_too(line: str) -> None:
    assert described(f"Reads a report.\n\n{line}\n- limit: Pages", path={}) == {"path": "The file"}


def test_the_words_of_the_schema_come_first_and_references_stay() -> None:
    found = described(DOCSTRING, path={"description": "Mine."}, limit={"$ref": "#/$defs/a"})
    assert found == {"path": "Mine.", "limit": None}


@pytest.mark.parametrize(
    "description",
    [
        DOCSTRING.replace("limit", "count"),
        "Reads the page: it is the first one.",
        "Example:\n    page: 3",
        "See https://page:80/x\npage:80",
        "pages: All of them",
        "",
    ],
)
def test_what_is_not_about_a_parameter_describes_none(description: str) -> None:
    assert described(description, page={}) == {"page": None}


def test_the_definition_stays_as_it_was_sent() -> None:
    raw = {"name": "read", "description": DOCSTRING, "inputSchema": {"properties": {"path": {}}}}
    assert tool_definition(raw).raw == {
        "name": "read",
        "description": DOCSTRING,
        "inputSchema": {"properties": {"path": {}}},
    }
    assert tool_definition({"name": "a", "description": "a: b", "inputSchema": {"properties": [1]}}).properties == {}
