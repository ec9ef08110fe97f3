"""A list of an MCP registry → the servers that it names, as targets.

Reads what `GET /v0.1/servers` of a registry answers (`{"servers": [{"server": {…}, "_meta": {…}}]}`), and one or a list
of `server.json` documents without that wrapping. The format is that of September 2025 and later:
https://github.com/modelcontextprotocol/registry/blob/main/docs/reference/server-json/generic-server-json.md

A package of npm becomes `npx -y NAME@VERSION`, one of PyPI `uvx NAME@VERSION`, a remote server its URL. Values that a
server needs and the list does not give (a key, a path) come from `given` alone: a list from a third party must not read
variables out of our environment.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, cast

import msgspec

from toolvet.core.json_value import is_object, members
from toolvet.errors import ConfigError
from toolvet.mcp.transport.client_config import NamedTarget, read_client_config
from toolvet.mcp.transport.target import HttpTarget, StdioTarget, Target

_OFFICIAL: Final = "io.modelcontextprotocol.registry/official"
_VARIABLE: Final = re.compile(r"\{([^{}]+)\}")
_RUNNERS: Final = {"npm": "npx", "pypi": "uvx"}
_REMOTE_KINDS: Final[Mapping[str, Literal["streamable", "sse"]]] = {"streamable-http": "streamable", "sse": "sse"}


@dataclass(frozen=True)
class ServerList:
    """The servers of a file, in its order: what can be reached, and the names of the others with the reason."""

    targets: tuple[NamedTarget, ...]
    left_out: tuple[tuple[str, str], ...] = ()


class _RegistryInput(msgspec.Struct, frozen=True, rename="camel"):
    """A value that a server needs: an argument (`type`), a variable or a header (`name`)."""

    type: str = ""
    name: str = ""
    value: str | None = None
    default: str | None = None
    value_hint: str = ""
    is_required: bool = False
    variables: dict[str, "_RegistryInput"] = {}


class _RegistryTransport(msgspec.Struct, frozen=True, rename="camel"):
    type: str = "stdio"
    url: str = ""
    headers: tuple[_RegistryInput, ...] = ()


class _RegistryPackage(msgspec.Struct, frozen=True, rename="camel"):
    registry_type: str = ""
    identifier: str = ""
    version: str = ""
    runtime_hint: str = ""
    transport: _RegistryTransport = _RegistryTransport()
    runtime_arguments: tuple[_RegistryInput, ...] = ()
    package_arguments: tuple[_RegistryInput, ...] = ()
    environment_variables: tuple[_RegistryInput, ...] = ()


class _RegistryServer(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    version: str = ""
    status: str = "active"
    packages: tuple[_RegistryPackage, ...] = ()
    remotes: tuple[_RegistryTransport, ...] = ()


class _RegistryStanding(msgspec.Struct, frozen=True, rename="camel"):
    status: str = "active"
    is_latest: bool = True


class _RegistryEntry(msgspec.Struct, frozen=True):
    server: _RegistryServer
    meta: dict[str, object] = msgspec.field(default_factory=dict[str, object], name="_meta")


class _MissingValueError(Exception):
    """A server needs a value that was not given; the text says which."""


def read_server_list(path: str | Path, given: Mapping[str, str] | None = None) -> ServerList:
    """Return the servers that a file names: a client's configuration (see `read_client_config`) or a registry's list.

    Args:
        path: The file.
        given: Values for the variables, arguments and headers that a registry's servers need, by their names. A
            client's configuration has its own, and takes the rest from our environment.

    Raises:
        ConfigError: The file cannot be read or is neither of the two.

    Example:
        found = read_server_list("registry.json", {"BRAVE_API_KEY": key})
        [target.name for target in found.targets], dict(found.left_out)
    """
    entries = _registry_entries(Path(path))
    if entries is None:
        return ServerList(read_client_config(path))
    targets: list[NamedTarget] = []
    left_out: list[tuple[str, str]] = []
    for index, raw in enumerate(entries):
        wrapped = raw if is_object(raw) and "server" in raw else {"server": raw}
        try:
            entry = msgspec.convert(wrapped, _RegistryEntry)
        except msgspec.ValidationError as error:
            problem, _, place = str(error).partition(" - at ")
            given_name = members(wrapped["server"]).get("name")
            shown = given_name if isinstance(given_name, str) and given_name else f"server {index + 1}"
            left_out.append((shown, f"not a server.json: {problem} {place}".strip()))
            continue
        name = entry.server.name
        try:
            official = msgspec.convert(entry.meta.get(_OFFICIAL, {}), _RegistryStanding)
        except msgspec.ValidationError:
            official = _RegistryStanding()
        if "deleted" in (entry.server.status, official.status):
            left_out.append((name, "the registry says that it is deleted"))
            continue
        if not official.is_latest:
            left_out.append((name, f"{entry.server.version or 'this'} is not its latest version"))
            continue
        try:
            targets.append(NamedTarget(name, _target(entry.server, given or {})))
        except _MissingValueError as error:
            left_out.append((name, str(error)))
    return ServerList(tuple(targets), tuple(left_out))


def _registry_entries(path: Path) -> Sequence[object] | None:
    """The entries of a registry's list; None if the file is something else, which its own reader then judges."""
    try:
        document: object = msgspec.json.decode(path.read_bytes())
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror or error}", file=str(path)) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if is_object(document) and ("packages" in document or "remotes" in document):
        return [document]  # A `server.json` by itself.
    entries = document.get("servers") if is_object(document) else document
    return cast("list[object]", entries) if isinstance(entries, list) else None


