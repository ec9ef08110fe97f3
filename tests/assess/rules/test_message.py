"""The score of an error message: what earns points, and what the frameworks' own words are worth."""

import re

import pytest
from hypothesis import given, strategies as st

from toolvet.assess.rules import IntendedViolation, ObservedCall, Outcome, ProtocolError, tool_definition
from toolvet.assess.rules.message import field_patterns, read_message_source, score_message, tool_message_score
from toolvet.core.checks.result import check_result
from toolvet.core.schema import compiled

SOURCE = read_message_source()
TOOL = {
    "name": "search_books",
    "inputSchema": {
        "type": "object",
        "required": ["query"],
        "properties": {
            "query": {"type": "string", "minLength": 1},
            "limit": {"type": "integer", "minimum": 1, "maximum": 50},
            "genre": {"enum": ["novel", "poetry", "drama"]},
            "message": {"type": "string"},
            "code": {"type": "string", "pattern": "^[A-Z]{3}$"},
            "tags": {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "integer"}}}},
        },
    },
}
IDEAL = "'limit' must be an integer between 1 and 50; received 500. Use a value from 1 to 50."
TOO_MANY = {"query": "x", "limit": 500}
OPERA = {"query": "x", "genre": "opera"}
NESTED = {"query": {"nested": ["wrong"]}}
ZOD_3_JSON = 'Invalid input: [{"code":"invalid_type","path":["limit"],"message":"Expected number, received string"}]'
MORE = "\n    For further information visit https://errors.pydantic.dev/2.14/v/x"


def refused(arguments: object, text: str, *, unknown: str | None = None) -> ObservedCall:
    result = {"content": [{"type": "text", "text": text}], "isError": True}
    return ObservedCall(
        tool=tool_definition(TOOL),
        arguments=arguments,
        outcome=Outcome.RESULT,
        result=result,
        verdict=check_result(TOOL, arguments, result),
        violations=compiled(TOOL["inputSchema"]).violations(arguments),
        intended=IntendedViolation(keyword="additionalProperties", property=unknown, declared=False)
        if unknown
        else None,
    )


def pydantic(field: str, sentence: str, kind: str, value: str) -> str:
    head = "Error executing tool search_books: 1 validation error for xArguments"
    return f"{head}\n{field}\n  {sentence} [type={kind}, input_value={value}]{MORE}"


def zod(issue: str) -> str:
    return f"MCP error -32602: Input validation error: Invalid arguments for tool search_books: {issue}"


LITERAL = [
    ("the ideal message", TOO_MANY, IDEAL, 100),
    ("a good sentence with a list", OPERA, "Unknown genre 'opera'. Use one of: novel, poetry, drama.", 100),
    ("a good sentence about what is missing", {}, "search_books needs 'query': pass the words to look for.", 100),
    ("pydantic, missing", {}, pydantic("query", "Field required", "missing", "{}, input_type=dict"), 71),
    (
        "pydantic, wrong type",
        NESTED,
        pydantic("query", "Input should be a valid string", "string_type", "{'nested': ['wrong']}"),
        76,
    ),
    (
        "pydantic, too big",
        TOO_MANY,
        pydantic("limit", "Input should be less than or equal to 50", "less_than_equal", "500"),
        80,
    ),
    ("pydantic, enum", OPERA, pydantic("genre", "Input should be 'novel', 'poetry' or 'drama'", "enum", "'opera'"), 80),
    ("pydantic, too short", {"query": ""}, pydantic("query", "String should have at least 1 character", "x", "''"), 80),
    ("zod 4, missing", {}, zod("Invalid input: expected string, received undefined at query"), 71),
    (
        "zod 4, wrong type",
        {"query": "x", "message": {}},
        zod("Invalid input: expected string, received object at message"),
        71,
    ),
    ("zod 4, enum", OPERA, zod('Invalid option: expected one of "novel"|"poetry"|"drama" at genre'), 65),
    ("zod 4, too big", TOO_MANY, zod("Too big: expected number to be <=50 at limit"), 65),
    ("zod 3, missing", {}, zod("Required at query"), 71),
    ("zod 3, as JSON", {"query": "x", "limit": "a"}, ZOD_3_JSON, 71),
    ("jsonschema, missing", {}, "Input validation error: 'query' is a required property", 71),
    ("jsonschema, wrong type", NESTED, "Input validation error: {'nested': ['wrong']} is not of type 'string'", 47),
    ("jsonschema, enum", OPERA, "Input validation error: 'opera' is not one of ['novel', 'poetry', 'drama']", 55),
    ("jsonschema, too big", TOO_MANY, "Input validation error: 500 is greater than the maximum of 50", 55),
    ("ajv, wrong type", {"query": "x", "limit": "a"}, "data/limit must be integer", 59),
    ("ajv, enum without its values", OPERA, "data/genre must be equal to one of the allowed values", 50),
    ("the limit alone", TOO_MANY, "limit must be at most 50", 65),
    ("the name alone", TOO_MANY, "Invalid value for limit", 25),
    ("nothing", TOO_MANY, "Invalid input", 0),
    ("an apology", TOO_MANY, "Something went wrong. Please try again later.", 0),
    ("no words", TOO_MANY, "", 0),
    ("a crash", TOO_MANY, "AttributeError: 'int' object has no attribute 'limit'", 0),
]


