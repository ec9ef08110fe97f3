"""An entry for a server at a URL ↔ one that starts `toolvet proxy URL`.

    {"type": "http", "url": U, "headers": {"Authorization": V}}
    {"type": "stdio", "command": "toolvet", "args": [… "--header-env", "Authorization=TOOLVET_HEADER_AUTHORIZATION", U],
     "env": {"TOOLVET_HEADER_AUTHORIZATION": V}}

A header's value stays where it was and becomes a variable: every user of the machine can read a command line, and
clients replace placeholders (`${input:key}`) in `env` as in `headers`. The variable is named without a dollar sign,
because clients would replace `$NAME` themselves.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final, Literal, NamedTuple, TypeAlias

from toolvet.core.json_value import is_object, members
from toolvet.mcp.transport import mask_url
from toolvet.proxy.install.edit import Backup, Edit, MemberPlace, indent, remove_member, rename_member, write_json

Obstacle: TypeAlias = Literal["remote", "sign_in", "secret"]

# Most clients | Windsurf | Gemini, where `url` is the transport of 2024-11-05.
_URLS: Final = ("url", "serverUrl", "httpUrl")
_TYPES: Final = ("type", "transport")
_STREAMABLE: Final = frozenset({"http", "streamable-http", "streamableHttp", "streamable_http"})
# The members that make a client sign in.
_SIGN_IN: Final = ("oauth", "auth", "authProviderType")
_LOOPBACK: Final = re.compile(r"https?://(localhost|127\.[0-9.]+|\[::1\])([:/?]|\Z)", re.IGNORECASE)
_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")


class RemoteEntry(NamedTuple):
    """A server at a URL behind toolvet: the URL, and the header for each variable."""

    url: str
    headers: Mapping[str, str]


def is_remote(entry: Mapping[str, object]) -> bool:
    """Whether this is a server at a URL that is not behind toolvet."""
    return "command" not in entry and any(isinstance(entry.get(key), str) for key in _URLS)


def obstacle(entry: Mapping[str, object], *, chosen: Literal["by name", "with all"]) -> Obstacle | None:
    """Return why a server at a URL stays as it is; None where it can be put behind toolvet.

    `remote`: it speaks the transport of 2024-11-05, or its entry has an unknown form. `sign_in`: it has no credentials,
    so the client may have to ask its user, which it cannot do for a command; not if the user named this server
    (`chosen`). `secret`: its URL contains a secret or a variable, which would be on a command line.
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


def wrap_remote(place: MemberPlace, entry: Mapping[str, object], command: str, args: Sequence[object]) -> list[Edit]:
    """Return the edits that make an entry start this server through toolvet.

    `command` and `args` are the words up to those of the server.
    """
    key = _url_key(entry)
    variables = _variables(list(members(entry.get("headers", {}))))
    words = [*args]
    for header, variable in variables.items():
        words += ["--header-env", f"{header}={variable}"]
    words.append(entry[key])
    start, end = place.at(key).span
    new_line = indent(place.at(key))
    edits = [
        rename_member(place.at(key), '"command"'),
        Edit(start, end, write_json(command)),
        Edit(end, end, f",{new_line}{write_json('args')}: {write_json(words)}"),
    ]
    edits += [Edit(*place.at(kind).span, '"stdio"') for kind in _TYPES if kind in entry]
    if variables:
        edits.append(rename_member(place.at("headers"), '"env"'))
    edits += [rename_member(place.at("headers", header), write_json(name)) for header, name in variables.items()]
    return edits


def inner_remote(words: Sequence[object]) -> RemoteEntry | None:
    """Return the server at a URL that these arguments of `toolvet` start; None for any other arguments."""
    if words[:1] != ["proxy"] or "--" in words:
        return None
    url = words[-1]
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        return None
    options = [word for option, word in pairwise(words) if option == "--header-env"]
    named = [str(word).partition("=") for word in options]
    return RemoteEntry(url, {variable: header for header, _, variable in named})


def unwrap_remote(place: MemberPlace, entry: Mapping[str, object], remote: RemoteEntry, backup: Backup) -> list[Edit]:
    """Return the edits that restore the entry; where the backup does not help, as most clients write it."""
    path = place.path
    before = members(backup.value_of(*path))
    key = next((key for key in _URLS if key in before), "url")
    start, end = place.at("command").span
    was = backup.text_of(*path, key) if before.get(key) == remote.url else None
    edits = [
        rename_member(place.at("command"), backup.key_of(*path, key) or write_json(key)),
        Edit(start, end, was if was is not None else write_json(remote.url)),
        remove_member(place.at("args"), end, "[]"),
    ]
    edits += [
        Edit(*place.at(kind).span, backup.text_of(*path, kind) or '"http"')
        for kind in _TYPES
        if entry.get(kind) == "stdio"
    ]
    variables = members(entry.get("env"))
    if remote.headers and variables:
        edits.append(rename_member(place.at("env"), backup.key_of(*path, "headers") or '"headers"'))
        for variable in variables:
            header = remote.headers.get(variable)
            if header is not None:
                token = backup.key_of(*path, "headers", header) or write_json(header)
                edits.append(rename_member(place.at("env", variable), token))
    return edits


def _url_key(entry: Mapping[str, object]) -> str:
    return next(key for key in _URLS if isinstance(entry.get(key), str))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _variables(headers: Sequence[str]) -> dict[str, str]:
    """Return a variable for each header; names that differ only in punctuation get different variables."""
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
