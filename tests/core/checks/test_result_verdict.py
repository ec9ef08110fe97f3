"""The verdict of `check_result`: classes, metadata, factors, leaks, and that nothing raises."""
# ruff: noqa: E501 - A table is read by its lines.

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pytest
from hypothesis import given, strategies as st
from tests.examples import examples

from toolvet import check_result, extract_metadata, is_business_logic_error, overall_confidence
from toolvet.core.causes import State
from toolvet.core.checks.result import Classification, LeakKind, ResultVerdict
from toolvet.core.matching import UnsafePattern
from toolvet.errors import UsageError

TOOL = {"name": "get_user", "inputSchema": {"type": "object"}}
OUTPUT = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}


def text(words: str) -> dict[str, object]:
    return {"type": "text", "text": words}


def failed(words: str, tool: object = TOOL, arguments: object = None, **options: object) -> ResultVerdict:
    return check_result(tool, arguments or {}, {"isError": True, "content": [text(words)]}, **options)  # type: ignore[arg-type]


CLASSES: list[tuple[str, object, str, float, bool]] = [
    ("text", {"content": [text("hello")]}, "fully_working", 100, True),
    ("image only", {"content": [{"type": "image", "data": "x", "mimeType": "image/png"}]}, "fully_working", 100, True),
    ("nothing at all", {}, "broken", 0, False),
    ("no object", [1, 2], "broken", 0, False),
    ("empty content", {"content": []}, "broken", 0, False),
    ("content is text", {"content": "hello"}, "broken", 0, False),
    ("only blank text", {"content": [text(" \n")]}, "connectivity_only", 30, False),
    ("blank text beside an image", {"content": [text(""), {"type": "image", "data": "x"}]}, "fully_working", 100, True),
    ("a malformed block beside a good one", {"content": [text("a"), 7]}, "partially_working", 70, True),
    ("structured content without its text", {"structuredContent": {"a": 1}}, "fully_working", 100, True),
    ("structured content with its text", {"content": [text("{}")], "structuredContent": {"a": 1}}, "fully_working", 100, True),
    ("isError is not a boolean", {"content": [text("a")], "isError": 0}, "partially_working", 70, True),
    ("an error that says nothing", {"isError": True, "content": [text("  ")]}, "connectivity_only", 30, False),
    ("an error in structured content", {"isError": True, "structuredContent": {"error": "no such user"}}, "partially_working", 70, True),
    ("a protocol error", {"code": -32602, "message": "Invalid params"}, "fully_working", 100, True),
    ("a protocol error in its message", {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "boom"}}, "error", 50, False),
    ("input required", {"resultType": "input_required", "inputRequests": {}}, "fully_working", 100, True),
    ("a task", {"task": {"taskId": "1", "status": "working"}}, "fully_working", 100, True),
]  # fmt: skip


@pytest.mark.parametrize(
    ("result", "classification", "confidence", "valid"),
    [case[1:] for case in CLASSES],
    ids=[case[0] for case in CLASSES],
)
def test_the_class_follows_the_decision_table(
    result: object, classification: str, confidence: float, *, valid: bool
) -> None:
    verdict = check_result(TOOL, {}, result, shape="mcp")
    assert (verdict.classification, verdict.confidence, verdict.is_valid) == (classification, confidence, valid)


@pytest.mark.parametrize(
    ("result", "valid"),
    [
        ({"content": [text("x")], "structuredContent": {"n": 1}}, True),
        ({"content": [text("x")], "structuredContent": {"n": "1"}}, False),
        ({"content": [text('{"n": 1}')]}, True),
        ({"content": [text('Here:\n```json\n{"n": 1}\n```')]}, True),
        ({"content": [text("42"), text('{"n": 1}')]}, True),
        ({"content": [text("no JSON")]}, False),
    ],
)
def test_an_output_schema_is_kept_by_structured_content_or_by_json_in_the_text(result: object, *, valid: bool) -> None:
    verdict = check_result({"name": "t", "outputSchema": OUTPUT}, {}, result)
    assert verdict.classification == ("fully_working" if valid else "partially_working")
    validation = verdict.metadata.output_schema_validation
    assert validation is not None
    assert validation.is_valid is valid
    assert (validation.error is None) is valid


