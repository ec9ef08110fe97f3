"""A server's announcement that it validates: `experimental.toolValidation`, or the extension in MCP 2026-07-28.

    {"experimental": {"toolValidation": {"supported": true, "method": "validate", "version": "1.0"}}}

The values of `experimental` and `extensions` must be objects (MCP schema, ServerCapabilities): a bare `true` makes
official clients fail to connect, and does not count as an announcement.
"""

from collections.abc import Mapping
from typing import Final, Literal, TypeVar

import msgspec

from toolvet.core.checks.capability.reply import as_json
from toolvet.core.json_value import count, is_array, is_object, members, names, number
from toolvet.core.meta import META_PREFIX

EXPERIMENTAL_KEY: Final = "toolValidation"
EXTENSION_ID: Final = f"{META_PREFIX}tool-validation"
DEFAULT_METHOD: Final = "validate"
PROTOCOL_VERSION: Final = "1.0"

Level = Literal["syntax", "semantic", "runtime", "security"]
"""How deep a check looks: at the types, at the meaning, at the state of the world, at the policy."""
LEVELS: Final[tuple[Level, ...]] = ("syntax", "semantic", "runtime", "security")

_Default = TypeVar("_Default")


class Caching(msgspec.Struct, frozen=True, kw_only=True):
    """How long a reply is valid. `ttl` is in seconds, None for no limit; the events `invalidate_on` end it earlier."""

    enabled: bool = False
    ttl: float | None = None
    invalidate_on: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """The JSON form in the announcement."""
        ttl = {} if self.ttl is None else {"ttl": self.ttl}
        events = {"invalidateOn": list(self.invalidate_on)} if self.invalidate_on else {}
        return {"enabled": self.enabled, **ttl, **events}


class Announcement(msgspec.Struct, frozen=True, kw_only=True):
    """How a server validates. Options that it left out, or that could not be read, have their default.

    `levels` is empty if the server announces none. `problems` has a sentence for every unreadable option.
    """

    method: str = DEFAULT_METHOD
    version: str = PROTOCOL_VERSION
    levels: tuple[Level, ...] = ()
    asynchronous: bool = False
    streaming: bool = False
    context_aware: bool = False
    cacheable: bool = False
    caching: Caching | None = None
    batch_validation: bool = False
    max_batch_size: int | None = None
    problems: tuple[str, ...] = ()

    @property
    def may_cache(self) -> bool:
        """Whether replies may be kept for the same question: `caching` decides, and without it `cacheable`."""
        return self.caching.enabled if self.caching is not None else self.cacheable

    @property
    def batch_limit(self) -> int | None:
        """The largest number of calls in one request: 1 without batches, None for no limit."""
        return self.max_batch_size if self.batch_validation else 1

    def to_dict(self) -> dict[str, object]:
        """The value of `experimental.toolValidation`, without options that have their default."""
        options: dict[str, object] = {"supported": True, "method": self.method, "version": self.version}
        if self.levels:
            options["levels"] = {level: level in self.levels for level in LEVELS}
        flags = {
            "async": self.asynchronous,
            "streaming": self.streaming,
            "contextAware": self.context_aware,
            "cacheable": self.cacheable,
            "batchValidation": self.batch_validation,
        }
        options.update({name: True for name, is_set in flags.items() if is_set})
        if self.caching is not None:
            options["caching"] = self.caching.to_dict()
        if self.batch_validation and self.max_batch_size is not None:
            options["maxBatchSize"] = self.max_batch_size
        return options


def announcement(capabilities: object) -> Announcement | None:
    """The announcement of `toolValidation` in a server's capabilities. Total.

    Args:
        capabilities: a mapping, or the official SDK's `ServerCapabilities`.

    Returns:
        The announcement, or None if `supported` is not exactly `true`. `experimental` is read before `extensions`,
        because both eras of the protocol have it.

    Example:
        >>> announcement({"experimental": {"toolValidation": {"supported": True, "method": "check"}}}).method
        'check'
    """
    found = members(_copy_as_json(capabilities))
    for home, key in (("experimental", EXPERIMENTAL_KEY), ("extensions", EXTENSION_ID)):
        options = members(members(found.get(home)).get(key))
        if options.get("supported") is True:
            return _read_options(options)
    return None


def has_capability(capabilities: object, path: str) -> bool:
    """Whether a server announces a capability. Total.

    Args:
        capabilities: a mapping, or the official SDK's `ServerCapabilities`.
        path: dotted, such as `experimental.toolValidation.supported`. A key may contain dots itself.

    Returns:
        True if the value is `true`, or an object whose `supported` is `true` or missing; in `toolValidation` it must
        not be missing.

    Example:
        >>> has_capability({"tools": {"listChanged": True}}, "tools.listChanged")
        True
    """
    parts = path.split(".")
    must_say = parts[-1] == EXPERIMENTAL_KEY or EXTENSION_ID.endswith(parts[-1])
    return any(
        leaf.get("supported", not must_say) is True if is_object(leaf) else leaf is True
        for leaf in _leaves(_copy_as_json(capabilities), parts)
    )


