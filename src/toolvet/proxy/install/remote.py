"""An entry for a server at a URL ↔ one that starts `toolvet proxy URL`.

    {"type": "http", "url": U, "headers": {"Authorization": V}}
    {"type": "stdio", "command": "toolvet", "args": [… "--header-env", "Authorization=TOOLVET_HEADER_AUTHORIZATION", U],
     "env": {"TOOLVET_HEADER_AUTHORIZATION": V}}

A header's value stays where it was and becomes a variable: a command line can be read by everybody on the machine, and
what a client puts into `headers` (`${input:key}`) it puts into `env`, too. It is named without a dollar sign, because
clients would look for a variable of that name themselves.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final, Literal, NamedTuple, TypeAlias

from toolvet.proxy.install.edit import Backup, Edit, Path, indent, renamed, without, written
from toolvet.schema.json_value import is_object, members
from toolvet.transport.jsonc import Document
from toolvet.transport.target import mask_url

Obstacle: TypeAlias = Literal["remote", "sign_in", "secret"]

# Most clients | Windsurf | Gemini, where `url` is the transport of 2024-11-05.
_URLS: Final = ("url", "serverUrl", "httpUrl")
_TYPES: Final = ("type", "transport")
_STREAMABLE: Final = frozenset({"http", "streamable-http", "streamableHttp", "streamable_http"})
# How clients are told to sign in.
_SIGN_IN: Final = ("oauth", "auth", "authProviderType")
_LOOPBACK: Final = re.compile(r"https?://(localhost|127\.[0-9.]+|\[::1\])([:/?]|\Z)", re.IGNORECASE)
_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")


class Where(NamedTuple):
    """An entry's place in its file."""

    text: str
    document: Document
    path: Path


class Remote(NamedTuple):
    """A server behind toolvet: its URL, and for each variable the header that has its value."""

    url: str
    headers: Mapping[str, str]


def is_remote(entry: Mapping[str, object]) -> bool:
    """Whether this is a server at a URL, reached without us."""
    return "command" not in entry and any(isinstance(entry.get(key), str) for key in _URLS)


def obstacle(entry: Mapping[str, object], *, chosen: Literal["by name", "with all"]) -> Obstacle | None:
    """Why a server at a URL stays as it is; None where it can be put behind toolvet.

    `remote`: it speaks the transport of 2024-11-05, or its entry is unlike those we know. `sign_in`: it has no
    credentials, so the client may have to ask its user, which it cannot do for a command; who names it knows better.
    `secret`: its URL holds one, or a variable, and would stand on a command line.
    """
    url = str(entry[_url_key(entry)])
    headers = members(entry.get("headers", {}))
    kinds = [entry[key] for key in _TYPES if key in entry]
    known = (
        is_object(entry.get("headers", {}))
        and all(kind in _STREAMABLE for kind in kinds if isinstance(kind, str))
        and all(map(_is_text, kinds))
    )
    legal = all(_TOKEN.fullmatch(name) and _is_text(value) for name, value in headers.items())
    if not known or not legal or "env" in entry or "args" in entry or not url.startswith(("http://", "https://")):
        return "remote"
    if not kinds and url.partition("?")[0].rstrip("/").endswith("/sse"):
        return "remote"
    if "$" in url or mask_url(url) != url:
        return "secret"
    signs_in = any(key in entry for key in _SIGN_IN) or (not headers and not _LOOPBACK.match(url))
    return "sign_in" if signs_in and chosen == "with all" else None


def wrapped(where: Where, entry: Mapping[str, object], command: str, args: Sequence[object]) -> list[Edit]:
    """The entry that starts this server through toolvet. `args` are the words before those of the server."""
    text, document, path = where
    key = _url_key(entry)
    variables = _variables(list(members(entry.get("headers", {}))))
    words = [*args]
    for header, variable in variables.items():
        words += ["--header-env", f"{header}={variable}"]
    words.append(entry[key])
    start, end = document.spans[*path, key]
    new_line = indent(text, document, (*path, key))
    edits = [
        renamed(text, document, (*path, key), '"command"'),
        Edit(start, end, written(command)),
        Edit(end, end, f",{new_line}{written('args')}: {written(words)}"),
    ]
    edits += [Edit(*document.spans[*path, kind], '"stdio"') for kind in _TYPES if kind in entry]
    if variables:
        edits.append(renamed(text, document, (*path, "headers"), '"env"'))
    edits += [renamed(text, document, (*path, "headers", header), written(name)) for header, name in variables.items()]
    return edits


def inner_remote(words: Sequence[object]) -> Remote | None:
    """The server that these words of `toolvet` stand before; None where they stand before a command, or are others."""
    if words[:1] != ["proxy"] or "--" in words:
        return None
    url = words[-1]
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        return None
    told = [word for option, word in pairwise(words) if option == "--header-env"]
    named = [str(word).partition("=") for word in told]
    return Remote(url, {variable: header for header, _, variable in named})


def unwrapped(where: Where, entry: Mapping[str, object], remote: Remote, backup: Backup) -> list[Edit]:
    """The entry as it was; where the backup does not tell, as most clients write it."""
    text, document, path = where
    before = members(backup.value_of(*path))
    key = next((key for key in _URLS if key in before), "url")
    start, end = document.spans[*path, "command"]
    was = backup.text_of(*path, key) if before.get(key) == remote.url else None
    edits = [
        renamed(text, document, (*path, "command"), backup.key_of(*path, key) or written(key)),
        Edit(start, end, was if was is not None else written(remote.url)),
        without(text, document, (*path, "args"), end, "[]"),
    ]
    edits += [
        Edit(*document.spans[*path, kind], backup.text_of(*path, kind) or '"http"')
        for kind in _TYPES
        if entry.get(kind) == "stdio"
    ]
    variables = members(entry.get("env"))
    if remote.headers and variables:
        edits.append(renamed(text, document, (*path, "env"), backup.key_of(*path, "headers") or '"headers"'))
        for variable in variables:
            header = remote.headers.get(variable)
            if header is not None:
                token = backup.key_of(*path, "headers", header) or written(header)
                edits.append(renamed(text, document, (*path, "env", variable), token))
    return edits


def _url_key(entry: Mapping[str, object]) -> str:
    return next(key for key in _URLS if isinstance(entry.get(key), str))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _variables(headers: Sequence[str]) -> dict[str, str]:
    """A variable for each header; two that differ in signs only get different ones."""
    found: dict[str, str] = {}
    for header in headers:
        name = "TOOLVET_HEADER_" + re.sub(r"[^A-Z0-9]", "_", header.upper())
        taken = set(found.values())
        number = 2
        variable = name
        while variable in taken:
            variable = f"{name}_{number}"
            number += 1
        found[header] = variable
    return found
