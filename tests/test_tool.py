"""Reading a tool definition of any origin."""

import pytest

from toolvet.tool import view_of

SCHEMA = {"type": "object"}


class _OfAnSdk:
    name = "t"
    description = "d"
    input_schema = SCHEMA
    output_schema = None

    @property
    def outputSchema(self) -> object:  # noqa: N802 - the old spelling, which SDKs warn of
        raise DeprecationWarning("use output_schema")

    inputSchema = outputSchema  # noqa: N815


class _OfFastMCP:
    name = "t"
    parameters = SCHEMA


class _Hostile:
    @property
    def name(self) -> str:
        raise RuntimeError("no")


@pytest.mark.parametrize(
    "tool", [{"name": "t", "inputSchema": SCHEMA}, {"name": "t", "input_schema": SCHEMA}, _OfAnSdk(), _OfFastMCP()]
)
def test_the_input_schema_is_found_under_every_name_that_it_has(tool: object) -> None:
    assert view_of(tool).input_schema == SCHEMA
    assert view_of(tool).output_schema is None


@pytest.mark.parametrize("tool", [None, 5, [], _Hostile(), {"name": 5, "inputSchema": SCHEMA}])
def test_a_value_that_is_not_a_tool_definition_has_no_name(tool: object) -> None:
    assert view_of(tool).name == ""
