"""For anything that a server sends, the rules answer with findings and never with an exception."""

import msgspec
from hypothesis import given, strategies as st
from tests.examples import examples

from toolvet.assess.rules import (
    IntendedViolation,
    ListedItem,
    ObservedCall,
    ObservedItems,
    ObservedListing,
    ObservedRequest,
    ObservedServer,
    ObservedValidation,
    Outcome,
    Preview,
    ProtocolError,
    Purpose,
    WireAnomaly,
    judge_call,
    judge_calls,
    judge_item,
    judge_items,
    judge_request,
    judge_server,
    judge_tool,
    listed_item,
    merge,
    tool_definition,
)
from toolvet.assess.rules.item import expand, extract, problems, variables
from toolvet.assess.rules.message import tool_message_score
from toolvet.core.checks.capability import Message, ValidationReply
from toolvet.core.checks.result import check_result
from toolvet.core.schema import compiled
from toolvet.core.tool_rules import Habits, why_not_called
from toolvet.core.tool_rules.subject import HttpExchange, ObservedHttp

SCALAR = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30)
JSON = st.recursive(
    SCALAR,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYWORDS = st.sampled_from(
    [
        *("type", "properties", "required", "items", "enum", "$ref", "$defs", "anyOf", "allOf", "minimum", "pattern"),
        *("description", "additionalProperties", "const", "format", "$schema", "if", "not"),
    ]
)
WORDS = st.sampled_from(
    ["object", "string", "integer", "#/$defs/a", "https://example.com/a", "([", "email", "a", "query"]
)
SCHEMA = st.recursive(
    JSON | WORDS,
    lambda inner: st.dictionaries(KEYWORDS | st.text(max_size=4), inner | st.lists(inner, max_size=3), max_size=4),
    max_leaves=12,
)
HINTS = st.dictionaries(st.sampled_from(["readOnlyHint", "destructiveHint", "idempotentHint"]), st.booleans() | JSON)
TOOL = JSON | st.fixed_dictionaries(
    {},
    optional={
        "name": st.text(max_size=80) | JSON,
        "description": st.text(max_size=80) | JSON,
        "inputSchema": SCHEMA,
        "outputSchema": SCHEMA,
        "annotations": HINTS | JSON,
        "execution": JSON,
    },
)
BLOCK = JSON | st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "image", "resource", "resource_link", "video"]) | JSON},
    optional={"text": st.text() | JSON, "resource": JSON, "data": JSON},
)
RESULT = JSON | st.fixed_dictionaries(
    {},
    optional={
        "content": st.lists(BLOCK, max_size=3) | JSON,
        "isError": st.booleans() | JSON,
        "structuredContent": JSON,
        "resultType": JSON,
    },
)
BREACH = st.none() | st.builds(
    IntendedViolation,
    keyword=KEYWORDS | st.text(max_size=5),
    pointer=st.sampled_from(["", "/a", "/a/0", "/~1/x", "x"]),
    property=st.none() | st.text(max_size=5),
    declared=st.booleans(),
)
PREVIEW = st.none() | st.builds(
    Preview,
    reply=st.builds(ValidationReply, valid=st.booleans(), messages=st.tuples(st.builds(Message, message=st.text()))),
    levels=st.sampled_from([(), ("syntax",), ("syntax", "runtime")]),
)
VALIDATION = st.none() | st.builds(
    ObservedValidation,
    announced=st.booleans(),
    method=st.text(max_size=5),
    asked=st.integers(0, 5),
    announcement_problems=st.lists(st.text(), max_size=2).map(tuple),
    failures=st.lists(st.text(), max_size=2).map(tuple),
)


