"""Plans for prompts and completion: each prompt is got, then without a required argument; then what does not exist."""

from collections.abc import Sequence
from typing import Final

from toolvet.assess.item_values import ItemSources, Plans, complete, sample_values, tool_like
from toolvet.assess.lessons import learn
from toolvet.assess.requests import PlannedRequest
from toolvet.assess.rules import ListedItem, Purpose
from toolvet.core.json_value import is_array, members

GET: Final = "prompts/get"
ABSENT_PROMPT: Final = "toolvet_no_such_prompt"
_MOST_LESSONS: Final = 2  # Attempts per prompt that obey a refusal.


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
