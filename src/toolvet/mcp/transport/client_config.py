"""The configuration file of an MCP client → the servers that it names, as targets.

Reads `mcpServers` (Claude, Cursor, Windsurf, Gemini and others) and VS Code's `servers`, both JSON with comments.

`read_jsonc` reads these as editors write them, with `//` and `/* */` comments and trailing commas, and knows the
position of every value.
"""

import json
import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias, cast

from toolvet.errors import ConfigError
from toolvet.mcp.transport.target import HttpTarget, StdioTarget, Target

# The words that clients write in `type` or `transport`.
_HTTP_TYPES: Final[dict[str, Literal["streamable", "sse"]]] = {
    "http": "streamable",
    "streamable-http": "streamable",
    "streamableHttp": "streamable",
    "sse": "sse",
}
_VARIABLE: Final = re.compile(r"\$\{([^{}]*)\}")
KeyPath: TypeAlias = tuple[str | int, ...]


class JsoncError(ValueError):
    """The text is not JSON with comments; `line` counts from 1."""

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line


@dataclass(frozen=True)
class Document:
    """A decoded text, and the places of its values, each by the path of keys that leads to it.

    `lines` has the line (from 1) of every member and item, `spans` the start and end of the text of its value (offsets
    in characters, after a byte order mark), `keys` the start of a member's key.
    """

    value: object
    lines: dict[KeyPath, int]
    spans: dict[KeyPath, tuple[int, int]] = field(default_factory=dict)
    keys: dict[KeyPath, int] = field(default_factory=dict)

    def line(self, *path: str | int) -> int:
        """Return the line of `path`, or of its nearest ancestor that exists."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


@dataclass(frozen=True)
class NamedTarget:
    """A server and the name that its configuration file gives it."""

    name: str
    target: Target


def read_client_config(path: str | Path, environ: Mapping[str, str] | None = None) -> tuple[NamedTarget, ...]:
    """Return the servers that the file names, in its order, without those that are `disabled`.

    Args:
        path: an `mcp.json`, `claude_desktop_config.json` or `.vscode/mcp.json`.
        environ: the variables for `${VAR}`, `${env:VAR}` and `${VAR:-default}`; None takes our own environment.

    Raises:
        ConfigError: the file cannot be read, has a wrong value, or uses a variable that is not set; the error has the
            file, the line and the key.

    Example:
        for server in read_client_config("mcp.json"):
            print(server.name, server.target.describe())
    """
    file = Path(path)
    try:
        document = read_jsonc(file.read_text(encoding="utf-8"))
    except JsoncError as error:
        raise ConfigError(error.problem, file=str(path), line=error.line) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"not UTF-8 at byte {error.start}", file=str(path)) from error
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror or error}", file=str(path)) from error
    return _Config(str(path), document, _variables(file, os.environ if environ is None else environ)).targets()


def read_entry(file: str, name: str, entry: Mapping[str, object]) -> Target:
    """Return the server of one entry of a file, for clients that keep them in another form; raises ConfigError."""
    document = Document({"mcpServers": {name: entry}}, {})
    return _Config(file, document, _variables(Path(file), os.environ)).targets()[0].target


def _variables(file: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment and those two variables of VS Code that have a meaning outside of it."""
    folder = file.resolve().parent
    workspace = folder.parent if folder.name == ".vscode" else folder
    return {"workspaceFolder": str(workspace), "userHome": str(Path.home()), **environ}


