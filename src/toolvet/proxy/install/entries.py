"""A client's configuration file ↔ the same file with its servers behind `toolvet proxy`.

    plan = plan_install(text, before, wrapper)   text → new text, and what was done to each server
    plan = plan_uninstall(text, before)          the way back

For example `"time": {"command": "uvx", "args": ["mcp-server-time"]}` becomes

    "time": {"command": "toolvet", "args": ["proxy", "--name", "time", "--", "uvx", "mcp-server-time"]}

Only the members of an entry that must change are written again (`command` and `args`), so comments, order, indentation
and everything else stay. `before` is the text as it was without toolvet, kept in a backup beside the file. The way back
copies the old spelling from it: a file that was not edited in between comes back byte for byte, and in an edited one
only the entries of toolvet change.

An entry for a server at a URL becomes one that starts `toolvet proxy URL`:

    {"type": "http", "url": U, "headers": {"Authorization": V}}
    {"type": "stdio", "command": "toolvet", "args": [… "--header-env", "Authorization=TOOLVET_HEADER_AUTHORIZATION", U],
     "env": {"TOOLVET_HEADER_AUTHORIZATION": V}}

A header's value stays in the entry and becomes a variable: every user of the machine can read a command line, and
clients replace placeholders (`${input:key}`) in `env` as in `headers`. The variable is named without a dollar sign,
because clients would replace `$NAME` themselves.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, NamedTuple, TypeAlias

from toolvet.core.json_value import elements, is_array, is_object, members
from toolvet.errors import ConfigError
from toolvet.mcp.transport import Document, JsoncError, mask_url, read_jsonc
from toolvet.proxy.install.edit import (
    Backup,
    Edit,
    MemberRange,
    Path,
    apply_edits,
    indent,
    remove_list,
    rename_member,
    split_mark,
    write_json,
)

Obstacle: TypeAlias = Literal["remote", "sign_in", "secret"]

# Most clients | Windsurf | Gemini, where `url` is the transport of 2024-11-05.
_URLS: Final = ("url", "serverUrl", "httpUrl")
_TYPES: Final = ("type", "transport")
_STREAMABLE: Final = frozenset({"http", "streamable-http", "streamableHttp", "streamable_http"})
# The members that make a client sign in.
_SIGN_IN: Final = ("oauth", "auth", "authProviderType")
_LOOPBACK: Final = re.compile(r"https?://(localhost|127\.[0-9.]+|\[::1\])([:/?]|\Z)", re.IGNORECASE)
_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
# Where clients keep their servers: Claude, Cursor, Windsurf, Gemini, Cline and others | VS Code's mcp.json | Zed.
_TABLES: Final = ("mcpServers", "servers", "context_servers")
# VS Code's settings.json keeps its mcp.json under this key.
_NESTED: Final = "mcp"

Done: TypeAlias = Literal["wrapped", "unwrapped", "already", "untouched", "remote", "sign_in", "secret", "unreadable"]


class RemoteEntry(NamedTuple):
    """A server at a URL behind toolvet: the URL, and the header for each variable."""

    url: str
    headers: Mapping[str, str]


def is_remote(entry: Mapping[str, object]) -> bool:
    """Whether this is a server at a URL that is not behind toolvet."""
    return "command" not in entry and any(isinstance(entry.get(key), str) for key in _URLS)


def obstacle(entry: Mapping[str, object], *, chosen: Literal["by name", "with all"]) -> Obstacle | None:
    """Return why a server at a URL stays as it is; None if it can be put behind toolvet.

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


def wrap_remote(place: MemberRange, entry: Mapping[str, object], command: str, args: Sequence[object]) -> list[Edit]:
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


