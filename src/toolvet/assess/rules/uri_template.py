"""URI templates (RFC 6570): their variables, the URIs that they make, and the values that made a URI.

>>> variables("shop://books/{isbn}{?lang}")
('isbn', 'lang')
>>> expand("shop://books/{isbn}{?lang}", {"isbn": "978 0"})
'shop://books/978%200'
>>> extract("shop://books/{isbn}", "shop://books/978-0")
{'isbn': '978-0'}
>>> problems("shop://books/{isbn}/{")
('a brace is not closed',)

Expansion knows all operators for single values; the modifiers of lists and prefixes (`*`, `:3`) change nothing.
"""

import re
from collections.abc import Mapping
from typing import Final

_EXPRESSION: Final = re.compile(r"\{([^{}]*)\}")
_OPERATORS: Final = "+#./;?&"
# RFC 6570, 2.3: letters, digits, "_", dots between them and percent-encoded octets.
_NAME: Final = re.compile(r"(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*")
_MODIFIER: Final = re.compile(r"\*|:[1-9]\d{0,3}")
_RESERVED: Final = ":/?#[]@!$&'()*+,;="
_UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ESCAPES: Final = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_LONGEST: Final = 2_000  # Characters of a template that are read.


def variables(template: str) -> tuple[str, ...]:
    """The names of the variables, each once, in order."""
    found = (name for expression in _EXPRESSION.findall(template[:_LONGEST]) for name in _names(expression))
    return tuple(dict.fromkeys(found))


def problems(template: str) -> tuple[str, ...]:
    """What RFC 6570 does not allow, as the ends of sentences; empty for a legal template."""
    rest = _EXPRESSION.sub("", template[:_LONGEST])
    found: list[str] = []
    if "{" in rest:
        found.append("a brace is not closed")
    elif "}" in rest:
        found.append("a brace is closed that was not opened")
    for expression in _EXPRESSION.findall(template[:_LONGEST]):
        body = expression[1:] if expression[:1] in _OPERATORS and expression else expression
        for part in body.split(","):
            name = _NAME.match(part)
            if not part:
                found.append(f"{{{expression}}} names no variable")
            elif name is None or (name.end() < len(part) and not _MODIFIER.fullmatch(part, name.end())):
                found.append(f"'{part}' is no legal name of a variable")
    return tuple(dict.fromkeys(found))


def expand(template: str, values: Mapping[str, str]) -> str:
    """The URI of a template; variables without a value are left out, as the RFC has it."""
    return _EXPRESSION.sub(lambda found: _expand_one(found[1], values), template)


def extract(template: str, uri: str) -> dict[str, str] | None:
    """The values with which a template makes a URI; None where it makes no such URI.

    A variable ends where the text behind it begins for the first time, so this is linear; a URI that needs a later
    place is missed.
    """
    values: dict[str, str] = {}
    template, uri = template[:_LONGEST], uri[:_LONGEST]
    pieces = _EXPRESSION.split(template)  # text, expression, text, …, text
    if not uri.startswith(pieces[0]):
        return None
    rest = uri[len(pieces[0]) :]
    for expression, text in zip(pieces[1::2], pieces[2::2], strict=True):
        if expression[:1] in {"?", "&"}:
            rest = rest[rest.find("#") :] if "#" in rest else ""
            continue
        end = rest.find(text) if text else len(rest)
        if text and text == pieces[-1] and rest.endswith(text) and expression is pieces[-2]:
            end = len(rest) - len(text)
        if end < 0:
            return None
        value = rest[:end]
        # A variable of the path holds no slash, unless the operator keeps reserved characters.
        if "/" in value and expression[:1] not in {"+", "#", "/"} and not expression.endswith("*"):
            return None
        names = _names(expression)
        if names and value:
            values[names[0]] = decode(value)
        rest = rest[end + len(text) :]
    return None if rest else values


def encode(text: str, safe: str = "") -> str:
    """The text with an escape for every character that is neither unreserved nor `safe` (RFC 3986).

    >>> encode("a b/é")
    'a%20b%2F%C3%A9'
    """
    return "".join(
        char
        if char in _UNRESERVED or char in safe
        else "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))
        for char in text
    )


def decode(text: str) -> str:
    """The text with its escapes read as UTF-8; what is no UTF-8 becomes a replacement character.

    >>> decode("a%20b%C3%A9")
    'a bé'
    """
    return _ESCAPES.sub(lambda found: bytes.fromhex(found[0].replace("%", "")).decode("utf-8", "replace"), text)


def _names(expression: str) -> list[str]:
    body = expression[1:] if expression[:1] and expression[0] in _OPERATORS else expression
    parts = (re.sub(r"(?:\*|:\d{1,4})$", "", part.strip()) for part in body.split(","))
    return [part for part in parts if part]


def _expand_one(expression: str, values: Mapping[str, str]) -> str:
    operator = expression[0] if expression[:1] and expression[0] in _OPERATORS else ""
    safe = _RESERVED if operator in {"+", "#"} else ""
    given = [(name, encode(values[name], safe)) for name in _names(expression) if name in values]
    if not given:
        return ""
    if operator in {"?", "&", ";"}:
        separator = ";" if operator == ";" else "&"
        return operator + separator.join(f"{name}={value}" for name, value in given)
    separator = {"": ",", "+": ",", "#": ",", ".": ".", "/": "/"}[operator]
    prefix = operator if operator in {"#", ".", "/"} else ""
    return prefix + separator.join(value for _, value in given)
