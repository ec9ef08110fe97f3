"""Reads the resources, templates, prompts and skills that a server lists, and asks for some that do not exist.

One request at a time, after the tools, whose results feed the variables. Everything here reads by protocol; a resource
whose name or description says that reading it changes something is left alone.

A template that makes one of the listed URIs is read there. All other variables and arguments get values in this order:
the user's (`[values]`), what the server completes, what it lists, results of tools, the generator. They are found as
the arguments of a tool are (`values.py`): an item is read as a tool whose parameters are strings (`tool_like`).
"""

import asyncio
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from toolvet.assess.connection import RenewableConnection
from toolvet.assess.exchange import light
from toolvet.assess.folder import Folder
from toolvet.assess.harvest import Harvest
from toolvet.assess.judge import CostsOnly
from toolvet.assess.lessons import learn
from toolvet.assess.options import Options
from toolvet.assess.requests import AssessedRequest, PlannedRequest, assess_request, observe_request
from toolvet.assess.rules import (
    ListedItem,
    ObservedCall,
    ObservedItems,
    ObservedListing,
    ObservedRequest,
    Outcome,
    Purpose,
    ToolDefinition,
    judge_item,
    listed_item,
)
from toolvet.assess.rules.item import METHOD_NOT_FOUND, contents_of, expand, extract, path_of_uri, problems, variables
from toolvet.assess.values import Values
from toolvet.core.checks import check_result
from toolvet.core.json_value import elements, is_array, members, names
from toolvet.core.tool_rules import Habits, why_not_called
from toolvet.errors import Unsatisfiable
from toolvet.findings import Finding, ItemKind
from toolvet.mcp.transport import Answer, ConnectionLost, Listing, RpcError, TimedOut

# The capability that announces a list, the method that reads it, and the member of its results.
LISTS: Final[Mapping[ItemKind, tuple[str, str, str]]] = {
    "resource": ("resources", "resources/list", "resources"),
    "resource_template": ("resources", "resources/templates/list", "resourceTemplates"),
    "prompt": ("prompts", "prompts/list", "prompts"),
    # SEP-2640: an extension, under `capabilities.extensions`.
    "skill": ("skills", "skills/list", "skills"),
}
CAPABILITIES: Final = ("resources", "prompts", "completions", "skills")
MOST: Final[Mapping[ItemKind, int]] = {"resource": 50, "resource_template": 20, "prompt": 50, "skill": 20}
_SKILLS: Final = "io.modelcontextprotocol/skills"
_MOST_FILES: Final = 20  # Files of one skill that are read.
_MOST_SILENT: Final = 2  # Requests without an answer in a row, after which the others of their kind are not sent.
_WITHOUT_PAUSE: Final = 50  # Items that are judged in one go.
_TOO_LARGE: Final = "its entry in the list has more than 1 MiB, and is not judged"
_CURSOR: Final = "toolvet-no-such-cursor"
READ: Final = "resources/read"
UNKNOWN_SCHEME: Final = "toolvet-absent://nothing/here"
NO_URI: Final = "no uri at all"
GET: Final = "prompts/get"
GET_SKILL: Final = "skills/get"
ABSENT_PROMPT: Final = "toolvet_no_such_prompt"
_MOST_LESSONS: Final = 2  # Attempts per prompt that obey a refusal.
# Yields the requests to make, one by one; what came of each is sent back.
Plans: TypeAlias = Generator[PlannedRequest, ObservedRequest]
CompletionPlans: TypeAlias = Generator[PlannedRequest, ObservedRequest, dict[str, str]]
_MOST_COMPLETED: Final = 5  # Variables or arguments of one item.


