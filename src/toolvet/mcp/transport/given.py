"""The secrets that the user gave for a server: they are known, so they are masked wherever the server repeats them."""

import re
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from toolvet.mcp.transport.target import MASK, SAFE_HEADERS, HttpTarget, Target, looks_secret, mask_args, mask_url

_SHORTEST: Final = 4  # Characters of a value whose variable is named like a secret.
_SHORTEST_UNNAMED: Final = 8  # … and of any other value: shorter ones are words and numbers that occur by chance.
# A path, a number or plain words: `production`, `en_US.UTF-8`, `/data/shop.db`.
_HARMLESS: Final = re.compile(r"[A-Za-z_.-]*(?:UTF-8)?|[\d.:,-]+|[A-Za-z]:\\.*|.*/.*", re.DOTALL)


def given_secrets(target: Target) -> Iterator[str]:
    """Yield the values that the user gave with --env or --header, in a URL or on the server's command line."""
    if isinstance(target, HttpTarget):
        for name, value in (target.headers or {}).items():
            if name.lower() not in SAFE_HEADERS:
                yield from (word for word in (value, value.rpartition(" ")[2]) if len(word) >= _SHORTEST_UNNAMED)
        yield from _of_url(target.url)
        return
    yield from secret_variables(target.env or {})
    for arg, shown in zip(target.args, mask_args(target.args), strict=True):
        if arg != shown:
            yield from _of_argument(arg, shown)


def secret_variables(variables: Mapping[str, str]) -> Iterator[str]:
    """Yield the values of variables that are secret by their name or by their look."""
    for name, value in variables.items():
        if looks_secret(name):
            if len(value) >= _SHORTEST:
                yield value
        elif mask_url(value) != value:
            # A URL with a password: the password alone may be echoed, too.
            yield value
            yield from _of_url(value)
        elif len(value) >= _SHORTEST_UNNAMED and not _HARMLESS.fullmatch(value):
            yield value


def _of_argument(arg: str, shown: str) -> Iterator[str]:
    value = arg
    if shown.endswith(MASK) and arg.startswith(shown.removesuffix(MASK)):
        value = arg[len(shown) - len(MASK) :]
    if len(value) >= _SHORTEST:
        yield value
    if "://" in value:
        yield from _of_url(value[max(0, value.rfind("=", 0, value.find("://")) + 1) :])


def _of_url(url: str) -> Iterator[str]:
    """Yield the password of a URL and the values of its secret parameters, as written and as meant."""
    try:
        parts = urlsplit(url)
        fields = parse_qsl(parts.query)
    except ValueError:
        return
    password = parts.netloc.rpartition("@")[0].rpartition(":")[2]
    given = [password, *(value for name, value in fields if looks_secret(name))]
    yield from dict.fromkeys(word for value in given for word in (value, unquote(value)) if len(word) >= _SHORTEST)
