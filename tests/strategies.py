"""Inputs for the property tests of all public functions: values, schemas, tools, results, messages, calls, options."""

from typing import Any

from hypothesis import strategies as st

import toolvet

# Each category of Unicode as often as any other: superscripts and Kharosthi digits (No), fractions and Roman numerals
# (No, Nl), digits of all scripts (Nd), marks of direction and tags (Cf), lone surrogates (Cs), unassigned ones (Cn).
CATEGORIES: tuple[Any, ...] = (
    *("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po"),
    *("Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn"),
)
# Also beside numbers, and more digits than Python converts.
_ODD_PIECE = st.one_of(
    st.lists(
        st.sampled_from(CATEGORIES).flatmap(lambda one: st.characters(categories=[one])) | st.sampled_from("19-+.,:/"),
        min_size=1,
        max_size=5,
    ).map("".join),
    st.sampled_from("\u00b2\u2461\U00010a40\u00bd\u2167\uff11\u0663\U000e0031\u202e\ud800"),
    st.sampled_from(["--5", "+-1", "9" * 5_000, "-" + "9" * 5_000]),
)
# Where the checks read numbers, dates, spans, codes and identifiers.
_ODD_PLACES = (
    *("{}", "It arrives on 2025-03-04, in {} days.", "I've sent the {} emails.", "{} of {} items", "Order #{}-12"),
    *("Delivered by 4 March {} ({} days)", "On {}/{}/2026 at {}:{} pm.", "It costs EUR {}.50", "{}. Next\n{}. Last"),
    *('{{"code": "{}", "message": "it broke"}}', '{{"total": {}, "days": "{}"}}', "HTTP {}: error", "exit code {}"),
)
ODD_TEXT = st.builds(
    lambda form, pieces: form.format(*pieces),
    st.sampled_from(_ODD_PLACES),
    st.lists(_ODD_PIECE, min_size=4, max_size=4),
)
TEXT = (
    st.text(max_size=40)
    | ODD_TEXT
    | st.sampled_from(
        [
            "I cannot help with that.",
            "I've sent the email to ann@example.com on 2026-11-22.",
            "It costs 21.50 EUR, or \u0662\u0661 \u17e8e \u096b.",
            "Error: not found (404)",
            '{"a": 1}',
            "{'a': None,",
            "\ud800",
            "3 May 2026 \u4e09\u6708\u4e8c\u65e5",
            "",
        ]
    )
)
NUMBER = st.integers() | st.floats() | st.sampled_from([10**400, -(10**4000), 2**63, 1e308, -0.0])
SCALAR = st.none() | st.booleans() | NUMBER | TEXT
KEY = st.text(max_size=6) | st.sampled_from(
    [
        *("type", "properties", "items", "required", "enum", "const", "pattern", "anyOf", "oneOf", "not", "$ref"),
        *("$defs", "minimum", "maxItems", "multipleOf", "format", "additionalProperties", "content", "text", "isError"),
        *("structuredContent", "error", "code", "message", "success", "data", "meta", "role", "tool_calls", "function"),
        *("name", "arguments", "result", "id", "tool_call_id", "parts", "total", "next_cursor", "password", "a", "b"),
    ]
)
# What Python holds and JSON does not, beside what both hold.
ODD_KEY = KEY | st.none() | st.integers() | st.tuples(st.integers())
JSON = st.recursive(
    SCALAR,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEY, inner, max_size=4),
    max_leaves=12,
)
ANY = st.recursive(
    SCALAR | st.binary(max_size=4) | st.just(object()) | st.just(...),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(ODD_KEY, inner, max_size=4)
        | st.tuples(inner, inner)
        | inner.map(lambda value: [value, value])
        | st.sets(SCALAR, max_size=2)
    ),
    max_leaves=12,
)
TYPE = st.sampled_from(["object", "string", "integer", "number", "array", "boolean", "null"])
BOUND = st.integers(-3, 20) | NUMBER
SCHEMA = st.recursive(
    st.booleans() | JSON | st.fixed_dictionaries({"type": TYPE}),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": TYPE | st.lists(TYPE, max_size=2),
            "properties": st.dictionaries(KEY, inner, max_size=3),
            "patternProperties": st.dictionaries(st.sampled_from(["^a", "(a+)+$", "("]), inner, max_size=1),
            "required": st.lists(KEY, max_size=3),
            "additionalProperties": inner,
            "items": inner,
            "enum": st.lists(JSON, max_size=3),
            "const": JSON,
            "anyOf": st.lists(inner, max_size=3),
            "oneOf": st.lists(inner, max_size=3),
            "allOf": st.lists(inner, max_size=2),
            "not": inner,
            "$ref": st.sampled_from(["#", "#/properties/a", "#/$defs/a", "https://example.com/a"]),
            "minimum": BOUND,
            "maximum": BOUND,
            "multipleOf": BOUND,
            "minLength": BOUND,
            "maxItems": BOUND,
            "pattern": st.sampled_from(["^a+$", "(a+)+$", "(?=a)b", "("]) | TEXT,
            "format": st.sampled_from(["date", "email", "uri", "uuid"]),
            "default": JSON,
        },
    ),
    max_leaves=8,
)
TOOL = ANY | st.fixed_dictionaries(
    {"name": TEXT | ANY}, optional={"description": TEXT, "inputSchema": SCHEMA | ANY, "outputSchema": SCHEMA | ANY}
)
BLOCK = ANY | st.fixed_dictionaries({"type": st.just("text"), "text": TEXT | ANY})
RESULT = ANY | st.fixed_dictionaries(
    {"content": st.lists(BLOCK, max_size=3) | ANY}, optional={"isError": st.booleans() | ANY, "structuredContent": ANY}
)
CALL = (
    ANY
    | st.builds(toolvet.ToolCall, TEXT, ANY, RESULT, st.none() | st.booleans(), st.none() | TEXT)
    | st.fixed_dictionaries({"name": TEXT, "arguments": ANY, "result": RESULT}, optional={"failed": ANY, "id": ANY})
)
MESSAGE = ANY | st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool", "system"]), "content": TEXT | st.lists(BLOCK, max_size=2)},
    optional={
        "tool_calls": st.lists(
            st.fixed_dictionaries(
                {"id": TEXT, "function": st.fixed_dictionaries({"name": TEXT, "arguments": TEXT | ANY})}
            ),
            max_size=2,
        ),
        "tool_call_id": TEXT,
        "finish_reason": TEXT | ANY,
    },
)
WORDS = st.lists(st.sampled_from(["not my department", "(a+)b", "bad", "21", "caf\u00e9"]), max_size=2)
BY_SIGNAL = st.dictionaries(st.sampled_from([kind.value for kind in toolvet.SignalType]), WORDS, max_size=2)
SHARE = st.floats(0, 1)
ANSWER_OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "min_length": st.integers(0, 50),
        "strict": st.booleans(),
        "custom_patterns": BY_SIGNAL,
        "replace_patterns": st.booleans(),
        "languages": st.lists(st.sampled_from(["en", "de", "zh", "ar"]), max_size=2),
        "packs": st.lists(st.sampled_from(["medical", "legal", "finance", "code"]), max_size=2),
        "exceptions": BY_SIGNAL,
        "weights": st.dictionaries(st.sampled_from(["refusal", "low_confidence"]), SHARE, max_size=2),
        "threshold": SHARE,
    },
)
TURN_OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "calls": st.none() | st.lists(CALL, max_size=3),
        "question": st.none() | TEXT | st.lists(MESSAGE | CALL, max_size=3),
        "finish_reason": st.none() | st.sampled_from(["stop", "max_tokens", "SAFETY", "tool_use"]) | TEXT,
        "trace": st.none() | TEXT,
    },
)
RESULT_OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "category": st.none() | st.sampled_from(["happy_path", "edge_case", "boundary", "error_case"]),
        "any_response": st.booleans(),
        "extra_patterns": WORDS,
        "strong_patterns": WORDS,
        "failure_patterns": WORDS,
        "exceptions": WORDS,
        "factors": st.none() | st.dictionaries(st.sampled_from(["own", "mine"]), st.just(("bad", 2)), max_size=1),
        "weights": st.none() | st.dictionaries(st.just("test_data"), st.integers(0, 5), max_size=1),
        "threshold": st.none() | SHARE,
        "shape": st.sampled_from(["any", "mcp"]),
        "thresholds": st.none() | st.dictionaries(st.sampled_from(["validation_expected", "other"]), SHARE),
        "expects_validation": st.none() | st.booleans(),
        "draft_outputs": st.booleans(),
        "trace": st.none() | TEXT,
    },
)
FIT_OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "counter": st.sampled_from(["characters", "bytes", len]),
        "key": st.sampled_from(["id", "a", ""]) | st.just(repr),
        "importance": st.none() | st.sampled_from(["a", "id"]) | st.just(lambda item: len(str(item)[:50])),
        "lists": st.none() | st.lists(st.sampled_from(["a", "items", "/a", ""]), max_size=2),
        "summarise": st.none() | st.just(lambda item: str(item)[:5]),
        "archive": st.none() | st.builds(toolvet.ContentArchive),
        "reason": st.sampled_from(["size_limit_exceeded", "mine"]),
    },
)