def _leaves(value: object, parts: list[str]) -> list[object]:
    """Every value that `parts` may lead to: `a.b` is `b` in `a`, or the key `a.b`."""
    if not parts:
        return [value]
    found: list[object] = []
    for end in range(1, len(parts) + 1):
        key = ".".join(parts[:end])
        if is_object(value) and key in value:
            found += _leaves(value[key], parts[end:])
    return found


def _copy_as_json(capabilities: object) -> object:
    try:
        return as_json(capabilities)
    except Exception:  # noqa: BLE001 - reading foreign objects runs foreign code.
        return None


def _read_options(options: Mapping[str, object]) -> Announcement:
    reader = _OptionsReader(options)
    return Announcement(
        method=reader.text("method", DEFAULT_METHOD),
        version=reader.text("version", PROTOCOL_VERSION),
        levels=reader.levels(),
        asynchronous=reader.flag("async"),
        streaming=reader.flag("streaming"),
        context_aware=reader.flag("contextAware"),
        cacheable=reader.flag("cacheable"),
        caching=reader.caching(),
        batch_validation=reader.flag("batchValidation"),
        max_batch_size=reader.batch_size(),
        problems=tuple(reader.problems),
    )


class _OptionsReader:
    """Reads the options one by one, and collects a sentence for each that cannot be read."""

    def __init__(self, options: Mapping[str, object]) -> None:
        self._options = options
        self.problems: list[str] = []

    def text(self, name: str, default: str) -> str:
        found = self._options.get(name)
        if found is None:
            return default
        if isinstance(found, str) and found.strip():
            return found
        return self._instead(name, "a text", default)

    def flag(self, name: str) -> bool:
        found = self._options.get(name)
        if found is None or isinstance(found, bool):
            return found is True
        return self._instead(name, "true or false", default=False)

    def levels(self) -> tuple[Level, ...]:
        """The levels in an object of booleans, the documented form, or in a list of names."""
        found = self._options.get("levels")
        if found is None:
            return ()
        if is_object(found):
            announced = {name for name, value in found.items() if value is True}
        elif is_array(found):
            announced = set(names(found))
        else:
            return self._instead("levels", "an object of booleans", ())
        return tuple(level for level in LEVELS if level in announced)

    def caching(self) -> Caching | None:
        found = self._options.get("caching")
        if found is None:
            return None
        if not is_object(found):
            return self._instead("caching", "an object", None)
        ttl = number(found.get("ttl"))
        if found.get("ttl") is not None and (ttl is None or ttl < 0):
            # How long a reply is valid is unknown: then it must not be kept.
            return self._instead("caching.ttl", "a number of seconds", Caching())
        return Caching(enabled=found.get("enabled") is True, ttl=ttl, invalidate_on=names(found.get("invalidateOn")))

    def batch_size(self) -> int | None:
        found = self._options.get("maxBatchSize")
        if found is None:
            return None
        size = count(found)
        return size or self._instead("maxBatchSize", "a whole number of at least 1", 1)

    def _instead(self, name: str, wanted: str, default: _Default) -> _Default:
        self.problems.append(f"toolValidation.{name} is not {wanted}.")
        return default


def misannounced(capabilities: object) -> str | None:
    """Return why a server's `toolValidation` capability does not count as an announcement. Never raises.

    Args:
        capabilities: a mapping, or the official SDK's `ServerCapabilities`.

    Returns:
        A sentence; None if the server announces it correctly, denies it (`supported: false`), or omits it.

    Example:
        >>> misannounced({"experimental": {"toolValidation": {"method": "validate"}}})
        'experimental.toolValidation does not say whether it is supported; it should have "supported": true.'
    """
    if announcement(capabilities) is not None:
        return None
    found = members(_copy_as_json(capabilities))
    for home, key in (("experimental", EXPERIMENTAL_KEY), ("extensions", EXTENSION_ID)):
        announced = members(found.get(home))
        if key not in announced:
            continue
        options = announced[key]
        if not is_object(options):
            return f'{home}.{key} is not an object, so official clients fail to connect; send {{"supported": true}}.'
        if "supported" not in options:
            return f'{home}.{key} does not say whether it is supported; it should have "supported": true.'
        if not isinstance(options["supported"], bool):
            return f"{home}.{key} has a 'supported' that is neither true nor false."
    return None