PROBES = st.sampled_from(
    [
        *("initialize", "initialized", "ping", "foreign-origin", "null-origin", "foreign-host", "rebound", "preflight"),
        *("text-plain", "broken-json", "batch", "unknown-version", "no-version", "get-stream", "unknown-session"),
        *("delete-session", "ended-session", "no-credentials", "other-method", "future-version", "removed-method"),
    ]
)
HTTP_HEADERS = st.sampled_from(["content-type", "server", "www-authenticate", "access-control-allow-origin", "allow"])
EXCHANGE = st.builds(
    HttpExchange,
    probe=PROBES,
    status=st.none() | st.sampled_from([200, 202, 400, 401, 403, 404, 405, 500]) | st.integers(),
    headers=st.dictionaries(HTTP_HEADERS, st.text(max_size=20), max_size=3),
    body=st.text(max_size=80),
    is_result=st.booleans(),
    code=st.none() | st.sampled_from([-32600, -32020, -32022, -32700]),
    words=st.text(max_size=20),
    data=JSON,
    failure=st.text(max_size=10),
)
HTTP = st.builds(
    ObservedHttp,
    place=st.sampled_from(["loopback", "private", "public"]),
    has_credentials=st.booleans(),
    legacy=st.booleans(),
    revision=st.sampled_from(["", "2025-03-26", "2025-11-25"]),
    session_ids=st.lists(st.text(max_size=40), max_size=4).map(tuple),
    exchanges=st.lists(EXCHANGE, max_size=8).map(tuple),
    sdk=st.sampled_from(["", "fastmcp", "python", "typescript"]),
)


@st.composite
def calls(draw: st.DrawFn) -> ObservedCall:
    tool = tool_definition(draw(TOOL))
    arguments, outcome = draw(JSON), draw(st.sampled_from(Outcome))
    facts = ObservedCall(
        tool=tool,
        arguments=arguments,
        outcome=outcome,
        intended=draw(BREACH),
        detail=draw(st.text(max_size=20)),
        preview=draw(PREVIEW),
    )
    facts = msgspec.structs.replace(facts, violations=compiled(tool.input_schema).violations(arguments))
    if outcome is Outcome.PROTOCOL_ERROR:
        code = draw(st.none() | st.sampled_from([-32602, -32603, -32601, -32042]) | st.integers())
        return msgspec.structs.replace(facts, error=ProtocolError(code=code, message=draw(st.text()), data=draw(JSON)))
    if outcome is Outcome.RESULT:
        result = draw(RESULT)
        return msgspec.structs.replace(facts, result=result, verdict=check_result(tool.raw, arguments, result))
    return facts


@examples(150)
@given(TOOL)
def test_any_entry_of_a_tool_list_is_judged(raw: object) -> None:
    tool = tool_definition(raw)
    for finding in judge_tool(tool):
        assert finding.message
    assert why_not_called(tool, Habits()) != ""


@examples(150)
@given(calls())
def test_any_call_is_judged_and_twice_the_same(call: ObservedCall) -> None:
    found = (*judge_call(call), *judge_calls(call.tool, [call, call]))
    assert found == (*judge_call(call), *judge_calls(call.tool, [call, call]))
    assert all(0 <= finding.confidence <= 100 for finding in found)
    score = tool_message_score([call])
    assert score is None or 0 <= score <= 100


@given(
    st.lists(TOOL, max_size=4),
    calls(),
    st.lists(st.builds(WireAnomaly, kind=st.text(max_size=5), evidence=st.text())),
    st.lists(st.text()),
    VALIDATION,
)
def test_any_server_is_judged(
    raw: list[object],
    unknown: ObservedCall,
    anomalies: list[WireAnomaly],
    problems: list[str],
    validation: ObservedValidation | None,
) -> None:
    server = ObservedServer(
        tools=tuple(map(tool_definition, raw)),
        protocol_version="2025-11-25",
        unknown_tool=unknown,
        anomalies=tuple(anomalies),
        listing_problems=tuple(problems),
        validation=validation,
    )
    assert len(merge(judge_server(server))) <= len(judge_server(server))


@given(HTTP)
def test_any_transport_is_judged(http: ObservedHttp) -> None:
    for finding in judge_server(ObservedServer(tools=(), http=http)):
        assert finding.message


