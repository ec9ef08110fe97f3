"""Results of every build, and the whole verdict on them."""

import pytest

from toolvet import ResultVerdict, check_result

ANSWERED = {"type": "tool_result", "tool_use_id": "x", "content": "Not found", "is_error": True}


def flagged(text: str) -> dict[str, object]:
    return {**said(text), "isError": True}


def said(text: str) -> dict[str, object]:
    return {"content": [{"type": "text", "text": text}]}


def in_words(verdict: ResultVerdict) -> str:
    """The class, the state, the confidence, and what else is so."""
    metadata = verdict.metadata
    flags = {
        "valid": verdict.is_valid,
        "error": verdict.is_error,
        "unflagged": verdict.error_without_flag,
        "structured": metadata.has_structured_content,
        "meta": metadata.has_meta,
    }
    state = "-" if verdict.state is None else verdict.state.value
    named = [name for name, is_so in flags.items() if is_so]
    return " ".join([verdict.classification.value, state, f"{verdict.confidence:g}", *named])


@pytest.mark.parametrize(
    ("result", "words", "shape", "blocks", "issues"),
    [
        # Results with one block of text, as nearly all are: with and without `isError`, and with further members.
        ({"content": [{"type": "text", "text": "fine"}]}, "fully_working - 100 valid", None, {"text": 1}, []),
        (
            {"content": [{"type": "text", "text": "fine"}], "_meta": {"a": 1}},
            "fully_working - 100 valid meta",
            None,
            {"text": 1},
            [],
        ),
        (
            {"content": [{"type": "text", "text": "not found"}], "isError": True, "_meta": {"a": 1}},
            "fully_working not_found 100 valid error meta",
            None,
            {"text": 1},
            [],
        ),
        (
            {"content": [{"type": "text", "text": "fine"}], "isError": "true"},
            "error unknown 50 error",
            None,
            {"text": 1},
            ["An error that does not show whose fault it is", "isError is not a boolean: 'true'"],
        ),
        (
            {"content": [{"type": "text", "text": "fine"}], "isError": 1},
            "partially_working - 70 valid",
            None,
            {"text": 1},
            ["isError is not a boolean: 1"],
        ),
        (
            {"content": [{"type": "text", "text": 5}]},
            "partially_working - 70 valid",
            None,
            {},
            ["Malformed content block: an object with type, text"],
        ),
        ({"content": [{"type": "note", "text": "fine"}]}, "fully_working - 100 valid", None, {"note": 1}, []),
        (
            {"content": [{"text": "fine"}]},
            "partially_working - 70 valid",
            None,
            {},
            ["Malformed content block: an object with text"],
        ),
        ({"content": ["fine"]}, "partially_working - 70 valid", None, {}, ["Malformed content block: 'fine'"]),
        (
            {"content": [{"type": "text", "text": " "}]},
            "connectivity_only - 30",
            None,
            {"text": 1},
            ["Response content is blank"],
        ),
        ({"content": []}, "broken - 0", None, {}, ["Response content is empty or not an array"]),
        ({"content": None}, "broken - 0", None, {}, ["Response has no content"]),
        ({"content": "fine"}, "broken - 0", None, {}, ["Response content is empty or not an array"]),
        (
            {"content": [{"type": "text", "text": "a"}, {"type": "image", "data": "eA==", "mimeType": "image/png"}]},
            "fully_working - 100 valid",
            None,
            {"text": 1, "image": 1},
            [],
        ),
        (
            {
                "content": [
                    {"type": "image"},
                    {"type": "audio", "data": "eA=="},
                    {"type": "resource_link", "uri": "a:b"},
                ]
            },
            "partially_working - 70 valid",
            None,
            {"image": 1, "audio": 1, "resource": 1},
            ["Malformed content block: an object with type"],
        ),
        (
            {"content": [{"type": f"t{index}"} for index in range(3)], "structuredContent": {"a": 1}},
            "fully_working - 100 valid structured",
            None,
            {"t0": 1, "t1": 1, "t2": 1},
            ["structuredContent has no text mirror in content"],
        ),
        (
            {"content": [], "structuredContent": {"a": None}},
            "fully_working - 100 valid structured",
            None,
            {},
            ["structuredContent has no text mirror in content"],
        ),
        (
            {"content": [], "structuredContent": []},
            "fully_working - 100 valid structured",
            None,
            {},
            ["structuredContent has no text mirror in content"],
        ),
        # Flags without a result, and results that are none.
        (
            {"isError": True, "content": "gone"},
            "error unknown 50 error",
            None,
            {},
            ["An error that does not show whose fault it is"],
        ),
        ({"isError": False, "x": 1}, "broken - 0", None, {}, ["Response has no content"]),
        ({"isError": True, "x": 1}, "connectivity_only - 30 error", None, {}, ["The error says nothing"]),
        (
            {"isError": False, "role": "tool", "content": "not found"},
            "broken - 0",
            None,
            {},
            ["Response content is empty or not an array"],
        ),
        ({"resultType": "input_required"}, "fully_working - 100 valid", None, {}, []),
        ({"task": {"taskId": "1"}}, "fully_working - 100 valid", None, {}, []),
        ({"code": -32602, "message": "no"}, "fully_working invalid_input 100 valid error", None, {}, []),
        ({"code": True, "message": "no"}, "fully_working - 100 valid structured", "payload", {}, []),
        ({"code": -32602, "message": 5}, "fully_working - 100 valid structured", "payload", {}, []),
        (
            {"jsonrpc": "2.0", "id": 1, "error": {"code": -32002, "message": "zzz"}},
            "fully_working not_found 100 valid error",
            None,
            {},
            [],
        ),
        (
            {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "fine"}]}},
            "fully_working - 100 valid",
            "JSON-RPC response",
            {"text": 1},
            [],
        ),
        # Codes of JSON-RPC, and words in code.
        (flagged("MCP error -32002: zzz"), "fully_working not_found 100 valid error", None, {"text": 1}, []),
        (flagged("MCP error -32602: zzz"), "fully_working invalid_input 100 valid error", None, {"text": 1}, []),
        (
            flagged("MCP error -32601: zzz"),
            "error unsupported 7 error",
            None,
            {"text": 1},
            ["The tool failed (unsupported)"],
        ),
        (
            flagged("MCP error -32000: zzz"),
            "error unknown 50 error",
            None,
            {"text": 1},
            ["An error that does not show whose fault it is"],
        ),
        (
            flagged('x = 1\ny = 2\nprint("Internal error")'),
            "error unknown 50 error",
            None,
            {"text": 1},
            ["An error that does not show whose fault it is"],
        ),
        (
            flagged('print("a")\ny = 2\nInternal error'),
            "error internal 10 error",
            None,
            {"text": 1},
            ["The tool failed (internal)"],
        ),
        # Other shapes.
        (
            {"functionResponse": {"name": "f", "response": {"output": "fine", "error": "Not found"}}},
            "partially_working not_found 70 valid unflagged structured",
            "Gemini functionResponse",
            {},
            ["error reported without isError"],
        ),
        (
            {"functionResponse": {"name": "f", "response": {"output": "fine"}}},
            "fully_working - 100 valid",
            "Gemini functionResponse",
            {"text": 1},
            [],
        ),
        (
            {"functionResponse": {"name": "f", "response": {"error": "Not found"}}},
            "fully_working not_found 100 valid error",
            "Gemini functionResponse",
            {"text": 1},
            [],
        ),
        (
            {"functionResponse": {"name": "f", "response": {"result": "fine"}}},
            "fully_working - 100 valid structured",
            "Gemini functionResponse",
            {},
            [],
        ),
        (
            {"functionResponse": {"name": "f", "response": ["fine"]}},
            "fully_working - 100 valid structured",
            "Gemini functionResponse",
            {},
            [],
        ),
        (
            {"role": "tool", "tool_call_id": "a", "content": None},
            "connectivity_only - 30",
            "OpenAI tool message",
            {"text": 1},
            ["Response content is blank"],
        ),
        (
            {"role": "tool", "tool_call_id": "a", "content": True},
            "fully_working - 100 valid",
            "OpenAI tool message",
            {"text": 1},
            [],
        ),
        (
            {"role": "tool", "tool_call_id": "a", "content": 1.5},
            "fully_working - 100 valid",
            "OpenAI tool message",
            {"text": 1},
            [],
        ),
        (
            {"role": "tool", "tool_call_id": "a", "content": b"Error: not found"},
            "fully_working not_found 100 valid unflagged",
            "OpenAI tool message",
            {"text": 1},
            [],
        ),
        (
            {"role": "tool", "tool_call_id": "a", "content": [{"json": {"a": 1}}]},
            "fully_working - 100 valid structured",
            "OpenAI tool message",
            {},
            [],
        ),
        (
            {"role": "tool", "tool_call_id": "a", "content": [{"json": 1}, {"json": 2}]},
            "fully_working - 100 valid structured",
            "OpenAI tool message",
            {},
            [],
        ),
        (
            {"role": "tool", "tool_call_id": "a", "content": ["a", "b"]},
            "fully_working - 100 valid structured",
            "OpenAI tool message",
            {},
            [],
        ),
        (
            {"role": "tool", "tool_call_id": "a", "content": ["a", {"json": 2}]},
            "fully_working - 100 valid structured",
            "OpenAI tool message",
            {"text": 1},
            [],
        ),
        (
            {"role": "tool", "tool_call_id": "a", "content": [{"a": 1}]},
            "fully_working - 100 valid structured",
            "OpenAI tool message",
            {},
            [],
        ),
        (
            {"role": "user", "content": [{"type": "text", "text": "a"}, ANSWERED]},
            "fully_working not_found 100 valid error",
            "Anthropic tool_result",
            {"text": 1},
            [],
        ),
        ({"role": "user", "content": [ANSWERED, ANSWERED]}, "fully_working - 100 valid structured", "payload", {}, []),
        (
            {"role": "user", "content": [{"role": "user", "content": [ANSWERED]}]},
            "fully_working - 100 valid structured",
            "payload",
            {},
            [],
        ),
        (
            {"kind": "request", "parts": [ANSWERED, "a"]},
            "fully_working not_found 100 valid error",
            "Anthropic tool_result",
            {"text": 1},
            [],
        ),
        (
            {"statusCode": 404, "body": "no lamp", "reason": "Not Found"},
            "fully_working not_found 100 valid error",
            "HTTP response",
            {"text": 1},
            [],
        ),
        ({"statusCode": 399, "body": ""}, "fully_working - 100 valid", "HTTP response", {"text": 1}, []),
        (
            {"status": 400, "headers": {}, "data": {"a": 1}},
            "fully_working invalid_input 100 valid error",
            "HTTP response",
            {"text": 1},
            [],
        ),
        ({"status": 600, "headers": {}}, "fully_working - 100 valid structured", "payload", {}, []),
        ({"status": True, "headers": {}}, "fully_working - 100 valid structured", "payload", {}, []),
        ({"status": 200, "body": "x"}, "fully_working - 100 valid structured", "payload", {}, []),
        (KeyError("no lamp"), "error crash 10 error", "exception", {"text": 1}, ["The tool failed (crash)"]),
        (
            ValueError(),
            "error unknown 50 error",
            "exception",
            {"text": 1},
            ["An error that does not show whose fault it is"],
        ),
        (5, "fully_working - 100 valid", "text", {"text": 1}, []),
        (None, "broken - 0", "nothing", {}, ["Response has no content"]),
        ("Error: order not found", "fully_working not_found 100 valid unflagged", "text", {"text": 1}, []),
        (["a", "b"], "fully_working - 100 valid structured", "payload", {}, []),
        # What opens like a list, and is none.
        (
            said("[x] Failed to connect to the database"),
            "error unreachable 10 unflagged",
            None,
            {"text": 1},
            ["error reported without isError", "The tool failed (unreachable)"],
        ),
        (
            said("[ab] Error: order not found"),
            "partially_working not_found 70 valid unflagged",
            None,
            {"text": 1},
            ["error reported without isError"],
        ),
        (said("[1] Error: order not found"), "fully_working - 100 valid", None, {"text": 1}, []),
        (
            said("[E] order not found"),
            "partially_working not_found 70 valid unflagged",
            None,
            {"text": 1},
            ["error reported without isError"],
        ),
        (said('["Error: order not found"]'), "fully_working - 100 valid", None, {"text": 1}, []),
        # How long a text may be that says nothing but an error.
        (
            said("Error: order not found. " + "x" * 176),
            "partially_working not_found 70 valid unflagged",
            None,
            {"text": 1},
            ["error reported without isError"],
        ),
        (
            said("User not found: " + "x " * 92),
            "partially_working not_found 70 valid unflagged",
            None,
            {"text": 1},
            ["error reported without isError"],
        ),
        (said("User not found: " + "x " * 92 + "x"), "fully_working - 100 valid", None, {"text": 1}, []),
        (
            said("User not found: " + "y" * 80 + " " + "x " * 51 + "x"),
            "partially_working not_found 70 valid unflagged",
            None,
            {"text": 1},
            ["error reported without isError"],
        ),
        (
            said("User not found: " + "y" * 80 + " " + "x " * 52),
            "partially_working not_found 70 valid unflagged",
            None,
            {"text": 1},
            ["error reported without isError"],
        ),
        (said("User not found: " + "y" * 79 + " " + "x " * 53), "fully_working - 100 valid", None, {"text": 1}, []),
        (
            said("Error executing tool f: " + "x " * 1_988),
            "error unknown 50 unflagged",
            None,
            {"text": 1},
            ["error reported without isError", "An error that does not show whose fault it is"],
        ),
        (
            said("Error executing tool f: " + "x " * 1_988 + "x"),
            "error unknown 50 unflagged",
            None,
            {"text": 1},
            ["error reported without isError", "An error that does not show whose fault it is"],
        ),
    ],
)
def test_the_whole_verdict_on_a_result(
    result: object, words: str, shape: str | None, blocks: dict[str, int], issues: list[str]
) -> None:
    verdict = check_result("x", {}, result)
    metadata = verdict.metadata
    counts = {
        "text": metadata.text_block_count,
        "image": metadata.image_count,
        "audio": metadata.audio_count,
        "resource": metadata.resource_count,
        **metadata.other_counts,
    }
    assert (in_words(verdict), metadata.taken_for, list(verdict.issues)) == (words, shape, issues)
    assert {name: count for name, count in counts.items() if count} == blocks
    assert (verdict.is_valid, verdict.is_error) == ("valid" in words.split(), "error" in words.split()[1:])
