"""Values for the variables of a resource template and the arguments of a prompt.

In this order: the user's (`[values]`), what the server completes, what it lists, results of tools, the generator. The
arguments are found as those of a tool are (`values.py`), of which this file makes one: every argument is a string.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from toolvet.assess.folder import Folder
from toolvet.assess.harvest import Harvest
from toolvet.assess.options import Options
from toolvet.assess.requests import PlannedRequest
from toolvet.assess.rules import ListedItem, ObservedCall, ObservedRequest, Outcome, Purpose, ToolDefinition
from toolvet.assess.rules.item import contents_of
from toolvet.assess.rules.uri_template import variables
from toolvet.assess.values import Values
from toolvet.core.checks import check_result
from toolvet.core.json_value import members, names
from toolvet.core.tool_rules import Habits, why_not_called
from toolvet.errors import Unsatisfiable

# Yields the requests to make, one by one; what came of each is sent back.
Plans: TypeAlias = Generator[PlannedRequest, ObservedRequest]
Asking: TypeAlias = Generator[PlannedRequest, ObservedRequest, dict[str, str]]

_MOST_COMPLETED: Final = 5  # Variables or arguments of one item.


@dataclass(frozen=True, kw_only=True)
class ItemSources:
    """What values come from. `completes` says whether the server announces completion; `uris` are those it lists."""

    options: Options
    harvest: Harvest
    folder: Folder | None = None
    completes: bool = False
    uris: Sequence[str] = ()


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
    """Why a resource or template is not read although reading changes nothing by protocol; None where it is."""
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


def complete(item: ListedItem, sources: ItemSources) -> Asking:
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
    """What was read from a resource, as the result of a tool that lists it: its values feed variables and arguments."""
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
