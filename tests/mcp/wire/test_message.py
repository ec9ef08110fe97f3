import json
import math
from typing import cast

import pytest
from hypothesis import given, strategies as st
from tests.examples import examples

from toolvet.mcp.wire import (
    ErrorReply,
    InvalidJson,
    Message,
    Noise,
    Notification,
    Request,
    Result,
    encode_error,
    encode_notification,
    encode_request,
    encode_result,
    parse,
    parse_answer,
)

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4))
IDS = st.integers() | st.text()
KEYS = st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error", "code", "message", "data", "other"])
ALMOST = st.dictionaries(KEYS, JSON | st.just("2.0") | st.fixed_dictionaries({"code": JSON, "message": JSON}))


def payload(message: Message) -> object:
    match message:
        case Request() | Notification():
            return message.params
        case Result():
            return message.result
        case ErrorReply():
            return message.data
        case Noise():
            return None


def slow_kind(value: object) -> type:
    """The rules of JSON-RPC 2.0 and MCP, word by word; the twin of `parse` on legal JSON."""
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        return Noise
    message = cast("dict[str, object]", value)
    id_ = message.get("id")
    has_id = isinstance(id_, int | str) and not isinstance(id_, bool)
    if "method" in message:
        if "result" in message or "error" in message or not isinstance(message["method"], str):
            return Noise
        if "id" not in message:
            return Notification
        return Request if has_id else Noise
    if "result" in message:
        return Result if has_id and "error" not in message else Noise
    error = message.get("error")
    if not isinstance(error, dict) or not (has_id or id_ is None):
        return Noise
    code = error.get("code")
    good = isinstance(code, int) and not isinstance(code, bool) and isinstance(error.get("message"), str)
    return ErrorReply if good else Noise


def told(message: Message) -> tuple[object, ...]:
    """All that a message says, however it was read."""
    if isinstance(message, Result):
        return Result, message.id, message.raw, repr(message.result)
    return type(message), message, payload(message)


@given(st.binary())
def test_every_byte_string_is_some_message(line: bytes) -> None:
    message = parse(line)
    assert message.raw == line
    payload(message)


@examples(160)
@given(ALMOST)
def test_almost_messages_are_sorted_as_the_rules_say(value: dict[str, object]) -> None:
    line = json.dumps(value).encode()
    # What JSON allows and the fast decoder does not (lone surrogates) is noise of its own kind.
    message = parse(line)
    if isinstance(message, Noise) and message.kind == "not_json":
        return
    assert isinstance(message, slow_kind(value)), message


@given(ALMOST, st.data())
def test_a_message_cut_anywhere_is_noise(value: dict[str, object], data: st.DataObject) -> None:
    line = json.dumps({"jsonrpc": "2.0", "id": 1, **value}).encode()
    cut = data.draw(st.integers(0, len(line) - 1))
    assert isinstance(parse(line[:cut]), Noise)


@given(IDS, st.text(), JSON)
def test_a_request_survives_the_journey(id_: int | str, method: str, params: object) -> None:
    message = parse(encode_request(id_, method, params))
    assert isinstance(message, Request)
    assert (message.id, message.method, message.params) == (id_, method, params)


@given(st.text(), JSON)
def test_a_notification_survives_the_journey(method: str, params: object) -> None:
    message = parse(encode_notification(method, params))
    assert isinstance(message, Notification)
    assert (message.method, message.params) == (method, params)


@given(IDS, JSON)
def test_a_result_survives_the_journey(id_: int | str, result: object) -> None:
    message = parse(encode_result(id_, result))
    assert isinstance(message, Result)
    assert (message.id, message.result) == (id_, result)


@given(IDS | st.none(), st.integers(), st.text(), JSON)
def test_an_error_survives_the_journey(id_: int | str | None, code: int, text: str, data: object) -> None:
    message = parse(encode_error(id_, code, text, data))
    assert isinstance(message, ErrorReply)
    assert (message.id, message.code, message.message, message.data) == (id_, code, text, data)


def test_what_orjson_refuses_is_encoded_all_the_same() -> None:
    deep: object = 1
    for _ in range(500):
        deep = [deep]
    for params in ({"n": 2**80}, {"text": "\ud800"}, {"deep": deep}):
        assert json.loads(encode_request(1, "m", params))["params"] == params


def test_no_encoded_message_holds_a_line_end() -> None:
    assert b"\n" not in encode_request(1, "m", {"a": "x\ny\r\n", "b": "\ud800\n"})


@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_what_json_cannot_say_is_our_mistake(value: float) -> None:
    with pytest.raises((ValueError, TypeError)):
        encode_request(1, "m", {"big": 2**80, "value": value})