def test_an_output_schema_may_describe_any_json_value() -> None:
    result = {"content": [text("[1, 2]")], "structuredContent": [1, 2]}
    schema = {"type": "array", "items": {"type": "integer"}}
    assert check_result({"name": "t", "outputSchema": schema}, {}, result).classification == "fully_working"


def test_an_output_schema_that_does_not_compile_is_told() -> None:
    verdict = check_result({"name": "t", "outputSchema": {"type": "nonsense"}}, {}, {"content": [text("{}")]})
    assert (verdict.classification, verdict.confidence) == ("partially_working", 70)
    assert "does not compile" in verdict.issues[0]


def test_any_response_counts_every_flagged_error_as_a_working_tool() -> None:
    verdict = failed("TypeError: x is not a function", any_response=True)
    assert (verdict.classification, verdict.confidence, verdict.is_valid) == ("fully_working", 100, True)


def test_the_name_of_the_tool_proves_nothing_alone() -> None:
    factors = {factor.name: factor.present for factor in failed("boom").factors}
    assert factors == {
        "mcp_error_code": False,
        "business_pattern": False,
        "http_status": False,
        "structured_error": False,
        "test_data": False,
        "validation_expected_tool": False,
    }


def test_the_factor_table_quotes_what_was_seen_and_weighs_nine() -> None:
    words = '{"code": -32602, "message": "User test-id not found", "status": 404}'
    factors = failed(words, arguments={"id": "test-id"}).factors
    assert [(factor.name, factor.weight) for factor in factors] == [
        ("mcp_error_code", 2),
        ("business_pattern", 2),
        ("http_status", 1),
        ("structured_error", 1),
        ("test_data", 1),
        ("validation_expected_tool", 2),
    ]
    assert all(factor.present and factor.evidence for factor in factors)


@pytest.mark.parametrize(
    ("words", "tool", "arguments", "business"),
    [
        ("x must be great", "weather", {}, False),
        ("x must be great", "update_user", {}, True),
        ("x must be great", "weather", {"city": "must be great"}, True),
        ('{"error": "x must be great"}', "weather", {}, True),
        ("x must be great (422)", "weather", {}, True),
        ("exceeded", "settings_reset", {}, False),
    ],
)
def test_a_vague_phrase_needs_a_second_factor(words: str, tool: str, arguments: object, *, business: bool) -> None:
    assert (failed(words, {"name": tool}, arguments).error_kind == "business") is business


@pytest.mark.parametrize("code", ["-32602", "-32600", "-32700"])
def test_a_code_that_says_refused_outweighs_the_words_of_a_crash(code: str) -> None:
    assert failed(f"MCP error {code}: TypeError in the arguments").error_kind == "business"


def test_a_bare_number_is_no_http_status() -> None:
    assert failed("boom 404").error_kind == "unknown"
    assert failed("boom: status 404").error_kind == "business"


def test_own_patterns_are_plain_words_or_expressions() -> None:
    tool = {"name": "harbour"}
    assert failed("The mooring is taken", tool).error_kind == "unknown"
    for pattern in ("mooring is taken", re.compile(r"mooring (?:is|was)", re.IGNORECASE)):
        assert failed("The MOORING is taken", tool, extra_patterns=[pattern]).error_kind == "business"
    assert is_business_logic_error(tool, {}, {"isError": True, "content": [text("Berth 7 is wet")]}, ["is wet"])


@pytest.mark.parametrize(
    ("words", "name", "business"),
    [
        ("Vehicle is in maintenance", "rent_car", True),
        ('{"error": "Vehicle is in maintenance"}', "car", True),
        ("Error executing tool rent_car: Vehicle is in maintenance", "rent_car", True),
        ("Vehicle is in maintenance", "car", False),
        ("Replica is in maintenance", "rent_car", False),
        ("Database error: vehicle is in maintenance", "rent_car", False),
        ("TypeError: vehicle is in maintenance", "rent_car", False),
        ("vehicle.state.now is in maintenance", "rent_car", False),
        ("boom", "rent_car", False),
    ],
)
def test_a_plain_sentence_without_technical_words_needs_a_second_factor(
    words: str, name: str, *, business: bool
) -> None:
    verdict = failed(words, {"name": name})
    assert (verdict.error_kind == "business") is business
    assert (verdict.state is State.RULE) is business


