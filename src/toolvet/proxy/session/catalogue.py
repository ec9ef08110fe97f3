"""Knowledge of a server that a caller's sessions share: its tools, its announcement, and the calls that keep failing.

A session on a pipe has one `Catalogue` of its own. Over HTTP the exchanges of one caller share one. The specification
forbids showing a list to another caller (MCP 2026-07-28, caching), so never share it between callers. `effect_of` says
what a listed tool does to the world; `ResultCache` has the whole texts behind results that were shortened.
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal, cast

from toolvet.core.checks import Announcement, announcement, misannounced
from toolvet.core.json_value import elements, is_object, members, number
from toolvet.core.meta import SERVER_INFO_KEY
from toolvet.core.schema import Schema, compiled
from toolvet.core.tools import ToolHandle, handle_of, variant_schemas, view_of
from toolvet.errors import ArchiveError, ContentMissingError
from toolvet.proxy.session.repeats import Breaker, Effect, RepeatWatch, asks_for_a_state

if TYPE_CHECKING:
    from toolvet.core.envelope import ContentArchive

_MOST_TOOLS: Final = 100_000
_LOOKS: Final = 10
# The official SDK sends 0 by default, and reading the list before each call would double the calls.
_LEAST_LIFETIME_MS: Final = 30_000
_MOST_ABSENT: Final = 1024
# The tool that returns what a shortened result left out, and its name where the server has a tool of the first.
_RETRIEVAL_TOOLS: Final = ("retrieve_result", "toolvet_retrieve_result")
# Whether a server annotates its tools shows early.
_MOST_LOOKED_AT: Final = 1_000
KEPT_BYTES: Final = 64 << 20
"""What all kept results of a process may take together, as JSON."""
_MOST_IDS: Final = 10_000
_ID_DIGITS: Final = 12


class KnownTool:
    """A tool as its server defined it; what every call needs of it is computed once.

    `is_reported` is set once a schema that cannot be used is on record. `drift` says how the definition differs from
    the lock: empty if it does not, None if it was not compared. `steers` says likewise what its texts do to the model.
    """

    __slots__ = (
        "_handle",
        "_plain_handle",
        "_promises",
        "_promising_handle",
        "_schema",
        "definition",
        "drift",
        "effect",
        "envelopes",
        "is_reported",
        "name",
        "read_only",
        "steers",
        "unread_form",
    )

    def __init__(self, name: str, definition: Mapping[str, object]) -> None:
        self.name = name
        self.definition = definition
        self.read_only = members(definition.get("annotations")).get("readOnlyHint") is True
        self._plain_handle: ToolHandle | None = None
        self._promising_handle: ToolHandle | None = None
        self._handle: ToolHandle | None = None
        self._schema: Schema | None = None
        self._promises: bool | None = None
        self.is_reported = False
        self.drift: str | None = None
        self.steers: str | None = None
        # Its effect on the world, once that was asked for.
        self.effect: Effect | None = None
        # How its results carry envelopes; None if none did so far.
        self.envelopes: Literal["json", "prose"] | None = None
        # This many more results are looked at for that: a tool that began without envelopes mostly goes on without.
        self.unread_form = _LOOKS

    @property
    def handle(self) -> ToolHandle:
        """The definition as checks read it, once for all calls."""
        if self._handle is None:
            self._handle = handle_of(view_of(self.definition))
        return self._handle

    @property
    def schema(self) -> Schema:
        """The inputSchema, compiled when the tool is first called."""
        if self._schema is None:
            document = self.definition.get("inputSchema")
            self._schema = compiled(True if document is None else document)
        return self._schema

    @property
    def promises_output(self) -> bool:
        """Whether the tool has schemas of results that compile: another one must not fail any result."""
        if self._promises is None:
            document = self.definition.get("outputSchema")
            schemas = variant_schemas(self.definition.get("outputVariants")) if document is None else [document]
            self._promises = bool(schemas) and all(compiled(each).problem is None for each in schemas)
        return self._promises

    def handle_for_result(self, *, has_promise: bool) -> ToolHandle:
        """The definition as the check of results reads it: with its outputSchema, or without."""
        if not has_promise:
            if self._plain_handle is None:
                plain = {"name": self.name, "inputSchema": self.definition.get("inputSchema")}
                self._plain_handle = ToolHandle(view_of(plain), None)
            return self._plain_handle
        if self._promising_handle is None:
            view = view_of(self.definition)
            schema = view.output_schema
            self._promising_handle = ToolHandle(view, None, None if schema is None else compiled(schema))
        return self._promising_handle

    @property
    def problem(self) -> str | None:
        """Why calls of this tool pass unchecked, in a sentence; None if they are checked."""
        problem = self.schema.problem
        return None if problem is None else f"The inputSchema of '{self.name}' cannot be used: {problem.message}"

    def note_form(self, form: Literal["json", "prose"] | None) -> None:
        """Note how a result carried an envelope, None if it had none."""
        self.envelopes = form
        self.unread_form = 0 if form is not None else self.unread_form - 1

    def is_mirrored(self, argument: str) -> bool:
        """Whether HTTP clients repeat this argument in a header (`x-mcp-header`), which a repair cannot change."""
        properties = members(members(self.definition.get("inputSchema")).get("properties"))
        return "x-mcp-header" in members(properties.get(argument))


class Catalogue:
    """Knowledge about a server, from the messages that passed.

    `tools` may hold only some of the tools: see `lacks`. `stamp` is the server's identity, which it puts into every
    result in the modern era. `generation` counts how often the list was forgotten; `is_complete` is set when every page
    was read since. `is_ours_announced` is set when this proxy's `validate` was announced in place of the server's.
    `client_capabilities` are those of the client's `initialize`.
    """

    def __init__(self) -> None:
        self.tools: dict[str, KnownTool] = {}
        self.announcement: Announcement | None = None
        self.is_ours_announced = False
        self.stamp: Mapping[str, object] = {}
        self.client_capabilities: object = None
        self.lifetime_ms: int | None = None
        self.breaker = Breaker()
        self.repeats = RepeatWatch()
        # Whether all calls are those of one conversation; then one that repeats another may be of a model in a circle.
        self.is_one_conversation = True
        # The whole texts of results that were shortened for this caller; None if no policy shortens anything.
        self.result_cache: ResultCache | None = None
        self.generation = 0
        self.is_complete = False
        # Definitions that were compared with the lock and read for steering: each finding is reported once.
        self.drifts: dict[str, tuple[Mapping[str, object], str]] = {}
        self.steering: dict[str, tuple[Mapping[str, object], str, frozenset[str]]] = {}
        self._absent: set[str] = set()
        self._reading: dict[str, KnownTool] = {}
        self._next: str | None = None

    @property
    def retrieval_tool(self) -> str:
        """The name of our tool that returns what a shortened result left out."""
        first, other = _RETRIEVAL_TOOLS
        return other if first in self.tools else first

    def lacks(self, tool: str) -> bool:
        """Whether the list has to be read before this tool is known."""
        return tool not in self.tools and tool not in self._absent

    def effect_of(self, tool: KnownTool | None) -> Effect:
        """Return what calls of this tool do to the world; `changes` where the list does not tell."""
        if tool is None:
            return "changes"
        if tool.effect is None:
            listed = (known.definition for known in self.tools.values())
            tool.effect = "changes" if asks_for_a_state(tool.name) else effect_of(tool.definition, listed)
        return tool.effect

    def forget(self) -> None:
        """Forget the tools: the list changed, or is older than the server allows."""
        self.tools = {}
        self.generation += 1
        self.lifetime_ms = None
        self.is_complete = False
        self._absent.clear()
        self._reading = {}
        self._next = None

    def forget_calls(self) -> None:
        """Forget which calls fail or bring nothing new."""
        self.breaker.clear()
        self.repeats.clear()

    def learn(self, cursor: object, result: object) -> str | None:
        """Keep a page of tools/list that was asked for with this cursor. Returns the cursor of the next page, if any.

        Of two tools of one name the first counts. When all pages were read in a row, tools that are on none of them
        are removed.
        """
        page = members(result)
        if cursor is None:
            self._reading = {}
        for definition in elements(page.get("tools")):
            name = members(definition).get("name")
            if is_object(definition) and isinstance(name, str) and len(self._reading) < _MOST_TOOLS:
                self._reading.setdefault(name, KnownTool(name, definition))
        meta = members(page.get("_meta"))
        if SERVER_INFO_KEY in meta:
            self.stamp = {SERVER_INFO_KEY: meta[SERVER_INFO_KEY]}
        lifetime = number(page.get("ttlMs"))
        if lifetime is not None and lifetime >= 0:
            known, ttl = self.lifetime_ms, max(int(lifetime), _LEAST_LIFETIME_MS)
            self.lifetime_ms = ttl if known is None else min(known, ttl)
        given = page.get("nextCursor")
        # An empty cursor is a cursor; only its absence ends the list.
        following = given if isinstance(given, str) else None
        in_row = cursor is None or cursor == self._next
        # A row that did not begin with the first page, or was broken, completes nothing.
        self._next = following if in_row else None
        if in_row and following is None:
            self.tools = self._reading
            self.is_complete = True
            self._absent.clear()
        else:
            self.tools = {**self.tools, **self._reading}
        if self._next is None:
            self._reading = {}
        return following

    def miss(self, tool: str) -> None:
        """Note that the list does not have this tool, or could not be read, so that it is not read again for it."""
        if tool not in self.tools and len(self._absent) < _MOST_ABSENT:
            self._absent.add(tool)

    def read_capabilities(self, capabilities: object) -> bool:
        """Keep what the server announces. Returns whether it has tools and does not announce validation."""
        self.announcement = announcement(capabilities)
        silent = self.announcement is None and misannounced(capabilities) is None
        return silent and "tools" in members(capabilities)


def effect_of(definition: Mapping[str, object], listed: Iterable[Mapping[str, object]]) -> Effect:
    """Return the effect of the tool of this definition, on the list `listed`.

    >>> effect_of({"name": "search_books"}, [{"name": "search_books"}, {"name": "add_book"}])
    'reads'
    >>> effect_of({"name": "set_title", "annotations": {"idempotentHint": True}}, [])
    'sets'
    """
    # Only a call that was made before asks: most connections load none of this.
    from toolvet.core.tool_rules import habits_of, tool_definition, why_not_called  # noqa: PLC0415

    habits = habits_of([tool_definition(each) for each in islice(listed, _MOST_LOOKED_AT)])
    if why_not_called(tool_definition(definition), habits) is None:
        return "reads"
    # MCP 2025-06-18, ToolAnnotations: calling it again with the same arguments has no additional effect.
    return "sets" if members(definition.get("annotations")).get("idempotentHint") is True else "changes"


class ResultCache:
    """The whole texts behind shortened results: those of one caller, in an archive that all callers of a process share.

    Args:
        archive: What holds the texts, and lets go of the oldest. An id says nothing to other callers.
    """

    def __init__(self, archive: "ContentArchive") -> None:
        self._archive = archive
        self._hashes: dict[str, str] = {}

    def keep(self, text: str) -> str | None:
        """Keep a text. Returns its id; None if it is larger than the archive may be."""
        try:
            content_hash = self._archive.put(text)
        except (ArchiveError, ValueError):
            return None
        id_ = content_hash.removeprefix("sha256:")[:_ID_DIGITS]
        self._hashes.pop(id_, None)
        self._hashes[id_] = content_hash
        if len(self._hashes) > _MOST_IDS:
            del self._hashes[next(iter(self._hashes))]
        return id_

    def get(self, id_: str) -> str | None:
        """Return the text of this id; None for one that is not known, or no longer."""
        content_hash = self._hashes.get(id_)
        if content_hash is None:
            return None
        try:
            return cast("str", self._archive.get(content_hash))
        except ContentMissingError:
            del self._hashes[id_]
            return None