class _Config:
    """One file while it is read: every method takes a value and the keys that lead to it, for the error."""

    def __init__(self, file: str, document: Document, environ: Mapping[str, str]) -> None:
        self._file = file
        self._document = document
        self._environ = environ

    def targets(self) -> tuple[NamedTarget, ...]:
        top = self._object(self._document.value)
        keys = [key for key in ("mcpServers", "servers") if key in top]
        if not keys:
            raise self._error("names no servers: there is neither `mcpServers` nor `servers`")
        found: list[NamedTarget] = []
        for key in keys:
            for name, entry in self._object(top[key], key).items():
                server = self._object(entry, key, name)
                is_disabled = server.get("disabled", False)
                if not isinstance(is_disabled, bool):
                    problem = f"must be true or false, not {_type(is_disabled)}"
                    raise self._error(problem, key, name, "disabled")
                if not is_disabled:
                    found.append(NamedTarget(name, self._target(server, key, name)))
        return tuple(found)

    def _target(self, server: Mapping[str, object], *where: str) -> Target:
        named = [key for key in ("type", "transport") if key in server]
        kind = self._string(server[named[0]], *where, named[0]) if named else None
        if kind is not None and kind != "stdio" and kind not in _HTTP_TYPES:
            legal = ", ".join(["stdio", *_HTTP_TYPES])
            raise self._error(f'unknown type "{kind}"; known are {legal}', *where, named[0])
        if kind is None:
            if ("command" in server) == ("url" in server):
                both = "has both `command` and `url`; say which with `type`" if "url" in server else ""
                raise self._error(both or "needs `command` (a program to start) or `url`", *where)
            kind = "stdio" if "command" in server else "http"
        if kind == "stdio":
            return self._stdio(server, *where)
        if "url" not in server:
            raise self._error(f'needs `url`, because its type is "{kind}"', *where)
        url = self._string(server["url"], *where, "url")
        if not url.startswith(("http://", "https://")):
            raise self._error("must start with http:// or https://", *where, "url")
        return HttpTarget(url, self._strings(server, *where, "headers"), _HTTP_TYPES[kind])

    def _stdio(self, server: Mapping[str, object], *where: str) -> StdioTarget:
        if "command" not in server:
            raise self._error("needs `command`, the program to start", *where)
        if "envFile" in server:
            raise self._error("is not supported; write the variables into `env`", *where, "envFile")
        command = self._string(server["command"], *where, "command")
        if not command:
            raise self._error("is empty", *where, "command")
        args = server.get("args", [])
        if not isinstance(args, list):
            raise self._error(f"must be an array of strings, not {_type(args)}", *where, "args")
        items = enumerate(cast("list[object]", args))
        cwd = server.get("cwd")
        return StdioTarget(
            command,
            tuple(self._string(item, *where, "args", index) for index, item in items),
            self._strings(server, *where, "env"),
            None if cwd is None else self._string(cwd, *where, "cwd"),
        )

    def _strings(self, server: Mapping[str, object], *where: str) -> dict[str, str] | None:
        """Read an object of strings. Numbers are allowed, as in VS Code, and null leaves a variable out."""
        if server.get(where[-1]) is None:
            return None
        members = self._object(server[where[-1]], *where)
        return {
            name: str(value)
            if isinstance(value, int | float) and not isinstance(value, bool)
            else self._string(value, *where, name)
            for name, value in members.items()
            if value is not None
        }

    def _object(self, value: object, *where: str) -> Mapping[str, object]:
        if not isinstance(value, dict):
            raise self._error(f"must be an object, not {_type(value)}", *where)
        return cast("dict[str, object]", value)

    def _string(self, value: object, *where: str | int) -> str:
        if not isinstance(value, str):
            raise self._error(f"must be a string, not {_type(value)}", *where)

        def replace(match: re.Match[str]) -> str:
            name, _, default = match[1].removeprefix("env:").partition(":-")
            if (found := self._environ.get(name)) is not None:
                return found
            if ":-" in match[1]:
                return default
            if match[1].startswith("input:"):
                raise self._error(f"{match[0]} asks an editor's user; write ${{VAR}} and set the variable", *where)
            raise self._error(f"{match[0]}: the environment variable {name} is not set", *where)

        return _VARIABLE.sub(replace, value)

    def _error(self, problem: str, *where: str | int) -> ConfigError:
        key = ".".join(str(step) for step in where) or None
        return ConfigError(problem, file=self._file, line=self._document.line(*where), key=key)


