"""What a server says of its validation: `experimental.toolValidation`, or the extension in MCP 2026-07-28.

    {"experimental": {"toolValidation": {"supported": true, "method": "validate", "version": "1.0"}}}

The values of `experimental` and `extensions` must be objects (MCP schema, ServerCapabilities): a bare `true` makes
official clients fail to connect, and is no announcement.
"""

from collections.abc import Mapping
from typing import Final, Literal, TypeVar

import msgspec

from toolvet.checks.capability.foreign_json import plain
from toolvet.schema.json_value import count, is_array, is_object, members, names, number

EXPERIMENTAL_KEY: Final = "toolValidation"
EXTENSION_ID: Final = "dev.toolvet/tool-validation"
DEFAULT_METHOD: Final = "validate"
PROTOCOL_VERSION: Final = "1.0"

Level = Literal["syntax", "semantic", "runtime", "security"]
"""How deep a check looks: the types, the sense, the state of the world, the policy."""
LEVELS: Final[tuple[Level, ...]] = ("syntax", "semantic", "runtime", "security")

_Default = TypeVar("_Default")


class Caching(msgspec.Struct, frozen=True, kw_only=True):
    """How long a reply holds. `ttl` is in seconds, None for no end; `invalidate_on` names what ends it earlier."""

    enabled: bool = False
    ttl: float | None = None
    invalidate_on: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """As it stands in the announcement."""
        ttl = {} if self.ttl is None else {"ttl": self.ttl}
        events = {"invalidateOn": list(self.invalidate_on)} if self.invalidate_on else {}
        return {"enabled": self.enabled, **ttl, **events}


class Announcement(msgspec.Struct, frozen=True, kw_only=True):
    """A server that validates, and how. Options that it left out, or said in another shape, have their default.

    `levels` is empty when the server did not say. `problems` has a sentence for every option that could not be read.
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
        """Whether the same question may be answered from memory: `caching` decides, and without it `cacheable`."""
        return self.caching.enabled if self.caching is not None else self.cacheable

    @property
    def batch_limit(self) -> int | None:
        """How many calls one request may ask about: 1 without batches, None for no limit."""
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
    """The announcement in a server's capabilities: a mapping, or the official SDK's `ServerCapabilities`.

    None when there is none: `supported` must be `true` and nothing else. `experimental` goes first: it is what both
    eras of the protocol carry. Total.
    """
    found = members(_plain(capabilities))
    for home, key in (("experimental", EXPERIMENTAL_KEY), ("extensions", EXTENSION_ID)):
        options = members(members(found.get(home)).get(key))
        if options.get("supported") is True:
            return _read(options)
    return None


def has_capability(capabilities: object, path: str) -> bool:
    """Whether the dotted `path`, such as `experimental.toolValidation.supported`, is announced.

    A leaf is announced when it is `true`, or an object that does not deny it: `supported`, where it stands, must be
    `true`, and `toolValidation` must have it. A key may have dots itself. Total.
    """
    parts = path.split(".")
    return any(_announces(leaf, parts[-1]) for leaf in _leaves(_plain(capabilities), parts))


def _leaves(value: object, parts: list[str]) -> list[object]:
    """Every value that the parts may lead to: `a.b` is `b` in `a`, or the key `a.b`."""
    if not parts:
        return [value]
    found: list[object] = []
    for end in range(1, len(parts) + 1):
        key = ".".join(parts[:end])
        if is_object(value) and key in value:
            found += _leaves(value[key], parts[end:])
    return found


def _announces(leaf: object, name: str) -> bool:
    if is_object(leaf):
        must_say = name == EXPERIMENTAL_KEY or EXTENSION_ID.endswith(name)
        return leaf.get("supported", not must_say) is True
    return leaf is True


def _plain(capabilities: object) -> object:
    try:
        return plain(capabilities)
    except Exception:  # noqa: BLE001 - foreign objects run foreign code when they are looked at.
        return None


def _read(options: Mapping[str, object]) -> Announcement:
    reading = _OptionsReader(options)
    return Announcement(
        method=reading.text("method", DEFAULT_METHOD),
        version=reading.text("version", PROTOCOL_VERSION),
        levels=reading.levels(),
        asynchronous=reading.flag("async"),
        streaming=reading.flag("streaming"),
        context_aware=reading.flag("contextAware"),
        cacheable=reading.flag("cacheable"),
        caching=reading.caching(),
        batch_validation=reading.flag("batchValidation"),
        max_batch_size=reading.batch_size(),
        problems=tuple(reading.problems),
    )


class _OptionsReader:
    """The options one by one, and what is wrong with them."""

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
        """As an object of booleans, the documented form, or as a list of names."""
        found = self._options.get("levels")
        if found is None:
            return ()
        if is_object(found):
            said = {name for name, value in found.items() if value is True}
        elif is_array(found):
            said = set(names(found))
        else:
            return self._instead("levels", "an object of booleans", ())
        return tuple(level for level in LEVELS if level in said)

    def caching(self) -> Caching | None:
        found = self._options.get("caching")
        if found is None:
            return None
        if not is_object(found):
            return self._instead("caching", "an object", None)
        ttl = number(found.get("ttl"))
        if found.get("ttl") is not None and (ttl is None or ttl < 0):
            # Nobody knows how long a reply holds: then it does not hold at all.
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
    """Why the `toolValidation` in a server's capabilities announces nothing, in a sentence.

    None when it is announced as it should be, denied (`supported: false`), or not there at all. Total.
    """
    if announcement(capabilities) is not None:
        return None
    try:
        found = members(plain(capabilities))
    except Exception:  # noqa: BLE001 - foreign objects run foreign code when they are looked at.
        return None
    for home, key in (("experimental", EXPERIMENTAL_KEY), ("extensions", EXTENSION_ID)):
        said = members(found.get(home))
        if key in said and (problem := _problem(said[key])) is not None:
            return f"{home}.{key} {problem}"
    return None


def _problem(options: object) -> str | None:
    if not is_object(options):
        return 'is no object, so official clients fail to connect; it should be {"supported": true}.'
    if "supported" not in options:
        return 'does not say whether it is supported; it should have "supported": true.'
    if isinstance(options["supported"], bool):
        return None
    return "has a 'supported' that is neither true nor false."
