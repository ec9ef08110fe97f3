"""The result of a `validate` tool, read in every documented form; any other form is a sentence that says why not.

Documented are: `structuredContent`; JSON in a text block, in a string, in a fence; `{"success": …, "content": …}`;
and the reply itself. What is not one of these must not pass for "valid", so nothing is guessed.
"""

import re
from collections.abc import Mapping, Sequence
from typing import cast

import msgspec

from toolvet.checks.capability.foreign_json import plain, plain_items
from toolvet.checks.capability.reply import SEVERITIES, Correction, Message, MessageSeverity, ValidationReply
from toolvet.schema.json_value import elements, is_array, is_object, members

_FENCED = re.compile(r"```[\w+-]*[ \t]*\r?\n(.*?)```", re.DOTALL)
_LISTS: tuple[tuple[str, MessageSeverity], ...] = (("errors", "error"), ("warnings", "warn"), ("suggestions", "info"))
_MOST_SHOWN = 120


def parse_reply(result: object) -> ValidationReply | str:
    """The reply to one call in a tool result: a mapping, text, or an object of the official SDK or FastMCP.

    A sentence when the result is not in a documented form, or reports that the validator failed: then nothing is known
    of the call. `valid: true` beside errors is not valid. Total.
    """
    body = _body(result)
    return body if isinstance(body, str) else _read(body)


def parse_replies(result: object, count: int) -> tuple[ValidationReply | str, ...] | str:
    """The replies to a batch of `count` calls, in their order: the `results` of the body.

    One that cannot be read is a sentence in its place; a body without exactly `count` of them is a sentence. Total.
    """
    body = _body(result)
    if isinstance(body, str):
        return body
    results = body.get("results")
    if not is_array(results):
        return "The reply to a batch has no list 'results'."
    if len(results) != count:
        return f"The reply to a batch of {count} calls has {len(results)} results."
    return tuple(_read(item) if is_object(item) else "A result of the batch is no object." for item in results)


def _body(result: object) -> Mapping[str, object] | str:
    """The JSON object that the result carries."""
    try:
        return _opened(plain(result))
    except Exception as problem:  # noqa: BLE001 - foreign objects run foreign code when they are looked at.
        return f"The validator's result could not be read ({type(problem).__name__})."


def _opened(result: object) -> Mapping[str, object] | str:
    if isinstance(result, str):
        return _decoded(result) or f"The validator answered with text that holds no JSON reply: {_shown(result)}"
    if is_array(result):
        result = {"content": result}
    if not is_object(result):
        return f"The validator answered with {type(result).__name__}, not with a tool result."
    if "valid" in result or "results" in result:
        return result
    body = _carried(result)
    failed = result.get("isError") is True or result.get("success") is False
    # A failed call may still carry a verdict against the arguments; a verdict for them it cannot carry.
    if failed and (isinstance(body, str) or body.get("valid") is not False):
        return f"The validator itself failed: {_shown(_text(result) or 'no text')}"
    return body


def _carried(result: Mapping[str, object]) -> Mapping[str, object] | str:
    structured, content = result.get("structuredContent"), result.get("content")
    if is_object(structured):
        # Frameworks wrap what is no object, such as the JSON text of a reply.
        wrapped = structured.get("result") if len(structured) == 1 else None
        found = _decoded(wrapped) if isinstance(wrapped, str) else wrapped
        return found if is_object(found) else structured
    if is_object(content):
        return content
    texts = [content] if isinstance(content, str) else _texts(content)
    if not texts:
        return "The validator's result has neither structuredContent nor text."
    found = next((body for body in map(_decoded, (*texts, "".join(texts))) if body is not None), None)
    return found or f"The validator answered with text that holds no JSON reply: {_shown(texts[0])}"


def _texts(content: object) -> list[str]:
    blocks = [members(block) for block in plain_items(content)]
    return [text for block in blocks if isinstance(text := block.get("text"), str)]