def _type(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
        case _:
            return "an object"


def read_jsonc(text: str) -> Document:
    """Decode `text`. Raises JsoncError with the first problem and its line.

    >>> document = read_jsonc('{"servers": {}, /* none yet */}')
    >>> document.value, document.line("servers")
    ({'servers': {}}, 1)
    """
    reader = _JsoncReader(text.removeprefix("\ufeff"))
    value = reader.value(())
    reader.skip()
    if reader.at < len(reader.text):
        raise reader.error("there is more after the end of the document")
    return Document(value, reader.lines, reader.spans, reader.keys)


_BLANK: Final = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR: Final = re.compile(r"true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WORD: Final = re.compile(r"[^\s,\]}]{1,20}")
_MAX_DEPTH: Final = 100


class _JsoncReader:
    """The text and the position in it; each method reads one kind of value and moves the position behind it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[KeyPath, int] = {}
        self.spans: dict[KeyPath, tuple[int, int]] = {}
        self.keys: dict[KeyPath, int] = {}
        self._breaks = [match.start() for match in re.finditer("\n", text)]

    def value(self, path: KeyPath) -> object:
        self.skip()
        self.lines.setdefault(path, self._line())
        if len(path) > _MAX_DEPTH:
            raise self.error(f"nested deeper than {_MAX_DEPTH} levels")
        start = self.at
        value: object
        match self.text[self.at : self.at + 1]:
            case "{":
                value = self._object(path)
            case "[":
                items: list[object] = []
                for _ in self._members("]"):
                    items.append(self.value((*path, len(items))))
                value = items
            case '"':
                value = self._string()
            case _:
                scalar = _SCALAR.match(self.text, self.at)
                if scalar is None:
                    raise self.error(f"expected a value, found {self._describe_next()}")
                self.at = scalar.end()
                value = json.loads(scalar[0])
        self.spans[path] = (start, self.at)
        return value

    def skip(self) -> None:
        if match := _BLANK.match(self.text, self.at):
            self.at = match.end()
        if self.text.startswith("/*", self.at):
            raise self.error("a comment that starts with /* and never ends")

    def error(self, problem: str) -> JsoncError:
        return JsoncError(problem, self._line())

    def _object(self, path: KeyPath) -> dict[str, object]:
        members: dict[str, object] = {}
        for _ in self._members("}"):
            if self.text[self.at] != '"':
                raise self.error(f"expected a key in double quotes, found {self._describe_next()}")
            line, start = self._line(), self.at
            key = self._string()
            if key in members:
                raise JsoncError(f'the key "{key}" occurs a second time', line)
            self.skip()
            if not self.text.startswith(":", self.at):
                raise self.error(f'expected ":" after the key "{key}", found {self._describe_next()}')
            self.at += 1
            self.lines[*path, key] = line
            self.keys[*path, key] = start
            members[key] = self.value((*path, key))
        return members

    def _members(self, end: str) -> Iterable[None]:
        self.at += 1
        while True:
            self.skip()
            if self.text.startswith(end, self.at):
                break
            self._check_unfinished(end)
            yield
            self.skip()
            self._check_unfinished(end)
            if self.text.startswith(",", self.at):
                self.at += 1
            elif not self.text.startswith(end, self.at):
                raise self.error(f'expected "," or "{end}", found {self._describe_next()}')
        self.at += 1

    def _check_unfinished(self, end: str) -> None:
        if self.at >= len(self.text):
            raise self.error(f'the document ends before a closing "{end}"')

    def _string(self) -> str:
        match = _STRING.match(self.text, self.at)
        if match is None:
            raise self.error("a string that does not end on its line")
        try:
            text = cast("str", json.loads(match[0]))
        except ValueError as error:
            raise self.error(f"a string with an illegal escape: {match[0][:40]}") from error
        self.at = match.end()
        return text

    def _describe_next(self) -> str:
        match = _WORD.match(self.text, self.at)
        return match[0] if match else (self.text[self.at : self.at + 1] or "the end of the document")

    def _line(self) -> int:
        return bisect_right(self._breaks, self.at - 1) + 1
