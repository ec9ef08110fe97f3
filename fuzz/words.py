"""The words that inputs are drawn from: keys of protocols, keywords of JSON Schema, the proofs of our phrases."""

import sys
import tomllib
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import toolvet

KEYS: Final = (
    *("a", "b", "", "type", "properties", "items", "required", "enum", "content", "text", "isError", "error", "code"),
    *("structuredContent", "message", "success", "data", "meta", "_meta", "role", "tool_calls", "function", "name"),
    *("arguments", "result", "id", "tool_call_id", "parts", "total", "next_cursor", "nextCursor", "password", "token"),
    *("api_key", "Authorization", "status", "status_code", "detail", "details", "errors", "title", "reason", "retry"),
    *("error_type", "error_code", "remediation", "request_id", "warnings", "pagination", "has_more", "count", "page"),
    *("content_fidelity", "dropped_content_ids", "rate_limit", "reset_at", "telemetry", "jsonrpc", "method", "params"),
    *("inputSchema", "outputSchema", "tools", "capabilities", "toolValidation", "valid", "issues", "x-mcp-header"),
    *("dev.toolvet/verdict", "dev.toolvet/trace", "traceparent", "experimental", "response_contract_v2", "v1", "v2"),
    *("date", "2026-11-22", "2026-11-22T10:00:00Z", "21.50", "21,50 \u20ac", "1e5", "null", "true", "None", "NaN"),
    *("sk-abcdefghijklmnopqrstuvwx1234", "password=hunter2", "postgres://bob:pa55wd@db/x", "Bearer abcdef123456789"),
    *("user@example.com", "https://example.com/a?token=abc123def456", "/srv/app/main.py", "Error: not found (404)"),
    *("I cannot help with that.", "I've sent the 2 emails.", "\ud800", "\u17e8e", "\u0662\u0661", "\u4e09\u6708"),
    *("{'a': None,", '{"a": 1}', "```json\n{}\n```", "a/b~c", "$", "..", "#", "\x00", "\ufeff", "\u200b", "\u202e"),
)
NAMES: Final = (
    "a",
    "b",
    "id",
    "port",
    "count",
    "date",
    "user_id",
    "userId",
    "a b",
    "password",
    "tags",
    "limit",
    "",
    "~",
)
TOOLS: Final = (
    "sail",
    "get_weather",
    "send_email",
    "delete_user",
    "validate",
    "list_items",
    "search",
    "",
    "a.b",
    "\u00e9",
)
TYPES: Final = ("object", "object", "object", "string", "integer", "number", "array", "boolean", "null")
HOLD_NAMED: Final = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
HOLD_MANY: Final = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
HOLD_ONE: Final = frozenset(
    {
        *("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"),
        *("unevaluatedProperties", "unevaluatedItems"),
    }
)
HOLD_COUNT: Final = frozenset(
    {
        *("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
        *("minContains", "maxContains"),
    }
)
HOLD_NUMBER: Final = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
KEYWORDS: Final = (
    *sorted(HOLD_NAMED),
    *sorted(HOLD_MANY),
    *sorted(HOLD_ONE),
    *sorted(HOLD_COUNT),
    *sorted(HOLD_NUMBER),
    *("enum", "const", "required", "dependentRequired", "pattern", "format", "$ref", "$dynamicRef", "$schema"),
    *("uniqueItems", "nullable", "default", "examples", "title", "description", "$id", "$anchor", "$comment"),
)
FORMATS: Final = (
    *("date", "date-time", "time", "email", "uri", "uuid", "ipv4", "ipv6", "hostname", "regex", "json-pointer"),
    *("duration", "int32", "binary", "", "own", "iri", "idn-email", "uri-template", "byte", "password"),
)
REFERENCES: Final = (
    *("#", "#/properties/a", "#/$defs/a", "#/$defs/b", "#/definitions/a", "https://example.com/a", "a", "#a", "#/~"),
    *("#/$defs/", "http://json-schema.org/draft-07/schema#", "%", "#/properties/a/items"),
)
DIALECTS: Final = (
    "https://json-schema.org/draft/2020-12/schema",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-04/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://example.com/own",
    "",
)
PATTERNS: Final = (
    *("^a+$", "(a+)+$", "(?=a)b", "(", "^[A-Z]{2}\\d{4}$", "\\p{L}+", "[", "a{2,5}", "a|b", "(?i)x", "\\bsold out\\b"),
    *(
        "^(?!a)",
        "(?P<n>a)(?P=n)",
        "[^a]",
        ".",
        "\\d{3}-\\d{4}",
        "^$",
        "a{1000}",
        "(?:ab)*c",
        "not my department",
        "bad",
    ),
    *(
        "caf\u00e9",
        "21",
        "(?<=a)b",
        "\\u0041",
        "[\\w.-]+@[\\w.-]+",
        "x*",
        "",
        " ",
        "\\",
        "ledger",
        "insufficient margin",
    ),
)
BLOCKS: Final = (
    *("image", "audio", "resource", "resource_link", "tool_use", "tool_result", "output_text", "thinking", "refusal"),
    *("function_call", "function_call_output", "tool-call", "tool-result", "input_text", "own"),
)
ROLES: Final = (
    *("user", "assistant", "tool", "system", "model", "function", "developer", "human", "gpt", "ai", "observation"),
    *("tool_result", "request", "response", "toolResult"),
)
REASONS: Final = ("stop", "length", "max_tokens", "SAFETY", "tool_use", "tool_calls", "content_filter", "", "own", None)
NUMBERS: Final[tuple[int | float, ...]] = (
    *(0, -1, 2**31, 2**53, 2**63, 2**64, -(2**63) - 1, 10**20, 10**400, -(10**4000), 1e308, -0.0, 0.1, 1e-320, 1e16),
    *(float("nan"), float("inf"), float("-inf"), 21.5, 1234567.89, 100, 404, 500, 429, 0.30000000000000004),
)
SUBJECTS: Final = (
    *("It costs", "There are", "I found", "The total is", "Es kostet", "Il y a", "\u5408\u8ba1", "I sent", "On", "By"),
    *("The port opens at", "It is", "I have deleted", "Between 3 and", "About", "The date is"),
)
UNITS: Final = (
    *("EUR.", "emails.", "%", "items in all.", "degrees.", "May 2026.", "km/h", "\u20ac", "\u5143", "million dollars."),
    *("o'clock.", "of 20 users.", "days ago.", "", "and 5 more.", "$", "\u20b9", "Stunden."),
)
CLAIMS: Final = (
    *(
        "I've sent the email to ann@example.com on 2026-11-22.",
        "I have deleted the user.",
        "Done! The booking is made.",
    ),
    *(
        "I could not find any results.",
        "It costs 21.50 EUR, or \u0662\u0661 \u17e8e \u096b.",
        "> quoted: I can't do it.",
    ),
    *(
        'He said "I cannot help you".',
        "```python\nraise ValueError('x')\n```",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "- item",
    ),
    *(
        "1. first\n2. second",
        "3 May 2026 \u4e09\u6708\u4e8c\u65e5",
        "Dear Ann,\n\nI regret that",
        "Let me check that for you",
    ),
    *("21 + 21 = 43", "50 % of 200 is 90", "The weather in Lisbon is 21\u00b0C.", "As an AI language model, I"),
    *(
        '{"error": "not found"}',
        "Traceback (most recent call last):\n  File",
        "<tool_call>{}</tool_call>",
        "Sorry, but",
    ),
    *(
        "The operation was successful and",
        "https://example.com/x",
        "I would need",
        "\u6211\u65e0\u6cd5\u63d0\u4f9b",
        "\u274c",
    ),
)
_KEPT: Final = ("hits", "misses")


@cache
def characters() -> tuple[tuple[str, ...], ...]:
    """The characters of each category of Unicode, lone surrogates and unassigned ones included; at most 200 of each."""
    found: dict[str, list[str]] = {}
    for code in range(sys.maxunicode + 1):
        found.setdefault(unicodedata.category(chr(code)), []).append(chr(code))
    return tuple(tuple(every[:: len(every) // 200 + 1]) for _, every in sorted(found.items()))


@cache
def sentences() -> tuple[str, ...]:
    """Return the proofs of all phrases and patterns of ours, in every language."""
    folder = Path(toolvet.__file__).parent
    files = [*sorted(folder.glob("core/languages/*/*.toml")), *sorted(folder.glob("core/checks/**/*.toml"))]
    found = {text: None for file in files for text in _proofs(tomllib.loads(file.read_text(encoding="utf-8")))}
    return tuple(found)[:60_000]


def _proofs(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in _KEPT and isinstance(inner, list):
                yield from (text for text in inner if isinstance(text, str))
            else:
                yield from _proofs(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _proofs(inner)