def test_depth_is_no_danger() -> None:
    deep: object = {"type": "string"}
    for _ in range(3000):
        deep = {"type": "object", "properties": {"a": deep}, "anyOf": [{"type": "object"}]}
    tool = tool_definition({"name": "deep", "description": "x", "inputSchema": deep, "outputSchema": deep})
    judge_tool(tool)
    nested: object = "x"
    for _ in range(3000):
        nested = [nested]
    judge_call(ObservedCall(tool=tool, arguments=nested, outcome=Outcome.TIMEOUT))
    judge_call(
        ObservedCall(
            tool=tool,
            arguments={},
            outcome=Outcome.RESULT,
            result={"content": nested, "structuredContent": nested},
            verdict=check_result(tool.raw, {}, {"content": []}),
        )
    )


ENTRY = JSON | st.fixed_dictionaries(
    {},
    optional={
        "uri": st.text(max_size=40) | JSON,
        "uriTemplate": st.text(alphabet="ab{}:/*+?,. ", max_size=30) | JSON,
        "name": st.text(max_size=20) | JSON,
        "size": st.integers() | st.floats() | JSON,
        "arguments": st.lists(st.fixed_dictionaries({"name": st.text(max_size=5) | JSON}), max_size=3) | JSON,
        "annotations": JSON,
        "mimeType": st.sampled_from(["image/png", "application/json", "text/plain"]) | JSON,
    },
)
ITEM = st.builds(listed_item, st.sampled_from(["resource", "resource_template", "prompt"]), ENTRY, st.integers(0, 9))
CONTENTS = st.fixed_dictionaries(
    {},
    optional={
        "uri": st.text(max_size=20) | JSON,
        "text": st.text(max_size=60) | JSON,
        "blob": st.text(max_size=20) | JSON,
        "mimeType": st.sampled_from(["image/png", "application/json"]) | JSON,
    },
)
ANSWER = JSON | st.fixed_dictionaries(
    {},
    optional={
        "contents": st.lists(CONTENTS | JSON, max_size=2) | JSON,
        "messages": st.lists(st.fixed_dictionaries({"role": JSON, "content": BLOCK}) | JSON, max_size=2) | JSON,
        "completion": st.fixed_dictionaries({}, optional={"values": JSON, "total": JSON, "hasMore": JSON}) | JSON,
    },
)
REQUEST = st.builds(
    ObservedRequest,
    method=st.sampled_from(["resources/read", "prompts/get", "completion/complete", "resources/list"]),
    params=st.fixed_dictionaries({"ref": JSON}, optional={"uri": st.text(max_size=20) | JSON, "argument": JSON}),
    purpose=st.sampled_from(Purpose),
    outcome=st.sampled_from(Outcome),
    item=st.none() | ITEM,
    result=ANSWER,
    error=st.none() | st.builds(ProtocolError, code=st.integers(-32700, 0), message=st.text(max_size=60)),
    detail=st.text(max_size=10),
)
LISTING = st.builds(
    ObservedListing,
    method=st.sampled_from(["resources/list", "prompts/list"]),
    kind=st.sampled_from(["resource", "prompt"]),
    pages=st.integers(0, 3),
    problems=st.lists(
        st.tuples(st.sampled_from(["page_failed", "bad_cursor", "cursor_cycle"]), st.text(max_size=9)), max_size=2
    ).map(tuple),
    error_code=st.none() | st.just(-32601),
)


@examples(200)
@given(st.lists(ITEM, max_size=3), st.lists(REQUEST, max_size=3), st.lists(LISTING, max_size=2))
def test_any_resource_and_prompt_is_judged(
    items: list[ListedItem], requests: list[ObservedRequest], listings: list[ObservedListing]
) -> None:
    seen = ObservedItems(items=tuple(items), requests=tuple(requests), listings=tuple(listings))
    found = [*judge_items(seen)]
    for item in items:
        found += judge_item(item)
    for request in requests:
        found += judge_request(request)
    assert all(finding.message for finding in found)


@examples(300)
@given(st.text(alphabet="ab{}:/*+?#&;,.%0 ", max_size=60), st.text(alphabet="ab:/?#.0", max_size=40))
def test_any_template_is_read(template: str, uri: str) -> None:
    values = dict.fromkeys(variables(template), "b")
    assert isinstance(expand(template, values), str)
    assert problems(template) is not None
    found = extract(template, uri)
    assert found is None or set(found) <= set(variables(template))
