"""A client's configuration file ↔ the same file with its servers behind `toolvet proxy`.

    plan = plan_install(text, before, wrapper)   text → new text, and what was done to each server
    plan = plan_uninstall(text, before)          the way back

For example `"time": {"command": "uvx", "args": ["mcp-server-time"]}` becomes

    "time": {"command": "toolvet", "args": ["proxy", "--name", "time", "--", "uvx", "mcp-server-time"]}

Only the members of an entry that must change are written again (`command` and `args`), so comments, order, indentation
and everything else stay. `before` is the text as it was without toolvet, kept in a backup beside the file. The way back
copies the old spelling from it: a file that was not edited in between comes back byte for byte, and in an edited one
only the entries of toolvet change.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from toolvet.core.json_value import elements, is_array, is_object, members
from toolvet.errors import ConfigError
from toolvet.mcp.transport import Document, JsoncError, read_jsonc
from toolvet.proxy.install.edit import (
    Backup,
    Edit,
    MemberPlace,
    Path,
    apply_edits,
    indent,
    remove_member,
    split_mark,
    write_json,
)
from toolvet.proxy.install.remote import inner_remote, is_remote, obstacle, unwrap_remote, wrap_remote

# Where clients keep their servers: Claude, Cursor, Windsurf, Gemini, Cline and others | VS Code's mcp.json | Zed.
_TABLES: Final = ("mcpServers", "servers", "context_servers")
# VS Code's settings.json keeps its mcp.json under this key.
_NESTED: Final = "mcp"

Done: TypeAlias = Literal["wrapped", "unwrapped", "already", "untouched", "remote", "sign_in", "secret", "unreadable"]


@dataclass(frozen=True)
class Change:
    """What was done to one server. `wrapped` and `unwrapped` changed its entry; the others say why it did not change.

    `already`: it is behind toolvet, or not, as wanted. `remote`, `sign_in`, `secret`: it is at a URL, see
    `install.remote.obstacle`. `unreadable`: it has no command that could be put behind another. `untouched`: another
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
            edits += wrap_remote(MemberPlace(text, document, path), entry, *wrapper.before(name))
        elif done == "wrapped":
            command, args = wrapper.words(name, str(entry["command"]), elements(entry.get("args", [])))
            edits += _rewrite(MemberPlace(text, document, path), command, args)
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
        undo = _undo(MemberPlace(text, document, path), entry, backup)
        if undo is None:
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
    """Return the words after `toolvet` in an entry that starts it; none for any other entry."""
    command, args = entry.get("command"), list(elements(entry.get("args")))
    if args[:2] == ["-m", "toolvet"]:
        return args[2:]
    name = command.replace("\\", "/").rpartition("/")[2] if isinstance(command, str) else ""
    return args if name in {"toolvet", "toolvet.exe"} else []


def _undo(place: MemberPlace, entry: Mapping[str, object], backup: Backup) -> list[Edit] | None:
    """Return the edits that take this entry back; None for one that does not start toolvet."""
    inner = inner_command(entry)
    if inner is not None:
        return _restore_command(place, inner, backup)
    remote = inner_remote(_our_words(entry))
    return None if remote is None else unwrap_remote(place, entry, remote, backup)


def _parse_configuration(text: str) -> Document:
    try:
        return read_jsonc(text)
    except JsoncError as error:
        raise ConfigError(error.problem, file="the configuration", line=error.line) from error


def _entries(document: Document) -> dict[Path, Mapping[str, object]]:
    """Return all servers by their path, in the order of the file."""
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


def _rewrite(place: MemberPlace, command: str, args: Sequence[object]) -> list[Edit]:
    """Replace `command` and `args` of an entry; new args are written right after the command."""
    start, end = place.at("command").span
    edits = [Edit(start, end, write_json(command))]
    if place.at("args").exists:
        edits.append(Edit(*place.at("args").span, write_json(args)))
    else:
        edits.append(Edit(end, end, f",{indent(place.at('command'))}{write_json('args')}: {write_json(args)}"))
    return edits


def _restore_command(place: MemberPlace, inner: tuple[str, list[object]], backup: Backup) -> list[Edit]:
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
    return [*edits, remove_member(place.at("args"), end, "[]")]
