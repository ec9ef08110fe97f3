"""Resources, resource templates, prompts and completion of a server: what it lists is read, what it lacks is asked for.

One request at a time, after the tools, whose results feed the variables. Everything here reads by protocol; a resource
whose name or description says that reading it changes something is left alone. What is asked for is planned in
`resources.py` and `prompts.py`.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from toolvet.assess.excerpt import light
from toolvet.assess.folder import Folder
from toolvet.assess.harvest import Harvest
from toolvet.assess.item_values import ItemSources, Plans, contents_as_call, why_not_read
from toolvet.assess.line import Line
from toolvet.assess.options import Options
from toolvet.assess.prompts import plan_absent_completions, plan_absent_prompts, plan_prompt
from toolvet.assess.requests import AssessedRequest, PlannedRequest, assess_request, observe_request
from toolvet.assess.resources import plan_absent_resources, plan_resource, plan_template
from toolvet.assess.rules import ItemsSeen, ListedItem, ListingSeen, Purpose, judge_item, listed_item
from toolvet.assess.rules.item import METHOD_NOT_FOUND, path_of_uri
from toolvet.findings import Finding, ItemKind
from toolvet.mcp.transport import Answer, ConnectionLost, Listing, McpSession, RpcError, TimedOut

# The capability that announces a list, the method that reads it, and the member of its results.
LISTS: Final[Mapping[ItemKind, tuple[str, str, str]]] = {
    "resource": ("resources", "resources/list", "resources"),
    "resource_template": ("resources", "resources/templates/list", "resourceTemplates"),
    "prompt": ("prompts", "prompts/list", "prompts"),
}
CAPABILITIES: Final = ("resources", "prompts", "completions")
MOST: Final[Mapping[ItemKind, int]] = {"resource": 50, "resource_template": 20, "prompt": 50}
_MOST_SILENT: Final = 2  # Requests without an answer in a row, after which the others of their kind are not sent.
_WITHOUT_PAUSE: Final = 50  # Items that are judged in one go.
_TOO_LARGE: Final = "its entry in the list has more than 1 MiB, and is not judged"
_CURSOR: Final = "toolvet-no-such-cursor"


@dataclass(eq=False)
class ItemRun:
    """One listed item, why it was not asked for, the findings about how it is listed, and the requests about it."""

    item: ListedItem
    skipped: str | None = None
    findings: list[Finding] = field(default_factory=list[Finding])
    requests: list[AssessedRequest] = field(default_factory=list[AssessedRequest])


class ItemsRun:
    """All that a server has beside tools. When the assessment is stopped early, what was seen until then stays here.

    `paths` are the absolute paths that the server has from the caller.
    """

    def __init__(
        self, line: Line, options: Options, capabilities: Mapping[str, object], paths: Sequence[str] = ()
    ) -> None:
        self.announced = tuple(name for name in CAPABILITIES if name in capabilities)
        self.runs: list[ItemRun] = []
        self.listings: list[ListingSeen] = []
        self.others: list[AssessedRequest] = []
        self.left_out = _why_left_out(options)
        self._line = line
        self._options = options
        self._paths = paths
        self._gave_up = ""
        self._silent = 0

    @property
    def seen(self) -> ItemsSeen:
        """Everything, for the rules."""
        requests = [entry.request for run in self.runs for entry in run.requests]
        return ItemsSeen(
            items=tuple(run.item for run in self.runs),
            requests=(*requests, *(entry.request for entry in self.others)),
            listings=tuple(self.listings),
        )

    async def list_all(self) -> None:
        """Read the lists that the server announces."""
        if self.left_out is not None:
            return
        for kind, (capability, method, member) in LISTS.items():
            if capability in self.announced:
                listing = await self._line.list_items(method, member)
                self.listings.append(_listing_seen(kind, method, listing))
                for position, raw in enumerate(listing.tools):
                    if position % _WITHOUT_PAUSE == 0:
                        await asyncio.sleep(0)  # The deadline and Ctrl-C are heard.
                    self.runs.append(self._listed(kind, raw, position))

    def _listed(self, kind: ItemKind, raw: object, position: int) -> ItemRun:
        entry, is_excerpt = light(raw)
        item = listed_item(kind, entry, position)
        return ItemRun(item, _TOO_LARGE) if is_excerpt else ItemRun(item, self._why_skipped(item), [*judge_item(item)])

    async def ask_all(self, harvest: Harvest, folder: Folder | None) -> None:
        """Read, get and complete what is listed, then ask for what does not exist.

        Args:
            harvest: What the tools returned.
            folder: The server's working folder.
        """
        if self.left_out is not None or not self.announced:
            return
        sources = ItemSources(
            options=self._options,
            harvest=harvest,
            folder=folder,
            completes="completions" in self.announced,
            uris=[run.item.identity for run in self.runs if run.item.kind == "resource" and run.skipped is None],
        )
        for kind in LISTS:
            self._silent = 0
            for run in self.runs:
                if run.item.kind == kind and run.skipped is None:
                    if self._gave_up or self._silent >= _MOST_SILENT:
                        run.skipped = self._gave_up or f"{self._silent} requests in a row brought no answer"
                    else:
                        await self._ask(_plans(run.item, sources), run.requests)
            if kind == "resource":
                read = [entry.request for run in self.runs for entry in run.requests if entry.request.succeeded]
                for request in read:
                    harvest.gather([contents_as_call(request)])
        await self._ask_for_absent()

    async def _ask_for_absent(self) -> None:
        """Where nothing is listed, the answer would be the framework's, and nobody would ask."""
        items = [run.item for run in self.runs]
        kinds = {run.item.kind for run in self.runs}
        has_resources, has_prompts = bool(kinds & {"resource", "resource_template"}), "prompt" in kinds
        self._silent = 0
        if has_resources:
            await self._ask(plan_absent_resources(items), self.others)
        if has_prompts:
            await self._ask(plan_absent_prompts(items), self.others)
        if "completions" in self.announced:
            await self._ask(plan_absent_completions(prompts=has_prompts, resources=has_resources), self.others)
        for listing in self.listings:
            if listing.pages > 1:
                plan = PlannedRequest(method=listing.method, params={"cursor": _CURSOR}, purpose=Purpose.BAD_CURSOR)
                await self._ask(_only(plan), self.others)

    def _why_skipped(self, item: ListedItem) -> str | None:
        if not item.identity:
            return "it has no URI" if item.kind != "prompt" else "it has no name"
        if self._options.plan_only:
            return "not sent: --plan-only"
        if item.position >= MOST[item.kind]:
            return f"only the first {MOST[item.kind]} are asked for"
        if any(run.item.kind == item.kind and run.item.identity == item.identity for run in self.runs):
            return "it is listed twice"
        return why_not_read(item) if item.kind != "prompt" else None

    async def _ask(self, plans: Plans, kept: list[AssessedRequest]) -> None:
        """Send one plan after the other; each plan knows what came of the one before it."""
        plan = next(plans, None)
        while plan is not None and not self._gave_up and self._silent < _MOST_SILENT:
            assessed = await self._send(plan)
            kept.append(assessed)
            try:
                plan = plans.send(assessed.request)
            except StopIteration:
                plan = None
        plans.close()

    async def _send(self, plan: PlannedRequest) -> AssessedRequest:
        reply, session = await self._line.request(plan.method, plan.params)
        detail = ""
        if isinstance(reply, TimedOut | ConnectionLost):
            self._silent += 1
            detail = await self._recover(reply, session)
        else:
            self._silent = 0
        request = observe_request(plan, reply, protocol_version=session.protocol_version, detail=detail)
        size = len(reply.raw) if isinstance(reply, Answer) else 0
        return assess_request(plan, request, size, (*self._paths, *self._listed_paths()))

    def _listed_paths(self) -> Iterator[str]:
        """The paths in the URIs that the server lists: it names them itself."""
        for run in self.runs:
            if run.item.kind == "resource" and run.item.identity.startswith("file:"):
                path = path_of_uri(run.item.identity)
                if path.strip("/"):
                    yield path

    async def _recover(self, reply: TimedOut | ConnectionLost, session: McpSession) -> str:
        """Replace the server if it answers nothing else. Returns what that showed."""
        if isinstance(reply, TimedOut) and await self._line.responsive(session):
            return ""
        if not await self._line.renew(session):
            self._gave_up = "not sent: the server did not come back"
        return "meanwhile the server answered nothing else" if isinstance(reply, TimedOut) else ""


def _plans(item: ListedItem, sources: ItemSources) -> Plans:
    if item.kind == "prompt":
        return plan_prompt(item, sources)
    return plan_resource(item) if item.kind == "resource" else plan_template(item, sources)


def _only(plan: PlannedRequest) -> Plans:
    yield plan


def _why_left_out(options: Options) -> str | None:
    if options.tools_only:
        return "left out by --tools-only"
    return "left out by --tool" if options.tools or options.arguments is not None else None


def _listing_seen(kind: ItemKind, method: str, listing: Listing) -> ListingSeen:
    failure = listing.failure
    return ListingSeen(
        method=method,
        kind=kind,
        pages=listing.pages,
        entries=len(listing.tools),
        problems=tuple((problem.kind, problem.evidence) for problem in listing.problems),
        error_code=failure.code if isinstance(failure, RpcError) else None,
    )


def is_without_tools(capabilities: Mapping[str, object], listing: Listing) -> bool:
    """Whether a server is right not to know `tools/list`: it announces other things, and no tools."""
    offers = any(name in capabilities for name in CAPABILITIES)
    unknown = isinstance(listing.failure, RpcError) and listing.failure.code == METHOD_NOT_FOUND
    return offers and "tools" not in capabilities and (unknown or not listing.tools)
