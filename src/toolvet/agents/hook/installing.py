"""The text of a client's settings ↔ the same text with toolvet's hooks; everything else of it stays as it is.

{"model": "opus"}  ↔  {"model": "opus", "hooks": {"Stop": [{"hooks": [{… "toolvet hook claude" …}]}], …}}

Entries are added behind those that are there, and taken out by their place in the text. The way back copies the text
from before where nothing else was changed since.
"""

import json
import re
from collections.abc import Mapping
from typing import Final

from toolvet.agents.hook.dialect import HookDialect
from toolvet.core.json_value import elements, is_array, is_object, members
from toolvet.errors import ConfigError
from toolvet.mcp.transport import Document, JsoncError, read_jsonc
from toolvet.proxy.install import Edit, Path, apply_edits, split_mark

_OURS: Final = re.compile(r"(?:toolvet(?:\.exe)?|-m toolvet)['\"]?\s+hook\s+(?:claude|codex|gemini|copilot)\b")
_COMMANDS: Final = ("command", "bash", "powershell")
_STEP: Final = "  "
# A hook of Copilot that ends with another code than 0, or cannot be started, denies every call.
_POSIX_END: Final = " || true"
_WINDOWS_END: Final = "; exit 0"


class HookCommand:
    """The command that a client runs: on POSIX, and on Windows if that needs another."""

    def __init__(self, posix: str, windows: str) -> None:
        self.posix = posix
        self.windows = windows

    def entry(self, dialect: HookDialect) -> dict[str, object]:
        """Return the command as an entry of this client's settings."""
        place = dialect.settings
        if place.form == "commands":
            return {
                "type": "command",
                "bash": f"{self.posix}{_POSIX_END}",
                "powershell": f"{self.windows}{_WINDOWS_END}",
                "timeoutSec": place.seconds,
            }
        return {"type": "command", "command": self.posix, "timeout": place.seconds * place.timeout_unit}


def with_hooks(text: str | None, dialect: HookDialect, command: HookCommand) -> str:
    """Return the settings with the hooks of toolvet; `text` is None if there is no file yet.

    Raises ConfigError for a text that does not hold settings.
    """
    place, entry = dialect.settings, command.entry(dialect)
    wanted: dict[str, Mapping[str, object]] = {}
    for event, moment in dialect.events.items():
        matcher = {"matcher": place.matcher} if moment in ("before", "after") and place.matcher else {}
        wanted[event] = entry if place.form == "commands" else {**matcher, "hooks": [entry]}
    if text is None or not text.strip():
        version = {"version": 1} if place.form == "commands" else {}
        whole = {**version, "hooks": {event: [item] for event, item in wanted.items()}}
        return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"
    present = members(members(_parsed(split_mark(text)[1]).value).get("hooks"))
    if all(item in elements(present.get(event)) for event, item in wanted.items()):
        return text
    mark, bare = split_mark(without_hooks(text) if has_hooks(text) else text)
    for event, item in wanted.items():
        document = _parsed(bare)
        hooks = members(document.value).get("hooks")
        if hooks is None:
            bare = _inserted(bare, document, (), {"hooks": {event: [item]}})
        elif event not in members(hooks):
            bare = _inserted(bare, document, ("hooks",), {event: [item]})
        else:
            bare = _inserted(bare, document, ("hooks", event), [item])
    return mark + bare


def without_hooks(text: str, before: str | None = None) -> str:
    """Return the settings without the hooks of toolvet; `before` is the text from before, if one is kept.

    Entries that only held our hooks are removed as well, unless they were there before. Raises ConfigError as
    `with_hooks` does.
    """
    mark, bare = split_mark(text)
    kept: object = None if before is None else _parsed(split_mark(before)[1]).value
    while True:
        document = _parsed(bare)
        path = _next(document, kept)
        if path is None:
            return mark + bare
        siblings = _children(document, path[:-1])
        at = siblings.index(path)
        start, end = document.keys.get(path, document.spans[path][0]), document.spans[path][1]
        # With the comma that it needed.
        if at > 0:
            start = document.spans[siblings[at - 1]][1]
        elif len(siblings) > 1:
            end = document.keys.get(siblings[1], document.spans[siblings[1]][0])
        else:
            outer = document.spans.get(path[:-1], (bare.index("{"), _end_of_top(bare)))
            start, end = outer[0] + 1, outer[1] - 1
        bare = apply_edits(bare, [Edit(start, end, "")])


