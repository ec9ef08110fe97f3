"""For anything that a server announces, lists or answers, and for any arguments: a verdict, never an exception."""

import asyncio

from hypothesis import given, strategies as st
from tests.examples import examples
from tests.mcp.client.recording import Recorded, announced

from toolvet.mcp.client import Validator

SCALAR = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
JSON = st.recursive(
    SCALAR,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
SENTENCES = st.lists(st.text(max_size=10) | JSON, max_size=3) | JSON
BODY = JSON | st.fixed_dictionaries(
    {},
    optional={
        "valid": st.booleans() | JSON,
        "errors": SENTENCES,
        "warnings": SENTENCES,
        "suggestions": SENTENCES,
        "messages": SENTENCES,
        "results": st.lists(JSON | st.fixed_dictionaries({"valid": st.booleans()}), max_size=3) | JSON,
    },
)
RESULT = BODY | st.fixed_dictionaries(
    {},
    optional={"structuredContent": BODY, "content": JSON, "isError": st.booleans() | JSON, "success": JSON},
)
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "method": st.text(max_size=5) | JSON,
        "levels": JSON,
        "batchValidation": st.booleans() | JSON,
        "maxBatchSize": st.integers() | JSON,
        "cacheable": st.booleans() | JSON,
        "caching": JSON | st.fixed_dictionaries({"enabled": st.booleans(), "ttl": SCALAR, "invalidateOn": JSON}),
    },
)
CAPABILITIES = OPTIONS.map(lambda options: announced(**options)) | JSON
TOOLS = st.lists(JSON | st.fixed_dictionaries({"name": st.just("t"), "inputSchema": JSON}), max_size=3)


@examples(100)
@given(CAPABILITIES, TOOLS, RESULT | st.builds(RuntimeError, st.text(max_size=30)), st.lists(JSON, max_size=3))
def test_a_verdict_comes_of_anything(
    capabilities: object, tools: list[object], result: object, sent: list[object]
) -> None:
    validator = Validator(Recorded(result), capabilities={} if capabilities is None else capabilities, tools=tools)
    found = asyncio.run(validator.validate_many([("s:t", arguments) for arguments in sent]))
    assert len(found) == len(sent)
    for one in found:
        assert one.valid or one.errors
        assert one.to_text()
        assert one.to_dict()["method"] == one.method


def test_arguments_that_are_not_json_get_a_verdict_too() -> None:
    cycle: dict[str, object] = {}
    cycle["again"] = cycle
    deep: object = 1
    for _ in range(100_000):
        deep = [deep]
    capabilities = announced(cacheable=True)
    tools = [{"name": "t", "inputSchema": {"type": "object"}}]
    for arguments in (cycle, {"deep": deep}, {"x": {1, 2}}, {1: 2}, {"x": b"y"}, {"x": object()}):
        validator = Validator(Recorded(RuntimeError("cannot send that")), capabilities=capabilities, tools=tools)
        assert asyncio.run(validator.validate("t", arguments)).method == "schema"