@dataclass(frozen=True, kw_only=True)
class ItemSources:
    """What values come from. `completes` says whether the server announces completion; `uris` are those it lists."""

    options: Options
    harvest: Harvest
    folder: Folder | None = None
    completes: bool = False
    uris: Sequence[str] = ()


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
        self,
        connection: RenewableConnection,
        options: Options,
        capabilities: Mapping[str, object],
        paths: Sequence[str] = (),
    ) -> None:
        self.announced = tuple(name for name in CAPABILITIES if name in offered(capabilities))
        self.runs: list[ItemRun] = []
        self.listings: list[ObservedListing] = []
        self.others: list[AssessedRequest] = []
        self.left_out = "left out by --tool" if options.tools or options.arguments is not None else None
        if options.tools_only:
            self.left_out = "left out by --tools-only"
        self._connection = connection
        self._options = options
        self._paths = paths
        self._gave_up = ""
        self._silent = 0

    @property
    def seen(self) -> ObservedItems:
        """Everything, for the rules."""
        requests = [entry.request for run in self.runs for entry in run.requests]
        return ObservedItems(
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
                listing = await self._connection.list_items(method, member)
                self.listings.append(
                    ObservedListing(
                        method=method,
                        kind=kind,
                        pages=listing.pages,
                        entries=len(listing.tools),
                        problems=tuple((problem.kind, problem.evidence) for problem in listing.problems),
                        error_code=listing.failure.code if isinstance(listing.failure, RpcError) else None,
                    )
                )
                for position, raw in enumerate(listing.tools):
                    if position % _WITHOUT_PAUSE == 0:
                        await asyncio.sleep(0)  # The deadline and Ctrl-C take effect here.
                    entry, is_excerpt = light(raw)
                    item = listed_item(kind, entry, position)
                    if is_excerpt:
                        self.runs.append(ItemRun(item, _TOO_LARGE))
                    else:
                        run = ItemRun(item, self._why_skipped(item))
                        self.runs.append(run)
                        with CostsOnly(run):
                            run.findings.extend(judge_item(item))

    async def ask_all(self, harvest: Harvest, folder: Folder | None) -> None:
        """Read, get and complete everything listed, then ask for things that do not exist.

        Args:
            harvest: The values that the tools returned.
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
                if run.item.kind != kind or run.skipped is not None:
                    continue
                if self._gave_up or self._silent >= _MOST_SILENT:
                    run.skipped = self._gave_up or f"{self._silent} requests in a row brought no answer"
                    continue
                with CostsOnly(run):
                    await self._ask(_plans_of(run.item, sources), run.requests)
            if kind == "resource":
                read = [entry.request for run in self.runs for entry in run.requests if entry.request.succeeded]
                for request in read:
                    harvest.gather([contents_as_call(request)])
        await self._ask_for_absent()

    async def _ask_for_absent(self) -> None:
        """Ask for what does not exist, of each kind that is listed: for other kinds the framework would answer."""
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

    async def ask_from_unknown_cursors(self, tools: Listing) -> None:
        """Ask for each list that has pages from a cursor that the server never gave.

        A server without pages gives no cursors, and most SDKs then ignore one: that is not asked.
        """
        pages = {"tools/list": tools.pages} if not self._options.tools and self._options.arguments is None else {}
        for method, count in {**pages, **{listing.method: listing.pages for listing in self.listings}}.items():
            plan = PlannedRequest(method=method, params={"cursor": _CURSOR}, purpose=Purpose.BAD_CURSOR)
            if count > 1 and not self._gave_up and self._silent < _MOST_SILENT:
                self.others.append(await self._send(plan))

    def _why_skipped(self, item: ListedItem) -> str | None:
        if not item.identity:
            return "it has no name" if item.kind == "prompt" else "it has no URI"
        if self._options.plan_only:
            return "not sent: --plan-only"
        if item.position >= MOST[item.kind]:
            return f"only the first {MOST[item.kind]} are asked for"
        if any(run.item.kind == item.kind and run.item.identity == item.identity for run in self.runs):
            return "it is listed twice"
        return why_not_read(item) if item.kind in ("resource", "resource_template") else None

    async def _ask(self, plans: Plans, kept: list[AssessedRequest]) -> None:
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
        reply, session = await self._connection.request(plan.method, plan.params)
        detail = ""
        if isinstance(reply, TimedOut | ConnectionLost):
            self._silent += 1
            is_back, detail = await self._connection.recover(reply, session)
            if not is_back:
                self._gave_up = "not sent: the server did not come back"
        else:
            self._silent = 0
        request = observe_request(plan, reply, protocol_version=session.protocol_version, detail=detail)
        size = len(reply.raw) if isinstance(reply, Answer) else 0
        # The paths in the URIs that the server lists: it names them itself.
        uris = [run.item.identity for run in self.runs if run.item.kind == "resource"]
        listed = [path_of_uri(uri) for uri in uris if uri.startswith("file:")]
        return assess_request(plan, request, size, (*self._paths, *(path for path in listed if path.strip("/"))))


def offered(capabilities: Mapping[str, object]) -> frozenset[str]:
    """The names of the capabilities; `skills`, which is an extension, among them.

    >>> sorted(offered({"tools": {}, "extensions": {"io.modelcontextprotocol/skills": {}}}))
    ['extensions', 'skills', 'tools']
    """
    extensions = members(capabilities.get("extensions"))
    return frozenset({*capabilities, *(("skills",) if _SKILLS in extensions else ())})


def is_without_tools(capabilities: Mapping[str, object], listing: Listing) -> bool:
    """Whether a server is right not to know `tools/list`: it announces other things, and no tools."""
    offers = any(name in offered(capabilities) for name in CAPABILITIES)
    unknown = isinstance(listing.failure, RpcError) and listing.failure.code == METHOD_NOT_FOUND
    return offers and "tools" not in capabilities and (unknown or not listing.tools)


def _plans_of(item: ListedItem, sources: ItemSources) -> Plans:
    match item.kind:
        case "resource":
            return plan_resource(item)
        case "resource_template":
            return plan_template(item, sources)
        case "prompt":
            return plan_prompt(item, sources)
        case "skill":
            return plan_skill(item)


def plan_resource(item: ListedItem) -> Plans:
    """Read a listed resource once."""
    yield PlannedRequest(method=READ, params={"uri": item.identity}, purpose=Purpose.LISTED, item=item, origin="list")


def plan_skill(item: ListedItem) -> Plans:
    """Get the entry of a skill, and read its files."""
    uris = [
        uri for each in elements(members(item.raw).get("resources")) if isinstance(uri := members(each).get("uri"), str)
    ]
    yield PlannedRequest(
        method=GET_SKILL, params={"uri": item.identity}, purpose=Purpose.LISTED, item=item, origin="list"
    )
    for uri in list(dict.fromkeys([item.identity, *uris]))[:_MOST_FILES]:
        yield _read(item, uri, Purpose.LISTED, "list")


def plan_template(item: ListedItem, sources: ItemSources) -> Plans:
    """Complete the variables of a template, and read one URI that it makes."""
    if problems(item.identity):
        return
    completed = yield from complete(item, sources)
    for uri in sources.uris:
        if not completed and extract(item.identity, uri):
            yield _read(item, uri, Purpose.OFFERED, "list")
            return
    wanted = parameters_of(item)
    values, origin = sample_values(item, sources, completed)
    known = {*completed, *sources.options.values}
    purpose = Purpose.OFFERED if wanted.keys() <= known else Purpose.GUESSED
    yield _read(item, expand(item.identity, values), purpose, origin)


def plan_absent_resources(items: Sequence[ListedItem]) -> Plans:
    """Ask for a sibling of a listed resource, for a scheme that does not exist, and for a text that is not a URI."""
    templates = [item.identity for item in items if item.kind == "resource_template"]
    listed = {item.identity for item in items if item.kind == "resource"}
    bases = [item.identity for item in items if item.kind == "resource" and item.identity]
    sibling = f"{bases[0].partition('?')[0].partition('#')[0].rstrip('/')}-toolvet-absent" if bases else ""
    for uri, purpose in (
        (sibling, Purpose.ABSENT),
        (UNKNOWN_SCHEME, Purpose.UNKNOWN_SCHEME),
        (NO_URI, Purpose.NO_URI),
    ):
        if uri and uri not in listed:
            made = any(extract(template, uri) is not None for template in templates)
            yield PlannedRequest(method=READ, params={"uri": uri}, purpose=purpose, origin="made up", is_generated=made)


def _read(item: ListedItem, uri: str, purpose: Purpose, origin: str) -> PlannedRequest:
    return PlannedRequest(method=READ, params={"uri": uri}, purpose=purpose, item=item, detail=uri, origin=origin)


def plan_prompt(item: ListedItem, sources: ItemSources) -> Plans:
    """Complete the arguments of a prompt, get it with those that it requires, and once without the first of them."""
    completed = yield from complete(item, sources)
    values, origin = sample_values(item, sources, completed)
    known = {*completed, *sources.options.values}
    purpose = Purpose.LISTED if not item.required else Purpose.OFFERED
    if not set(item.required) <= known:
        purpose = Purpose.GUESSED
    request = yield _get(item, values, purpose, origin)
    for _ in range(_MOST_LESSONS):
        lesson = learn(tool_like(item), values, request.error.message) if request.error is not None else None
        if lesson is None or purpose is not Purpose.GUESSED:
            break
        values = {name: str(value) for name, value in lesson.arguments.items()}
        request = yield _get(item, values, purpose, "refusal")
    if item.required:
        missing = item.required[0]
        rest = {name: value for name, value in values.items() if name != missing}
        yield PlannedRequest(
            method=GET,
            params={"name": item.identity, "arguments": rest},
            purpose=Purpose.MISSING_ARGUMENT,
            item=item,
            detail=missing,
            missing=missing,
        )


def plan_absent_prompts(items: Sequence[ListedItem]) -> Plans:
    """Ask for a prompt that does not exist."""
    if ABSENT_PROMPT not in {item.identity for item in items}:
        yield PlannedRequest(method=GET, params={"name": ABSENT_PROMPT}, purpose=Purpose.ABSENT, origin="made up")


def plan_absent_completions(*, prompts: bool, resources: bool) -> Plans:
    """Ask for the values of a prompt and of a template that do not exist, where the server has such things at all."""
    references = (
        (prompts, {"type": "ref/prompt", "name": ABSENT_PROMPT}),
        (resources, {"type": "ref/resource", "uri": "toolvet-absent://{thing}"}),
    )
    for wanted, ref in references:
        if wanted:
            yield PlannedRequest(
                method="completion/complete",
                params={"ref": ref, "argument": {"name": "thing", "value": ""}},
                purpose=Purpose.ABSENT_REFERENCE,
                detail=str(ref["type"]),
                origin="made up",
            )


def _get(item: ListedItem, values: dict[str, str], purpose: Purpose, origin: str) -> PlannedRequest:
    params: dict[str, object] = {"name": item.identity}
    # A prompt that declares arguments gets an object, as clients send it, even where all of them are optional.
    if values or is_array(members(item.raw).get("arguments")):
        params["arguments"] = dict(values)
    return PlannedRequest(method=GET, params=params, purpose=purpose, item=item, origin=origin)


def parameters_of(item: ListedItem) -> Mapping[str, str]:
    """The variables of a template or the arguments of a prompt, with their descriptions."""
    if item.kind == "prompt":
        return {str(argument["name"]): str(argument.get("description") or "") for argument in item.arguments}
    return dict.fromkeys(variables(item.identity), "")


def tool_like(item: ListedItem) -> ToolDefinition:
    """A tool with the name, the description and the parameters of an item, for what is known of tools."""
    parameters = parameters_of(item)
    declared = {
        name: {"type": "string", "minLength": 1, **({"description": words} if words else {})}
        for name, words in parameters.items()
    }
    required = list(item.required) if item.kind == "prompt" else list(parameters)
    schema = {"type": "object", "properties": declared, "required": required}
    name = item.text("name") or item.identity
    return ToolDefinition(
        raw={"name": name},
        name=name,
        description=item.text("description"),
        input_schema=schema,
        annotations={"readOnlyHint": True},
    )


def why_not_read(item: ListedItem) -> str | None:
    """Return why a resource or template is not read, although reading changes nothing by protocol; None if it is."""
    reason = why_not_called(tool_like(item), Habits())
    return None if reason is None else reason.removeprefix("it says readOnlyHint: true, but ")


def sample_values(item: ListedItem, sources: ItemSources, offered: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """The values for all that an item needs, and in words where they came from.

    `offered` are values of the server itself, by name; the user's own are better still.
    """
    try:
        values = Values(tool_like(item), sources.harvest, None, sources.options.values, folder=sources.folder)
        sample = values.required_only()
    except Unsatisfiable:
        return dict(offered), "the server"
    given = {name: str(value) for name, value in sample.arguments.items()}
    better = {name: value for name, value in offered.items() if name in given and name not in sources.options.values}
    origin = sample.origin.replace("schema", "generator")
    return {**given, **better}, f"the server ({', '.join(better)}), {origin}" if better else origin


def complete(item: ListedItem, sources: ItemSources) -> CompletionPlans:
    """Ask for values of each variable or argument. Returns the first value of each that has any, by name."""
    found: dict[str, str] = {}
    if not sources.completes:
        return found
    for name in list(parameters_of(item))[:_MOST_COMPLETED]:
        params: dict[str, object] = {"ref": reference(item), "argument": {"name": name, "value": ""}}
        if found:
            # 2025-06-18: values that were chosen before narrow those that follow.
            params["context"] = {"arguments": dict(found)}
        request = yield PlannedRequest(
            method="completion/complete", params=params, purpose=Purpose.COMPLETION, item=item, detail=name
        )
        values = names(members(members(request.result).get("completion")).get("values")) if request.succeeded else ()
        if values and values[0]:
            found[name] = values[0]
    return found


def contents_as_call(request: ObservedRequest) -> ObservedCall:
    """Return a resource's contents as the result of a tool that lists it: its values feed variables and arguments."""
    name = f"list {request.item.text('name')}" if request.item is not None else "list"
    texts = [entry["text"] for entry in contents_of(request) if isinstance(entry.get("text"), str)]
    result: dict[str, object] = {"content": [{"type": "text", "text": text} for text in texts]}
    return ObservedCall(
        tool=ToolDefinition(raw={"name": name}, name=name),
        arguments={},
        outcome=Outcome.RESULT,
        result=result,
        verdict=check_result({"name": name}, {}, result),
    )


def reference(item: ListedItem) -> dict[str, object]:
    """The `ref` of a completion request for an item."""
    if item.kind == "prompt":
        return {"type": "ref/prompt", "name": item.identity}
    return {"type": "ref/resource", "uri": item.identity}
