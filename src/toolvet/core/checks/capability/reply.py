"""The reply of a validator to one call: its messages and corrections, how to read it, and a cache of replies.

A reply comes as JSON, as a mapping, or as an object of the official SDK or of FastMCP.
"""

import json
import re
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Final, Generic, Literal, TypeVar, cast

import msgspec

from toolvet.core.json_value import elements, is_array, is_object, members

MessageSeverity = Literal["error", "warn", "info"]
"""In the words of the Interceptors proposal; the documented lists are `errors`, `warnings`, `suggestions`."""
SEVERITIES: Final[tuple[MessageSeverity, ...]] = ("error", "warn", "info")


class Message(msgspec.Struct, frozen=True):
    """One sentence about a call. `path` is the field that it is about, "" for the whole call."""

    message: str
    severity: MessageSeverity = "error"
    path: str = ""

    def to_dict(self) -> dict[str, object]:
        """The JSON form of the Interceptors proposal."""
        return {"path": self.path, "message": self.message, "severity": self.severity}


class Correction(msgspec.Struct, frozen=True):
    """A value that would be valid at `path`. Offered, never applied."""

    path: str
    value: object

    def to_dict(self) -> dict[str, object]:
        """The JSON form of the Interceptors proposal, where corrections are called suggestions."""
        return {"path": self.path, "value": self.value}