def _target(server: _RegistryServer, given: Mapping[str, str]) -> Target:
    """The first package that can be started, else the first URL. Raises _MissingValueError with the reason."""
    reasons: list[str] = []
    for package in server.packages:
        if package.transport.type != "stdio":
            reasons.append(f"its package speaks {package.transport.type}, and has to be started by hand")
        elif package.registry_type not in _RUNNERS:
            reasons.append(f"toolvet does not start packages of {package.registry_type or 'an unnamed registry'}")
        else:
            try:
                return _started(package, given)
            except _MissingValueError as error:
                reasons.append(str(error))
    for remote in server.remotes:
        kind = _REMOTE_KINDS.get(remote.type)
        if kind is None or not remote.url.startswith(("http://", "https://")):
            reasons.append(f"its remote of type {remote.type or '(none)'} has no URL that toolvet can reach")
            continue
        try:
            headers = dict(_named_values(remote.headers, given))
            return HttpTarget(_filled(remote.url, {}, given), headers or None, kind)
        except _MissingValueError as error:
            reasons.append(str(error))
    raise _MissingValueError("; ".join(dict.fromkeys(reasons)) or "it names neither a package nor a URL")


def _started(package: _RegistryPackage, given: Mapping[str, str]) -> StdioTarget:
    runner = package.runtime_hint or _RUNNERS[package.registry_type]
    before = list(_words(package.runtime_arguments, given))
    if runner == "npx" and "-y" not in before and "--yes" not in before:
        before.insert(0, "-y")
    what = f"{package.identifier}@{package.version}" if package.version else package.identifier
    if what not in before:  # Some lists name the package among the arguments of the runner, too.
        before.append(what)
    env = dict(_named_values(package.environment_variables, given))
    return StdioTarget(runner, (*before, *_words(package.package_arguments, given)), env or None)


def _words(arguments: Sequence[_RegistryInput], given: Mapping[str, str]) -> Iterator[str]:
    for argument in arguments:
        is_named = argument.type == "named" or (not argument.type and bool(argument.name))
        label = argument.name if is_named else argument.value_hint
        value = _value(argument, label, given)
        if is_named and value is not None:
            yield from (argument.name, value)
        elif is_named and argument.value is None and not argument.is_required:
            continue  # An option that the caller did not ask for.
        elif value is not None:
            yield value


def _named_values(inputs: Sequence[_RegistryInput], given: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for each in inputs:
        if (value := _value(each, each.name, given)) is not None:
            yield each.name, value


def _value(wanted: _RegistryInput, label: str, given: Mapping[str, str]) -> str | None:
    if wanted.value is not None:
        return _filled(wanted.value, wanted.variables, given)
    if label in given:
        return given[label]
    if wanted.default is not None:
        return wanted.default
    if wanted.is_required:
        raise _MissingValueError(f"needs {label or 'an argument'}: give it as --env {label or 'NAME'}=VALUE")
    return None


def _filled(text: str, variables: Mapping[str, _RegistryInput], given: Mapping[str, str]) -> str:
    def replace(match: re.Match[str]) -> str:
        wanted = variables.get(match[1])
        if wanted is None:
            return given.get(match[1], match[0])
        return _value(wanted, match[1], given) or ""

    return _VARIABLE.sub(replace, text)
