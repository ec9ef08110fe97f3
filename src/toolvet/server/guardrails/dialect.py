"""The words of each product, as data: its body ↔ what is judged, our verdict ↔ its answer.

{"input_type": "response", "tool_calls": […]}   → `GuardrailMoment("response")`, calls at `tool_calls`
("refuse", {"$text": "…"})                      → {"action": "BLOCKED", "blocked_reason": "…"}

A file of `dialects/` says what one product sends and reads, and from which version that was read. Its `fields` become
the type of the body, so that a wrong field is named, also in the OpenAPI document; further fields are let be.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final, Literal, TypeAlias

import msgspec

from toolvet.core.discover import read_toml
from toolvet.core.json_value import is_array, is_object, members
from toolvet.server.access.gate import KeyForm

Product: TypeAlias = Literal["litellm", "claude", "agentgateway", "docker"]
PRODUCTS: Final[tuple[Product, ...]] = ("litellm", "claude", "agentgateway", "docker")
_TYPES: Final[Mapping[str, Any]] = {
    "text": str,
    "object": dict[str, Any],
    "objects": list[dict[str, Any]],
    "texts": list[str],
    "flag": bool,
    "any": Any,
}


class GuardrailMoment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One question of a product: which route and which members tell it, and where in the body each thing is.

    `calls` are calls to be made, each with its name and arguments at `name` and `arguments`; `rows` are messages of
    which those of a tool are results; `result` says that the body is one, `answer` is the text or texts of an answer.
    `conversation` is the id under which `tools` and `messages` are kept for the next moment. One of `one_of` must be
    there. `whole` is true if the sender states that messages have all calls of their conversation.
    """

    path: str
    fields: dict[str, Any]
    when: dict[str, str] = {}
    one_of: tuple[str, ...] = ()
    conversation: str = ""
    tools: str = ""
    messages: str = ""
    calls: tuple[str, ...] = ()
    name: str = ""
    arguments: str = ""
    rows: str = ""
    result: bool = False
    answer: str = ""
    whole: str = ""


class GuardrailProof(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An example that is a test: `given` is sent to `path` after `earlier`, and the answer has `says` in it.

    `tools` are declared before. Without `says` the answer is the one that lets everything pass.
    """

    path: str
    given: str
    says: str = ""
    earlier: tuple[str, ...] = ()
    tools: str = ""


class GuardrailDialect(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one product sends and reads, as a file of `dialects/` says.

    `keys` are the ways in which it can send a key, beside `Authorization: Bearer`. `hook` is the client whose table of
    `toolvet.agents.hook` has the words. `answers` has the form of each answer, `refused` that of our own failures where
    the product would take any body for an answer.
    """

    product: str
    read_from: str
    if_unreachable: str
    sends_key: str
    notes: tuple[str, ...]
    moments: dict[str, GuardrailMoment]
    keys: tuple[KeyForm, ...] = ()
    untyped: bool = False
    hook: str = ""
    answers: dict[str, Any] = {}
    refused: dict[str, Any] = {}
    hits: tuple[GuardrailProof, ...] = ()
    misses: tuple[GuardrailProof, ...] = ()


@cache
def guardrail_dialect(product: Product) -> GuardrailDialect:
    """Return the words of a product."""
    return read_toml("toolvet.server.guardrails", f"dialects/{product}.toml", GuardrailDialect)


def moments_by_path(dialect: GuardrailDialect) -> dict[str, list[str]]:
    """Return the names of the moments of each route."""
    found: dict[str, list[str]] = {}
    for name, moment in dialect.moments.items():
        found.setdefault(moment.path, []).append(name)
    return found


def body_type(product: Product, path: str) -> type[msgspec.Struct]:
    """Return the type of the bodies of a route: all fields of its moments."""
    dialect = guardrail_dialect(product)
    by_path = moments_by_path(dialect)
    words: dict[str, Any] = {}
    for name in by_path[path]:
        words |= dialect.moments[name].fields
    last = path.rpartition("/")[2].capitalize() if len(by_path) > 1 else ""
    return _struct(f"{product.capitalize()}{last}Body", msgspec.json.encode(words))


@cache
def _struct(title: str, encoded: bytes) -> type[msgspec.Struct]:
    words: dict[str, Any] = msgspec.json.decode(encoded)
    required: list[tuple[str, Any]] = []
    optional: list[tuple[str, Any, Any]] = []
    for name, word in words.items():
        bare = name.removesuffix("?")
        kind: Any
        if is_object(word):
            kind = _struct(f"{title}{bare.capitalize()}", msgspec.json.encode(word))
        elif "|" in word:
            kind = Literal[tuple(word.split("|"))]
        else:
            kind = _TYPES[word]
        if bare != name:
            optional.append((bare, kind | None if kind is not Any else Any, None))
        else:
            required.append((bare, kind))
    return msgspec.defstruct(title, [*required, *optional], frozen=True, kw_only=True, module=__name__)


def found_at(given: object, path: str) -> object:
    """Return what is at a path such as `body.messages`; None what is not there."""
    if not path:
        return None
    value: object = given
    for key in path.split("."):
        value = members(value).get(key)
    return value


def filled(form: object, values: Mapping[str, object]) -> object:
    """Return the form of an answer with its `$names` replaced."""
    if is_object(form):
        return {name: filled(inner, values) for name, inner in form.items()}
    if is_array(form):
        return [filled(inner, values) for inner in form]
    return values.get(form, form) if isinstance(form, str) else form
