"""The official SDK is the ruler here: what it would send is what its servers accept."""

from hypothesis import given, strategies as st
from mcp.shared import inbound
from tests.examples import examples

from toolvet.mcp.wire.header import encode_header, mirror, parameter_headers, request_headers

NODE: st.SearchStrategy[dict[str, object]] = st.deferred(
    lambda: st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["string", "integer", "boolean", "number", "object", ["string"]]),
            "x-mcp-header": st.sampled_from(["Region", "region", "B", "", "not a token", "é", 7, None]),
            "properties": st.dictionaries(st.sampled_from("abc"), NODE, max_size=2),
            "items": NODE,
            "anyOf": st.lists(NODE, max_size=2),
            "$defs": st.dictionaries(st.sampled_from("xy"), NODE, max_size=2),
            "default": st.just({"x-mcp-header": "Data"}),
        },
    )
)
VALUES = st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(st.characters(exclude_categories=["Cs"]))
ARGUMENTS = st.dictionaries(st.sampled_from("abc"), VALUES | st.dictionaries(st.sampled_from("abc"), VALUES))


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_header_value_is_written_as_the_sdk_writes_it(value: str) -> None:
    assert encode_header(value) == inbound.encode_header_value(value)
    assert inbound.decode_header_value(encode_header(value)) == value


@examples(160)
@given(NODE, ARGUMENTS)
def test_annotations_are_legal_when_the_sdk_says_so_and_mirrored_as_it_mirrors(
    schema: dict[str, object], arguments: dict[str, object]
) -> None:
    found = parameter_headers(schema)
    assert bool(found.problems) == (inbound.find_invalid_x_mcp_header(schema) is not None)
    if not found.problems:
        mapped = inbound.x_mcp_header_map(schema)
        assert dict(found.headers) == mapped
        assert mirror(found, arguments) == inbound.mcp_param_headers(mapped, arguments)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_any_value_is_some_schema_and_some_arguments(value: object) -> None:
    mirror(parameter_headers(value), value)


def test_a_schema_of_a_hundred_thousand_levels_is_read() -> None:
    schema: dict[str, object] = {}
    for _ in range(100_000):
        schema = {"items": schema}
    assert parameter_headers(schema).problems == ()


def test_requests_are_labelled_with_version_method_and_name() -> None:
    assert request_headers("2026-07-28", "tools/call", {"name": "größe"}) == {
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "=?base64?Z3LDtsOfZQ==?=",
    }
    assert "Mcp-Name" not in request_headers("2026-07-28", "tools/list", {"name": "x"})
    assert "Mcp-Name" not in request_headers("2026-07-28", "tools/call", {"name": 7})