class ValidationReply(msgspec.Struct, frozen=True, kw_only=True):
    """The reply to one call.

    The `errors`, `warnings` and `suggestions` of the documented form are the messages of the three severities, so both
    forms have the same content.
    """

    valid: bool
    messages: tuple[Message, ...] = ()
    corrections: tuple[Correction, ...] = ()

    @property
    def errors(self) -> tuple[str, ...]:
        """Why the call must not be made."""
        return self._texts("error")

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before the call is made."""
        return self._texts("warn")

    @property
    def suggestions(self) -> tuple[str, ...]:
        """What would improve the call."""
        return self._texts("info")

    @property
    def severity(self) -> MessageSeverity:
        """The highest severity of the messages; `info` for a valid call without messages."""
        if not self.valid:
            return "error"
        for severity in SEVERITIES:
            if self._texts(severity):
                return severity
        return "info"

    def to_dict(self) -> dict[str, object]:
        """The JSON form: the documented reply (`valid`, `errors`, …), with severities, places and corrections."""
        return {
            "valid": self.valid,
            "errors": list(self.errors),
            "warnings": list(self.warnings),
            "suggestions": list(self.suggestions),
            "severity": self.severity,
            "messages": [each.to_dict() for each in self.messages],
            "corrections": [correction.to_dict() for correction in self.corrections],
        }

    def to_interceptor_result(self) -> dict[str, object]:
        """The result of a validation interceptor (SEP-2624), without empty members; `suggestions` are corrections."""
        messages = [{key: value for key, value in each.to_dict().items() if value} for each in self.messages]
        form = {
            "severity": self.severity if messages or not self.valid else "",
            "messages": messages,
            "suggestions": [correction.to_dict() for correction in self.corrections],
        }
        return {"valid": self.valid, **{key: value for key, value in form.items() if value}}

    def _texts(self, severity: MessageSeverity) -> tuple[str, ...]:
        return tuple(each.message for each in self.messages if each.severity == severity)


_FENCED: Final = re.compile(r"```[\w+-]*[ \t]*\r?\n(.*?)```", re.DOTALL)
_LISTS: Final[tuple[tuple[str, MessageSeverity], ...]] = (
    ("errors", "error"),
    ("warnings", "warn"),
    ("suggestions", "info"),
)
_MOST_SHOWN: Final = 120


def parse_reply(result: object) -> ValidationReply | str:
    """The reply to one call. Total.

    Args:
        result: the tool result: a mapping, text, or an object of the official SDK or FastMCP.

    Returns:
        The reply, in which `valid: true` beside errors is not valid. A sentence for a result in no documented form, and
        for one that reports that the validator failed.

    Example:
        >>> parse_reply({"structuredContent": {"valid": False, "errors": ["No seats are left."]}}).errors
        ('No seats are left.',)
    """
    body = _body(result)
    return body if isinstance(body, str) else _read_reply(body)


def parse_replies(result: object, count: int) -> tuple[ValidationReply | str, ...] | str:
    """The replies to a batch of calls, in their order: the `results` of the body. Total.

    Args:
        result: the tool result, as for `parse_reply`.
        count: the number of calls in the batch.

    Returns:
        The replies, with a sentence in place of each that cannot be read. One sentence where the body does not have
        exactly `count` results.

    Example:
        >>> parse_replies({"structuredContent": {"results": [{"valid": True}]}}, 2)
        'The reply to a batch of 2 calls has 1 results.'
    """
    body = _body(result)
    if isinstance(body, str):
        return body
    results = body.get("results")
    if not is_array(results):
        return "The reply to a batch has no list 'results'."
    if len(results) != count:
        return f"The reply to a batch of {count} calls has {len(results)} results."
    return tuple(_read_reply(one) if is_object(one) else "A result of the batch is not an object." for one in results)


def _body(result: object) -> Mapping[str, object] | str:
    """The JSON object in the result, or a sentence."""
    try:
        return _unwrap(as_json(result))
    except Exception as problem:  # noqa: BLE001 - reading foreign objects runs foreign code.
        return f"The validator's result could not be read ({type(problem).__name__})."


def _unwrap(result: object) -> Mapping[str, object] | str:
    if isinstance(result, str):
        return _decode(result) or f"The validator answered with text that holds no JSON reply: {_quote(result)}"
    if is_array(result):
        result = {"content": result}
    if not is_object(result):
        return f"The validator answered with {type(result).__name__}, not with a tool result."
    if "valid" in result or "results" in result:
        return result
    body = _find_body(result)
    failed = result.get("isError") is True or result.get("success") is False
    # A failed call may contain a verdict that the arguments are invalid, but not that they are valid.
    if failed and (isinstance(body, str) or body.get("valid") is not False):
        content, error = result.get("content"), result.get("error")
        said = content if isinstance(content, str) else " ".join(_texts(content)) or error
        return f"The validator itself failed: {_quote(said if said and isinstance(said, str) else 'no text')}"
    return body


def _find_body(result: Mapping[str, object]) -> Mapping[str, object] | str:
    structured, content = result.get("structuredContent"), result.get("content")
    if is_object(structured):
        # Frameworks wrap other values than objects, such as the JSON text of a reply.
        wrapped = structured.get("result") if len(structured) == 1 else None
        found = _decode(wrapped) if isinstance(wrapped, str) else wrapped
        return found if is_object(found) else structured
    if is_object(content):
        return content
    texts = [content] if isinstance(content, str) else _texts(content)
    if not texts:
        return "The validator's result has neither structuredContent nor text."
    found = next((body for body in map(_decode, (*texts, "".join(texts))) if body is not None), None)
    return found or f"The validator answered with text that holds no JSON reply: {_quote(texts[0])}"


def _texts(content: object) -> list[str]:
    blocks = [members(block) for block in items_as_json(content)]
    return [text for block in blocks if isinstance(text := block.get("text"), str)]


def _decode(text: str) -> Mapping[str, object] | None:
    """The JSON object in the text, or in its only fence; None without one."""
    fences = cast("list[str]", _FENCED.findall(text)) if "```" in text else []
    for source in (text, *(fences if len(fences) == 1 else ())):
        try:
            found: object = msgspec.json.decode(source)
        except (msgspec.DecodeError, ValueError, RecursionError):
            continue
        if is_object(found):
            return found
    return None


def _read_reply(body: Mapping[str, object]) -> ValidationReply | str:
    valid = body.get("valid")
    if not isinstance(valid, bool):
        why = "without 'valid'" if "valid" not in body else f"whose 'valid' is {_cut(_json(valid))}"
        return f"The validator sent a reply {why}; it must be true or false."
    messages: list[Message] = []
    corrections: list[Correction] = []
    for problem in (_add_lists(body, messages, corrections), _add_messages(body, messages)):
        if problem:
            return problem
    corrections += [found for item in elements(body.get("corrections")) if (found := _correction(item)) is not None]
    refused = any(message.severity == "error" for message in messages)
    return ValidationReply(valid=valid and not refused, messages=tuple(messages), corrections=tuple(corrections))


def _add_lists(body: Mapping[str, object], messages: list[Message], corrections: list[Correction]) -> str:
    """Add the documented lists, or return a sentence about one that cannot be read.

    `suggestions` may hold the corrections of the Interceptors proposal instead of sentences.
    """
    for name, severity in _LISTS:
        items = body.get(name)
        if items is None:
            continue
        if not is_array(items):
            return f"The validator sent '{name}' that is not a list: {_quote(items)}"
        for item in items:
            correction = _correction(item) if severity == "info" else None
            message = Message(item, severity) if isinstance(item, str) else _message(item, severity)
            if correction is not None:
                corrections.append(correction)
            elif message is not None:
                messages.append(message)
            else:
                return f"The validator sent '{name}' with something that is not a sentence: {_quote(item)}"
    return ""


def _add_messages(body: Mapping[str, object], messages: list[Message]) -> str:
    """Add the messages of the Interceptors proposal, which may repeat sentences of the lists with their places.

    Returns a sentence about messages that cannot be read.
    """
    items = body.get("messages")
    if items is None:
        return ""
    if not is_array(items):
        return f"The validator sent 'messages' that is not a list: {_quote(items)}"
    detailed: list[Message] = []
    for item in items:
        name = members(item).get("severity")
        severity = SEVERITIES[SEVERITIES.index(name)] if name in SEVERITIES else None
        message = _message(item, severity) if severity is not None else None
        if message is None:
            return f"The validator sent 'messages' with something that is not a message: {_quote(item)}"
        detailed.append(message)
    # The detailed messages in their order, then the listed ones that are not among them.
    known = {(each.severity, each.message) for each in detailed}
    messages[:] = [*detailed, *(each for each in messages if (each.severity, each.message) not in known)]
    return ""


def _message(item: object, severity: MessageSeverity) -> Message | None:
    found = members(item)
    text, path = found.get("message"), found.get("path", found.get("field"))
    return Message(text, severity, path if isinstance(path, str) else "") if isinstance(text, str) else None


def _correction(item: object) -> Correction | None:
    found = members(item)
    path = found.get("path")
    return Correction(path, found["value"]) if isinstance(path, str) and "value" in found else None


def _quote(value: object) -> str:
    """A foreign value in short, for a sentence."""
    return _cut(value if isinstance(value, str) else _json(value))


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


def _json(value: object) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except Exception:  # noqa: BLE001 - a foreign value may hold anything.
        return type(value).__name__


K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

MOST_ENTRIES: Final = 1024


class Cache(Generic[K, V]):
    """Values by key; the least recently used are dropped first.

    `ttl` is in the seconds of `clock`; None keeps a value until `clear`.

    A value that was asked for before a `clear` may arrive after it, and must not be kept then. So take `generation`
    before asking, and give it to `keep`.
    """

    def __init__(self, ttl: float | None, clock: Callable[[], float]) -> None:
        self._ttl = ttl
        self._clock = clock
        self._entries: OrderedDict[K, tuple[float, V]] = OrderedDict()
        self._generation = 0

    @property
    def generation(self) -> int:
        """A number that grows with every `clear`."""
        return self._generation

    def get(self, key: K) -> V | None:
        """The value under `key`, or None for no value or one that is too old."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        kept_at, value = entry
        if self._ttl is not None and self._clock() - kept_at >= self._ttl:
            del self._entries[key]
            return None
        self._entries.move_to_end(key)
        return value

    def keep(self, key: K, value: V, generation: int) -> None:
        """Keep `value`, unless the cache was cleared since `generation`."""
        if generation != self._generation:
            return
        self._entries[key] = (self._clock(), value)
        self._entries.move_to_end(key)
        if len(self._entries) > MOST_ENTRIES:
            self._entries.popitem(last=False)

    def clear(self, matches: Callable[[K], bool] | None = None) -> int:
        """Drop the values whose keys match, or all, also values on their way. Returns how many were dropped."""
        self._generation += 1
        dropped = [key for key in self._entries if matches is None or matches(key)]
        for key in dropped:
            del self._entries[key]
        return len(dropped)


def json_key(*parts: object) -> str | None:
    """A key for these JSON values; None if one of them has no JSON form."""
    try:
        return json.dumps(parts, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return None


# The members of a tool result in their usual order, each with the name of the attribute in Python.
_ATTRIBUTES: Final = (
    ("content", "content"),
    ("structuredContent", "structured_content"),
    ("isError", "is_error"),
)


def as_json(value: object) -> object:
    """Return `value` as JSON. Passes on any exception that a foreign object raises when its attributes are read."""
    if isinstance(value, Mapping):
        return dict(cast("Mapping[object, object]", value))
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(by_alias=True, exclude_none=True, mode="json")
    if hasattr(value, "content") and not isinstance(value, str):
        found = {wire: getattr(value, wire, getattr(value, name, None)) for wire, name in _ATTRIBUTES}
        return {key: member for key, member in found.items() if member is not None}
    return value


def items_as_json(value: object) -> list[object]:
    """The items of a list or tuple as JSON; empty for any other value."""
    return [as_json(item) for item in cast("list[object]", value)] if isinstance(value, list | tuple) else []