def test_a_strong_pattern_decides_beside_the_words_of_a_crash() -> None:
    words = "TypeError: the mooring is taken"
    assert failed(words, extra_patterns=["mooring is taken"]).error_kind == "tool_failure"
    assert failed(words, strong_patterns=["mooring is taken"]).error_kind == "business"


@pytest.mark.parametrize("pattern", [r"(a)\1", r"(?=a)b", r"(?<!a)b", r"(?>a)b", "a++"])
def test_an_own_pattern_that_no_engine_matches_in_linear_time_is_refused_by_name(pattern: str) -> None:
    with pytest.raises(UnsafePattern, match=re.escape(repr(pattern))) as refused:
        failed("x", extra_patterns=[re.compile(pattern)])
    assert isinstance(refused.value, UsageError | ValueError)


def leaks(words: str, arguments: object = None) -> list[tuple[str, str]]:
    found = failed(words, arguments=arguments).leaks
    assert all(words[leak.start : leak.end] == leak.text for leak in found)
    return [(leak.kind.value, leak.text) for leak in found]


def test_stack_traces_paths_and_crash_texts_are_leaks_in_their_place() -> None:
    words = (
        'Oops\nTraceback (most recent call last):\n  File "/home/me/app.py", line 3, in f\nZeroDivisionError: division'
    )
    assert leaks(words) == [
        ("stack_trace", "Traceback (most recent call last):"),
        ("stack_trace", 'File "/home/me/app.py", line 3, in f'),
        ("absolute_path", "/home/me/app.py"),
        ("crash_text", "ZeroDivisionError: division"),
    ]
    assert ("stack_trace", "at run (/srv/app/index.js:3:9)") in leaks("Error: x\n    at run (/srv/app/index.js:3:9)")
    assert leaks(r"cannot open C:\Users\me\a.txt") == [("absolute_path", r"C:\Users\me\a.txt")]


def test_a_path_that_the_caller_sent_is_no_leak() -> None:
    words = "ENOENT: no such file or directory, open '/srv/data/nope.txt'"
    assert leaks(words) == [("absolute_path", "/srv/data/nope.txt")]
    assert leaks(words, {"path": "/srv/data/nope.txt"}) == []
    assert leaks(words, {"path": "nope.txt"}) == [("absolute_path", "/srv/data/nope.txt")]
    assert leaks("no route https://example.com/home/page") == []


def test_leaks_inside_json_keep_their_place() -> None:
    words = '{"error": "boom\\n  File \\"/srv/app.py\\", line 3"}'
    assert ("absolute_path", "/srv/app.py\\") in leaks(words) or ("absolute_path", "/srv/app.py") in leaks(words)


def test_a_success_leaks_nothing() -> None:
    assert check_result(TOOL, {}, {"content": [text("wrote /srv/data/one.txt")]}).leaks == ()


@dataclass
class Block:
    type: str = "text"
    text: str = "hello"


@dataclass
class SdkResult:
    content: list[object] = field(default_factory=lambda: [{"type": "text", "text": "no such user"}])
    is_error: bool = True
    structured_content: object = None
    meta: object = None


class Dumped:
    def model_dump(self, **_options: object) -> dict[str, object]:
        return {"content": [text("no such user")], "isError": True, "_meta": {"a": 1}}


class SdkTool:
    name = "t"
    inputSchema: Mapping[str, object] = {}  # noqa: N815 - the SDK's name.
    output_schema = OUTPUT


def test_objects_of_the_sdks_are_read_like_mappings() -> None:
    assert check_result(SdkTool(), {}, SdkResult()).error_kind == "business"
    assert check_result(SdkTool(), {}, Dumped()).error_kind == "business"
    assert extract_metadata(SdkTool(), Dumped()).has_meta
    assert extract_metadata(SdkTool(), {"content": [text("x")]}).output_schema_validation is not None


def test_the_official_sdk_is_read() -> None:
    types = pytest.importorskip("mcp.types")
    result = types.CallToolResult(content=[types.TextContent(type="text", text="User not found")], isError=True)
    tool = types.Tool(name="get_user", inputSchema={"type": "object"})
    assert check_result(tool, {}, result).error_kind == "business"


def test_the_json_form_has_the_documented_keys() -> None:
    found = failed("User not found").to_dict()
    assert list(found) == [
        "is_valid", "is_error", "classification", "confidence", "issues", "evidence", "error_kind", "state", "retry", "factors",
        "metadata", "error_without_flag", "leaks", "certainty",
        "error_code",
    ]  # fmt: skip
    assert (found["state"], found["retry"]) == ("not_found", "fix_arguments")


