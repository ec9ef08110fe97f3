"""Redacting: nothing is redacted twice, texts grow by the marks alone, planted secrets are gone."""

import json

from fuzz.draw import Draw
from fuzz.holds import holds, shown

from toolvet.core.json_value import is_endless
from toolvet.core.redact import REDACTED, SecretMask, is_secret_key, redact, redact_text, word_segments

SECRETS = (
    "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "AKIAIOSFODNN7EXAMPLE",
    "xoxb-123456789012-123456789012-abcdefghijklmnopqrstuvwx",
)
AROUND = (" ", "\n", '"', ", ", "; ", "", " (", "=")


def check(draw: Draw) -> None:
    """A text, a text with a secret in it, or a value."""
    match draw.byte() % 4:
        case 0:
            _text(draw.text() if draw.flag() else draw.raw().decode("utf-8", "replace"))
        case 1:
            secret, around = draw.one(SECRETS), draw.one((" ", "\n", '"', ", ", "; "))
            hidden = redact_text(draw.text() + around + secret + around + draw.text())
            holds(secret not in hidden, "a secret is left")
        case 2:
            _value(draw)
        case _:
            _mask(draw)


def _text(text: str) -> None:
    hidden = redact_text(text)
    holds(redact_text(hidden) == hidden, "redacted twice, it is another text")
    grown = len(hidden) - len(text)
    holds(grown <= len(REDACTED) * hidden.count(REDACTED), "a text grew by more than its marks")
    is_secret_key(text)
    word_segments(text)


def _value(draw: Draw) -> None:
    value = draw.value()
    hidden = redact(value)
    holds(shown(redact(hidden)) == shown(hidden), "redacted twice, it is another value")
    named = redact({"password": "swordfish77 and more", "a": [value]})
    holds("swordfish77" not in shown(named), "the value of a secret's name is left")
    if is_endless(value):
        return
    try:
        shape = json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return
    json.dumps(hidden)
    holds(len(json.dumps(hidden)) <= len(shape) * (len(REDACTED) + 2) + 20, "it grew without bound")


def _mask(draw: Draw) -> None:
    secret = draw.one(SECRETS)
    learned = {"token": secret, "a": draw.value()} if draw.flag() else [f"password={secret}", draw.value()]
    mask = SecretMask.learned(learned)
    quotation = draw.text() + draw.one((" ", "\n", '"', ", ")) + secret
    safe = mask.text(quotation)
    holds(secret not in safe, "a known secret is left")
    holds(secret not in repr(mask.value({"a": [quotation]})), "a known secret is left in a value")
    json_free = draw.value()
    mask.value(json_free)
    mask.own(json_free)
    (mask | SecretMask.learned(json_free)).text(draw.text())