@pytest.mark.parametrize(
    ("line", "kind", "reply_to"),
    [
        (b"", "empty", None),
        (b" \t\r", "empty", None),
        (b"Starting server...", "not_json", None),
        (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"result":{}}', "not_json", None),
        (b'{"jsonrpc":"2.0","id":1,"result":{"x":NaN}}', "not_json", 1),
        (b'{"jsonrpc":"2.0","id":1,"result":"\\ud800"}', "not_json", 1),
        (b'{"jsonrpc":"2.0","id":"a","result":{"x":', "not_json", "a"),
        (b'{"result":{"x":],"jsonrpc":"2.0","id":9}', "not_json", 9),
        (b'{"jsonrpc":"2.0","id":1,"result":{}}{"jsonrpc":"2.0","id":2,"result":{}}', "not_json", 1),
        (b'{"jsonrpc":"2.0","id":"\xff","result":{}}', "not_utf8", "\ufffd"),
        (b'[{"jsonrpc":"2.0","id":1,"result":{}}]', "batch", None),
        (b"7", "not_an_object", None),
        (b'"text"', "not_an_object", None),
        (b"null", "not_an_object", None),
        (b"{}", "no_version", None),
        (b'{"id":1,"result":{}}', "no_version", 1),
        (b'{"jsonrpc":2.0,"id":1,"result":{}}', "no_version", 1),
        (b'{"jsonrpc":"1.0","id":1,"method":"m"}', "no_version", None),
        (b'{"jsonrpc":"2.0","id":1}', "no_shape", 1),
        (b'{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"m"}}', "ambiguous", 1),
        (b'{"jsonrpc":"2.0","id":1,"result":{},"error":null}', "ambiguous", 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","result":{}}', "ambiguous", None),
        (b'{"jsonrpc":"2.0","id":null,"method":"m"}', "bad_id", None),
        (b'{"jsonrpc":"2.0","id":null,"result":{}}', "bad_id", None),
        (b'{"jsonrpc":"2.0","result":{}}', "bad_id", None),
        (b'{"jsonrpc":"2.0","id":1.0,"result":{}}', "bad_id", 1),
        (b'{"jsonrpc":"2.0","id":1.5,"result":{}}', "bad_id", None),
        (b'{"jsonrpc":"2.0","id":true,"result":{}}', "bad_id", None),
        (b'{"jsonrpc":"2.0","id":[1],"result":{}}', "bad_id", None),
        (b'{"jsonrpc":"2.0","id":1,"method":7}', "bad_method", None),
        (b'{"jsonrpc":"2.0","id":1,"error":"broken"}', "bad_error", 1),
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":"m"}}', "bad_error", 1),
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":1}}', "bad_error", 1),
        (b"[" * 100_000, "too_deep", None),
        (b'{"jsonrpc":"2.0","id":3,"result":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "too_deep", 3),
        (b'{"result":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b',"jsonrpc":"2.0","id":4}', "too_deep", 4),
    ],
)
def test_noise_says_what_is_wrong_and_whose_answer_it_was(line: bytes, kind: str, reply_to: int | str | None) -> None:
    message = parse(line)
    assert isinstance(message, Noise)
    assert (message.kind, message.reply_to) == (kind, reply_to)
    assert message.reason


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b'"\xff"', "not UTF-8: invalid start byte at byte 0"),
        (b"1e999", "Number out of range"),
    ],
)
def test_a_payload_that_is_no_json_value_is_a_fault(body: bytes, reason: str) -> None:
    message = parse(b'{"jsonrpc":"2.0","id":1,"result":' + body + b"}")
    assert isinstance(message, Result)
    assert message.result == InvalidJson(reason)


def test_a_payload_is_decoded_once() -> None:
    message = parse(b'{"jsonrpc":"2.0","id":1,"result":{"a":[1]}}')
    assert isinstance(message, Result)
    assert message.result is message.result


def test_of_a_key_given_twice_the_last_counts() -> None:
    message = parse(b'{"jsonrpc":"2.0","id":1,"id":2,"result":1,"result":2}')
    assert isinstance(message, Result)
    assert (message.id, message.result) == (2, 2)


def test_integers_of_any_size_keep_their_value() -> None:
    message = parse(b'{"jsonrpc":"2.0","id":1,"result":123456789012345678901234567890}')
    assert isinstance(message, Result)
    assert message.result == 123456789012345678901234567890


def test_unknown_members_of_the_envelope_stay_in_the_raw_bytes() -> None:
    line = b'{"jsonrpc":"2.0","id":1,"result":{},"x":1}'
    message = parse(line)
    assert isinstance(message, Result)
    assert message.raw == line


@given(st.binary(max_size=64))
def test_bytes_around_the_id_never_mislead_it(junk: bytes) -> None:
    """Whatever follows a leading envelope, the id that is recovered is the one in the message."""
    message = parse(b'{"jsonrpc":"2.0","id":12,"result":' + junk)
    if isinstance(message, Noise):
        assert message.reply_to in (12, None)
    else:
        assert isinstance(message, Result)


@given(ALMOST)
def test_an_answer_that_is_decoded_at_once_says_the_same(value: dict[str, object]) -> None:
    line = json.dumps(value).encode()
    assert told(parse_answer(line)) == told(parse(line))


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b'{"jsonrpc":"2.0","id":1,"result":{"a":[1,null]}}',
        b'{"jsonrpc":"2.0","id":"1","result":null,"params":[1]}',
        b'{"jsonrpc":"2.0","id":1,"result":{},"error":null}',
        b'{"jsonrpc":"2.0","id":1,"result":{},"method":null}',
        b'{"jsonrpc":"2.0","id":true,"result":1}',
        b'{"jsonrpc":"2.0","id":1,"result":1e999}',
        b'{"jsonrpc":"2.0","id":1,"result":1e999,"result":2}',
        b'{"jsonrpc":"2.0","id":null,"id":1,"id":2,"result":1,"result":{"a":2}}',
        b'{"jsonrpc":"2.0","id":1,"result":"\xff"}',
        b'{"jsonrpc":"2.0","id":1,"result":"\\ud800"}',
        b'{"jsonrpc":"2.0","id":1,"result":123456789012345678901234567890}',
        b'{"jsonrpc":"2.0","id":3,"result":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'[{"jsonrpc":"2.0","id":1,"result":{}}]',
    ],
)
def test_an_odd_answer_that_is_decoded_at_once_says_the_same(line: bytes) -> None:
    assert told(parse_answer(line)) == told(parse(line))


def test_an_answer_that_is_decoded_at_once_has_its_value() -> None:
    message = parse_answer(b'{"jsonrpc":"2.0","id":1,"result":{"a":[1]}}')
    assert isinstance(message, Result)
    assert message.value == {"a": [1]}
    assert message.result is message.value