def test_overall_confidence_is_the_mean_weighted_by_class() -> None:
    verdicts = [
        ResultVerdict(is_valid=True, is_error=False, classification=Classification.FULLY_WORKING, confidence=100),
        ResultVerdict(is_valid=True, is_error=False, classification=Classification.PARTIALLY_WORKING, confidence=70),
    ]
    assert overall_confidence(verdicts) == pytest.approx(74.5)
    assert overall_confidence([]) == 0


class Hostile:
    def __getattr__(self, name: str) -> object:
        raise RuntimeError(name)

    def __repr__(self) -> str:
        raise RuntimeError

    def __bool__(self) -> bool:
        raise RuntimeError


class HostileMapping(dict[str, object]):
    def get(self, key: object, default: object = None) -> object:
        raise RuntimeError(key, default)

    def items(self) -> object:  # type: ignore[override]
        raise RuntimeError


def nested(depth: int) -> object:
    value: object = "Error: x"
    for _ in range(depth):
        value = [{"error": value}]
    return value


HOSTILE: list[Callable[[], object]] = [
    Hostile,
    HostileMapping,
    lambda: {"content": [Hostile()], "isError": True},
    lambda: {"content": [HostileMapping(type="text")]},
    lambda: {"content": [text("x")], "structuredContent": HostileMapping(a=1)},
    lambda: {"content": Hostile()},
    lambda: {"isError": Hostile(), "content": [text("x")]},
    lambda: {"structuredContent": nested(5_000)},
    lambda: {"content": [text('{"error":' * 5_000)], "structuredContent": None},
    lambda: {"content": [text('{"error":' + "[" * 100_000)]},
    lambda: {"content": [text("{'error': " + "(" * 1_500)]},
    lambda: {"content": [text("\ud800 Error: \udfff not found")], "isError": True},
    lambda: {"content": [text('{"error": "\ud800"}')]},
    lambda: {"structuredContent": {"n": float("nan"), "error": float("inf")}},
    lambda: {"structuredContent": {1: 2, None: 3, ("a",): 4}},
    lambda: {1: 2, "content": [{3: 4}], "isError": True},
    lambda: {"code": 10**400, "message": "x"},
    lambda: {"code": True, "message": "x"},
    lambda: {"content": [text("9" * 5_000 + " status " + "4" * 5_000)], "isError": True},
]


@pytest.mark.parametrize("make", HOSTILE)
def test_nothing_raises_whatever_the_response_the_tool_and_the_arguments_hold(make: Callable[[], object]) -> None:
    for tool in (TOOL, {"name": "t", "outputSchema": OUTPUT}, make()):
        for result in (make(), {"content": [text("Error: user x not found")], "isError": True}):
            verdict = check_result(tool, make(), result)
            verdict.to_dict()
            extract_metadata(tool, result).to_dict()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=30)
    | st.sampled_from(["Error: user not found", "TypeError: x", '{"error": {"code": 404}}', "not found", "/srv/data/x", "error"]),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(["content", "type", "text", "isError", "structuredContent", "_meta", "error", "errors", "status", "code", "message", "data"])
        | st.text(max_size=5),
        inner,
        max_size=5,
    ),
    max_leaves=12,
)  # fmt: skip
RESULTS = st.fixed_dictionaries(
    {},
    optional={
        "content": st.lists(st.fixed_dictionaries({"type": st.sampled_from(["text", "image", "x"])}, optional={"text": JSON, "data": JSON}) | JSON, max_size=3) | JSON,
        "isError": st.booleans() | JSON,
        "structuredContent": JSON,
        "_meta": JSON,
    },
)  # fmt: skip


@examples(150)
@given(
    tool=JSON | st.just(TOOL) | st.just({"name": "t", "outputSchema": OUTPUT}), arguments=JSON, result=RESULTS | JSON
)
def test_check_result_is_total(tool: object, arguments: object, result: object) -> None:
    verdict = check_result(tool, arguments, result)
    assert verdict.classification in Classification
    assert 0 <= verdict.confidence <= 100
    assert verdict.to_dict()["classification"] == verdict.classification.value
    assert verdict.state is None or verdict.state in State
    assert all(leak.kind in LeakKind for leak in verdict.leaks)