def _text(result: Mapping[str, object]) -> str:
    content = result.get("content")
    error = result.get("error")
    return (
        content if isinstance(content, str) else " ".join(_texts(content)) or (error if isinstance(error, str) else "")
    )


def _decoded(text: str) -> Mapping[str, object] | None:
    """The JSON object that the text is, or that its only fence holds."""
    fences = cast("list[str]", _FENCED.findall(text)) if "```" in text else []
    for source in (text, *(fences if len(fences) == 1 else ())):
        try:
            found: object = msgspec.json.decode(source)
        except (msgspec.DecodeError, ValueError, RecursionError):
            continue
        if is_object(found):
            return found
    return None


def _read(body: Mapping[str, object]) -> ValidationReply | str:
    said = body.get("valid")
    if not isinstance(said, bool):
        why = "without 'valid'" if "valid" not in body else f"whose 'valid' is {_shortened(_json(said))}"
        return f"The validator sent a reply {why}; it must be true or false."
    messages: list[Message] = []
    corrections: list[Correction] = []
    for problem in (_add_lists(body, messages, corrections), _add_messages(body, messages)):
        if problem:
            return problem
    corrections += [found for item in elements(body.get("corrections")) if (found := _correction(item)) is not None]
    refused = any(told.severity == "error" for told in messages)
    return ValidationReply(valid=said and not refused, messages=tuple(messages), corrections=tuple(corrections))


def _add_lists(body: Mapping[str, object], messages: list[Message], corrections: list[Correction]) -> str:
    """The documented lists. `suggestions` may hold the values of the Interceptors proposal instead of sentences."""
    for name, severity in _LISTS:
        items = body.get(name)
        if items is None:
            continue
        if not is_array(items):
            return f"The validator sent '{name}' that is no list: {_shown(items)}"
        for item in items:
            correction = _correction(item) if severity == "info" else None
            told = Message(item, severity) if isinstance(item, str) else _message(item, severity)
            if correction is not None:
                corrections.append(correction)
            elif told is not None:
                messages.append(told)
            else:
                return f"The validator sent '{name}' with something that is no sentence: {_shown(item)}"
    return ""


def _add_messages(body: Mapping[str, object], messages: list[Message]) -> str:
    """The messages of the Interceptors proposal: places for sentences that the lists have already, or new ones."""
    items = body.get("messages")
    if items is None:
        return ""
    if not is_array(items):
        return f"The validator sent 'messages' that is no list: {_shown(items)}"
    detailed: list[Message] = []
    for item in items:
        severity = _severity(members(item).get("severity"))
        told = _message(item, severity) if severity is not None else None
        if told is None:
            return f"The validator sent 'messages' with something that is no message: {_shown(item)}"
        detailed.append(told)
    messages[:] = _merged(messages, detailed)
    return ""


def _merged(listed: Sequence[Message], detailed: Sequence[Message]) -> list[Message]:
    """The detailed ones in their order, then the listed ones that none of them repeats."""
    known = {(told.severity, told.message) for told in detailed}
    return [*detailed, *(told for told in listed if (told.severity, told.message) not in known)]


def _message(item: object, severity: MessageSeverity) -> Message | None:
    found = members(item)
    text, path = found.get("message"), found.get("path", found.get("field"))
    return Message(text, severity, path if isinstance(path, str) else "") if isinstance(text, str) else None


def _severity(name: object) -> MessageSeverity | None:
    return SEVERITIES[SEVERITIES.index(name)] if name in SEVERITIES else None


def _correction(item: object) -> Correction | None:
    found = members(item)
    path = found.get("path")
    return Correction(path, found["value"]) if isinstance(path, str) and "value" in found else None


def _shown(value: object) -> str:
    """A foreign value in short: it stands in a sentence."""
    return _shortened(value if isinstance(value, str) else _json(value))


def _shortened(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


def _json(value: object) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except Exception:  # noqa: BLE001 - a foreign value may hold anything.
        return type(value).__name__