def has_hooks(text: str) -> bool:
    """Whether toolvet is in these settings. Raises ConfigError as `with_hooks` does."""
    return bool(_OURS.search(json.dumps(members(_parsed(split_mark(text)[1]).value).get("hooks"))))


def command_in(text: str) -> HookCommand | None:
    """Return the command of the first of our hooks in these settings; None if there is none."""
    for groups in members(members(_parsed(split_mark(text)[1]).value).get("hooks")).values():
        for group in elements(groups):
            for hook in (group, *elements(members(group).get("hooks"))):
                held = members(hook)
                if _is_ours(held):
                    posix = f"{held.get('command', held.get('bash', ''))}"
                    windows = f"{held.get('powershell', '')}"
                    return HookCommand(posix.removesuffix(_POSIX_END), windows.removesuffix(_WINDOWS_END))
    return None


def is_only_hooks(text: str, dialect: HookDialect) -> bool:
    """Whether nothing is left in settings that held our hooks alone."""
    left = members(_parsed(split_mark(text)[1]).value)
    return not left or (dialect.settings.form == "commands" and set(left) <= {"version"})


def _parsed(text: str) -> Document:
    try:
        document = read_jsonc(text)
    except JsoncError as error:
        raise ConfigError(error.problem, file="the settings", line=error.line) from error
    if not is_object(document.value):
        raise ConfigError("must be an object", file="the settings", line=1)
    hooks = document.value.get("hooks", {})
    if not is_object(hooks):
        raise ConfigError("must be an object", file="the settings", line=document.line("hooks"), key="hooks")
    for event, groups in hooks.items():
        if not is_array(groups):
            line = document.line("hooks", event)
            raise ConfigError("must be a list", file="the settings", line=line, key=f"hooks.{event}")
    return document


def _inserted(text: str, document: Document, path: Path, new: Mapping[str, object] | list[Mapping[str, object]]) -> str:
    start, end = document.spans.get(path, (text.index("{"), _end_of_top(text)))
    children = _children(document, path)
    margin = _STEP * (len(path) + 1)
    written = json.dumps(new, indent=2, ensure_ascii=False)
    inner = "\n".join(written.split("\n")[1:-1])
    shifted = "\n".join(f"{_STEP * len(path)}{line}" for line in inner.split("\n")).lstrip()
    if children:
        after = document.spans[children[-1]][1]
        return text[:after] + f",\n{margin}{shifted}" + text[after:]
    closing = end - 1
    return text[: start + 1] + f"\n{margin}{shifted}\n{_STEP * len(path)}" + text[closing:]


def _end_of_top(text: str) -> int:
    bare = re.sub(r"(?:\s+|//[^\n]*|/\*(?:(?!\*/).)*\*/)+\Z", "", text, flags=re.DOTALL)
    return bare.rindex("}") + 1


def _children(document: Document, path: Path) -> list[Path]:
    return sorted(
        (each for each in document.spans if len(each) == len(path) + 1 and each[: len(path)] == path),
        key=lambda each: document.spans[each],
    )


def _next(document: Document, kept: object) -> Path | None:
    for event, groups in members(members(document.value).get("hooks")).items():
        for at, group in enumerate(elements(groups)):
            if _is_ours(group):
                return ("hooks", event, at)
            inner = elements(members(group).get("hooks"))
            ours = [place for place, hook in enumerate(inner) if _is_ours(hook)]
            if ours:
                return ("hooks", event, at) if len(ours) == len(inner) else ("hooks", event, at, "hooks", ours[0])
    hooks = members(document.value).get("hooks")
    old = members(members(kept).get("hooks"))
    for event, groups in members(hooks).items():
        if is_array(groups) and not groups and event not in old:
            return ("hooks", event)
    return ("hooks",) if is_object(hooks) and not hooks and "hooks" not in members(kept) else None


def _is_ours(hook: object) -> bool:
    held = members(hook)
    return any(isinstance(held.get(key), str) and _OURS.search(f"{held[key]}") is not None for key in _COMMANDS)