def unwrap_remote(place: MemberRange, entry: Mapping[str, object], remote: RemoteEntry, backup: Backup) -> list[Edit]:
    """Return the edits that restore the entry; where the backup does not help, as most clients write it."""
    path = place.path
    before = members(backup.value_of(*path))
    key = next((key for key in _URLS if key in before), "url")
    start, end = place.at("command").span
    was = backup.text_of(*path, key) if before.get(key) == remote.url else None
    edits = [
        rename_member(place.at("command"), backup.key_of(*path, key) or write_json(key)),
        Edit(start, end, was if was is not None else write_json(remote.url)),
        remove_list(place.at("args"), end),
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


@dataclass(frozen=True)
class Change:
    """The outcome for one server. `wrapped` and `unwrapped` changed its entry; the others say why it did not change.

    `already`: it is behind toolvet, or not, as wanted. `remote`, `sign_in`, `secret`: it is at a URL, see
    `obstacle`. `unreadable`: it has no command that could be put behind another. `untouched`: another
    server was asked for.
    """

    server: str
    done: Done


@dataclass(frozen=True)
class InstallPlan:
    """The text to write, the text without toolvet (for the backup), and what was done to each server."""

    text: str
    before: str
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class Wrapper:
    """How to start toolvet: the words before those of the server, such as ("/usr/bin/toolvet",), and its options."""

    command: Sequence[str]
    options: Sequence[str] = ()

    def words(self, server: str, command: str, args: Sequence[object]) -> tuple[str, list[object]]:
        """Return `command` and `args` of the entry that starts this server through toolvet."""
        first, before = self.before(server)
        return first, [*before, "--", command, *args]

    def before(self, server: str) -> tuple[str, list[object]]:
        """Return the same up to the words of the server."""
        first, *rest = self.command
        return first, [*rest, "proxy", "--name", server, *self.options]


def plan_install(text: str, before: str | None, wrapper: Wrapper, servers: Sequence[str] = ()) -> InstallPlan:
    """Put these servers (all, when none is named) behind toolvet.

    `before` is the text of the backup, None when there is none. Servers that are behind toolvet already stay as they
    are. Raises ConfigError for a text that is not a configuration, and for a server that it does not have.
    """
    bare = plan_uninstall(text, before).text
    mark, text = split_mark(text)
    document = _parse_configuration(text)
    entries = _entries(document)
    _require(servers, entries)
    edits: list[Edit] = []
    changes: list[Change] = []
    for path, entry in entries.items():
        name = str(path[-1])
        done = _wrappable(entry, servers) if not servers or name in servers else "untouched"
        if done == "wrapped" and is_remote(entry):
            edits += wrap_remote(MemberRange(text, document, path), entry, *wrapper.before(name))
        elif done == "wrapped":
            place = MemberRange(text, document, path)
            command, args = wrapper.words(name, str(entry["command"]), elements(entry.get("args", [])))
            start, end = place.at("command").span
            edits.append(Edit(start, end, write_json(command)))
            if place.at("args").exists:
                edits.append(Edit(*place.at("args").span, write_json(args)))
            else:
                written = f",{indent(place.at('command'))}{write_json('args')}: {write_json(args)}"
                edits.append(Edit(end, end, written))
        changes.append(Change(name, done))
    return InstallPlan(mark + apply_edits(text, edits), bare, tuple(changes))


def plan_uninstall(text: str, before: str | None, servers: Sequence[str] = ()) -> InstallPlan:
    """Take these servers (all, when none is named) out of toolvet again. Raises ConfigError as `plan_install` does."""
    mark, text = split_mark(text)
    document = _parse_configuration(text)
    entries = _entries(document)
    _require(servers, entries)
    backup = Backup(before)
    edits: list[Edit] = []
    everything: list[Edit] = []
    changes: list[Change] = []
    for path, entry in entries.items():
        name = str(path[-1])
        place = MemberRange(text, document, path)
        inner, remote = inner_command(entry), inner_remote(_our_words(entry))
        if inner is not None:
            undo = _restore_command(place, inner, backup)
        elif remote is not None:
            undo = unwrap_remote(place, entry, remote, backup)
        else:
            changes.append(Change(name, "untouched" if servers and name not in servers else "already"))
            continue
        everything += undo
        if servers and name not in servers:
            changes.append(Change(name, "untouched"))
        else:
            edits += undo
            changes.append(Change(name, "unwrapped"))
    return InstallPlan(mark + apply_edits(text, edits), mark + apply_edits(text, everything), tuple(changes))


def inner_command(entry: Mapping[str, object]) -> tuple[str, list[object]] | None:
    """Return the command and arguments that an entry starts through toolvet; None for any other entry."""
    args = _our_words(entry)
    if args[:1] != ["proxy"] or "--" not in args:
        return None
    words = args[args.index("--") + 1 :]
    return (words[0], words[1:]) if words and isinstance(words[0], str) else None


def _our_words(entry: Mapping[str, object]) -> list[object]:
    command, args = entry.get("command"), list(elements(entry.get("args")))
    if args[:2] == ["-m", "toolvet"]:
        return args[2:]
    name = command.replace("\\", "/").rpartition("/")[2] if isinstance(command, str) else ""
    return args if name in {"toolvet", "toolvet.exe"} else []


def _parse_configuration(text: str) -> Document:
    try:
        return read_jsonc(text)
    except JsoncError as error:
        raise ConfigError(error.problem, file="the configuration", line=error.line) from error


def _entries(document: Document) -> dict[Path, Mapping[str, object]]:
    top = members(document.value)
    tables: list[Path] = [(key,) for key in _TABLES if is_object(top.get(key))]
    tables += [(_NESTED, key) for key in _TABLES if is_object(members(top.get(_NESTED)).get(key))]
    # Claude Code keeps servers for each project beside those of the user.
    for project, settings in members(top.get("projects")).items():
        tables += [("projects", project, key) for key in _TABLES if is_object(members(settings).get(key))]
    if not tables:
        raise ConfigError(f"names no servers: there is none of {', '.join(_TABLES)}", file="the configuration")
    found: dict[Path, Mapping[str, object]] = {}
    for table in tables:
        value: object = document.value
        for key in table:
            value = members(value)[str(key)]
        for name, entry in members(value).items():
            found[*table, name] = members(entry)
    return found


def _require(servers: Sequence[str], entries: Mapping[Path, object]) -> None:
    names = [str(path[-1]) for path in entries]
    for server in servers:
        if server not in names:
            raise ConfigError(
                f"has no server '{server}'; it has {', '.join(names) or 'none'}", file="the configuration"
            )


def _wrappable(entry: Mapping[str, object], servers: Sequence[str]) -> Done:
    if inner_command(entry) is not None or inner_remote(_our_words(entry)) is not None:
        return "already"
    if is_remote(entry):
        return obstacle(entry, chosen="by name" if servers else "with all") or "wrapped"
    if not isinstance(entry.get("command"), str) or not entry["command"]:
        return "unreadable"
    args = entry.get("args", [])
    if not is_array(args) or not all(isinstance(arg, str | int | float) for arg in args):
        return "unreadable"
    return "wrapped"


def _restore_command(place: MemberRange, inner: tuple[str, list[object]], backup: Backup) -> list[Edit]:
    command, args = inner
    path = place.path
    start, end = place.at("command").span
    was = backup.text_of(*path, "command") if backup.value_of(*path, "command") == command else None
    edits = [Edit(start, end, was if was is not None else write_json(command))]
    first, last = place.at("args").span
    had_args = is_object(backup.value_of(*path)) and "args" in members(backup.value_of(*path))
    if args or had_args:
        was = backup.text_of(*path, "args") if backup.value_of(*path, "args") == args else None
        return [*edits, Edit(first, last, was if was is not None else write_json(args))]
    # There were none: remove the member with the comma before it, or only its items when it is the first.
    return [*edits, remove_list(place.at("args"), end)]
