"""Rule: structured content has no text beside it."""

from collections.abc import Iterator

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.ending import Ending, ending
from toolvet.rules.framework import is_empty_list
from toolvet.rules.quote import list_names, show_answer
from toolvet.rules.subject import ObservedCall, ServerSeen
from toolvet.schema.json_value import elements, members

CARD = Card(
    id="text-mirror-missing",
    title="Structured content has no text beside it",
    severity=Severity.INFO,
    looks_for=(
        "A successful result with `structuredContent` and an empty `content` array. The Python SDKs send an empty list "
        "like this, with or without structured content: that is one note for the server."
    ),
    why=(
        "Clients from before protocol 2025-06-18, and many since, pass only `content` on to the model. To them the "
        "result is empty."
    ),
    remedy=(
        'Put the same data as JSON text into a text block: `content: [{type: "text", text: JSON.stringify(data)}]`. '
        "The Python SDKs do it by themselves when a tool returns its value."
    ),
)


def check_call(call: ObservedCall) -> Iterator[Finding]:
    """Report an empty `content`; any block counts as text, because clients pass on media and links as well."""
    result = members(call.result)
    if (
        ending(call) is Ending.SUCCESS
        and result.get("structuredContent") is not None
        and not elements(result.get("content"))
        and not is_empty_list(call)
    ):
        yield CARD.finding(
            message="The result has structured content and no text for clients that read only text.",
            evidence=show_answer(call.result),
        )


def check_server(server: ServerSeen) -> Iterator[Finding]:
    """One note for all tools that answer an empty list without a word, which is how their framework sends it."""
    empty = [call for call in server.calls if is_empty_list(call)]
    names = list(dict.fromkeys(call.tool.name for call in empty))
    if names:
        yield CARD.finding(
            message=f"An empty list has no text for clients that read only text: {list_names(names)}.",
            evidence=show_answer(empty[0].result),
            remedy='Nothing has to be done. A sentence ("No orders match") helps a model more than an empty list.',
        )