@pytest.mark.parametrize(
    ("arguments", "text", "score"), [case[1:] for case in LITERAL], ids=[case[0] for case in LITERAL]
)
def test_literal_answers_have_a_known_score(arguments: object, text: str, score: int) -> None:
    assert score_message(text, refused(arguments, text)).score == score


UNKNOWN = [
    ("zod", "Unrecognized key(s) in object: 'bogus'", 59),
    ("pydantic", pydantic("bogus", "Extra inputs are not permitted", "extra_forbidden", "1"), 59),
    (
        "a good one",
        "Unknown argument 'bogus'. Allowed arguments: query, limit, genre, message, code. Remove 'bogus'.",
        100,
    ),
    ("nothing", "Bad request", 0),
]


@pytest.mark.parametrize(("text", "score"), [case[1:] for case in UNKNOWN], ids=[case[0] for case in UNKNOWN])
def test_refusals_of_an_unknown_argument_have_a_known_score(text: str, score: int) -> None:
    call = refused({"query": "x", "bogus": 1}, text, unknown="bogus")
    assert score_message(text, call).score == score


def test_the_words_that_earned_points_are_quoted_with_their_spans() -> None:
    score = score_message(IDEAL, refused(TOO_MANY, IDEAL))
    words = {part.name: part.words for part in score.parts}
    assert words == {
        "field": ("limit",),
        "received": ("500",),
        "expected": ("must be",),
        "allowed": ("50",),
        "fix": ("Use a",),
    }
    for part in score.parts:
        assert tuple(IDEAL[start:end].strip() for start, end in part.spans) == part.words
    assert score.missing == ()


def test_parts_that_cannot_apply_are_left_out() -> None:
    missing = score_message("no", refused({}, "no"))
    assert [part.name for part in missing.parts] == ["field", "expected", "fix"]
    wrong_type = score_message("no", refused(NESTED, "no"))
    assert [part.name for part in wrong_type.parts] == ["field", "received", "expected", "fix"]
    assert wrong_type.missing == ("field", "received", "expected", "fix")


def test_the_weights_are_a_hundred_together() -> None:
    weights = SOURCE.weights
    assert weights.field + weights.received + weights.expected + weights.allowed + weights.fix == 100


def test_an_index_is_no_name_so_the_array_or_the_member_is_meant() -> None:
    text = "tags.0.id: Expected number, received string"
    arguments = {"query": "x", "tags": [{"id": "a"}]}
    score = score_message(text, refused(arguments, text))
    assert score.parts[0].words == ("id",)


def test_a_tool_is_scored_by_the_mean_over_its_answered_bad_calls() -> None:
    good, bad = refused(TOO_MANY, IDEAL), refused(TOO_MANY, "Invalid input")
    valid = refused({"query": "x"}, "No book found")
    crash = refused(TOO_MANY, "IndexError: list index out of range")
    silent = ObservedCall(tool=good.tool, arguments=TOO_MANY, outcome=Outcome.TIMEOUT, violations=good.violations)
    assert tool_message_score([good, bad, valid, silent]) == 50
    assert tool_message_score([good, crash]) == 50
    assert tool_message_score([valid, silent]) is None
    assert tool_message_score([]) is None


def test_the_message_of_a_protocol_error_is_read_as_well() -> None:
    call = ObservedCall(
        tool=tool_definition(TOOL),
        arguments=TOO_MANY,
        outcome=Outcome.PROTOCOL_ERROR,
        error=ProtocolError(code=-32602, message=IDEAL),
        violations=compiled(TOOL["inputSchema"]).violations(TOO_MANY),
    )
    assert tool_message_score([call]) == 100


@pytest.mark.parametrize("row", SOURCE.field.hits)
def test_a_text_that_names_the_argument_is_recognised(row: str) -> None:
    name, text = row.split("|", 1)
    assert any(pattern.search(text) for pattern in field_patterns(name))


@pytest.mark.parametrize("row", SOURCE.field.misses)
def test_a_text_that_uses_the_word_otherwise_names_no_argument(row: str) -> None:
    name, text = row.split("|", 1)
    assert not any(pattern.search(text) for pattern in field_patterns(name))


PARTS = {
    "expected": (SOURCE.expected.patterns, SOURCE.expected.hits, SOURCE.expected.misses),
    "fix": (SOURCE.fix.patterns, SOURCE.fix.hits, SOURCE.fix.misses),
    "received": (SOURCE.received.types, SOURCE.received.hits, SOURCE.received.misses),
}


@pytest.mark.parametrize(("part", "text"), [(part, hit) for part, (_, hits, _) in PARTS.items() for hit in hits])
def test_the_patterns_of_a_part_hit_their_hits(part: str, text: str) -> None:
    assert any(re.search(pattern, text) for pattern in PARTS[part][0])


@pytest.mark.parametrize(("part", "text"), [(part, miss) for part, (_, _, misses) in PARTS.items() for miss in misses])
def test_the_patterns_of_a_part_miss_their_misses(part: str, text: str) -> None:
    assert [pattern for pattern in PARTS[part][0] if re.search(pattern, text)] == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(text=st.text(), arguments=JSON, unknown=st.none() | st.text())
def test_any_text_about_any_arguments_has_a_score_between_0_and_100(
    text: str, arguments: object, unknown: str | None
) -> None:
    score = score_message(text, refused(arguments, text, unknown=unknown))
    assert 0 <= score.score <= 100
    for part in score.parts:
        assert 0 <= part.points <= part.most
