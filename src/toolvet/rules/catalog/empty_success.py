"""Rule: a call succeeded, and its result shows nothing."""

from collections.abc import Iterator, Mapping
from typing import Final, cast

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.ending import Ending, ending, is_bad
from toolvet.rules.exercise import asks_for_nothing
from toolvet.rules.framework import is_empty_list
from toolvet.rules.quote import show, show_answer
from toolvet.rules.subject import ObservedCall
from toolvet.schema.json_value import elements, members

CARD = Card(
    id="empty-success",
    title="A success in which nothing can be seen",
    severity=Severity.WARNING,
    looks_for=(
        "A successful result without text, data, media or links: no content, blank text, or nothing but `null` or "
        "`{}`. An empty list, `0` and `false` are answers, and so is nothing for a call that has only empty values."
    ),
    why=(
        'A model cannot tell "done" from "nothing found" and from "nothing happened". It often calls again, or '
        "tells its user what it hoped for."
    ),
    remedy=(
        'Say what happened: "Deleted note 7", "No rows match", or return the changed object. In Python this is most '
        "often a function that ends without `return`, or a look-up that found nothing (`dict.get`)."
    ),
)

_NOTHING: Final = frozenset({"", "null", "none", "{}", "undefined", '""', "''"})


def check_call(call: ObservedCall) -> Iterator[Finding]:
    """Judge valid calls only: `invalid-accepted` reports what the tool should have refused."""
    if ending(call) is not Ending.SUCCESS or is_bad(call) or call.breach is not None:
        return
    if is_empty_list(call) or asks_for_nothing(call):
        return
    result = members(call.result)
    schema = call.tool.output_schema
    # `structured-content-missing` reports structured content that was promised and not sent; what a framework wraps
    # keeps its schema and may be nothing all the same.
    if (schema is not None and not _wraps_a_value(schema)) or not _is_nothing(result.get("structuredContent")):
        return
    blocks = elements(result.get("content"))
    if all(_is_blank(block) for block in blocks):
        how = (
            "has no content"
            if not blocks
            else "consists of blank text"
            if len(blocks) == 1
            else "consists of blank texts"
        )
        if any(str(members(block).get("text", "")).strip() for block in blocks):
            how = f"is nothing but {show(members(blocks[0]).get('text'), 20)}"
        yield CARD.finding(
            message=f"The call succeeded, and the result {how}.",
            evidence=show_answer(call.result),
            confidence=90,
            cause=how,
        )


def _is_blank(block: object) -> bool:
    fields = members(block)
    text = fields.get("text")
    return fields.get("type") == "text" and isinstance(text, str) and text.strip().lower() in _NOTHING


def _wraps_a_value(schema: object) -> bool:
    """Whether an `outputSchema` was made by a framework around what is not an object, and allows more than null."""
    properties = members(members(schema).get("properties"))
    return list(properties) == ["result"] and members(properties["result"]).get("type") != "null"


def _is_nothing(value: object) -> bool:
    """`null`, `{}`, blank text, and `{"result": null}`, as the Python SDKs wrap values that are not objects."""
    if isinstance(value, str):
        return value.strip().lower() in _NOTHING
    if isinstance(value, Mapping):
        wrapped = cast("Mapping[object, object]", value)
        return not wrapped or (list(wrapped) == ["result"] and _is_nothing(wrapped["result"]))
    return value is None
