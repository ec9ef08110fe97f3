"""Rule: tools that say they delete carry no annotation that says so."""

from collections.abc import Iterator

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.destructive import find_deeds
from toolvet.rules.quote import list_names, quote
from toolvet.rules.subject import ServerSeen

CARD = Card(
    id="destructive-unmarked",
    title="Tools that delete do not say destructiveHint",
    severity=Severity.INFO,
    looks_for=(
        "Tools whose name or description says that they delete or overwrite, without `destructiveHint: true`. One "
        "finding for the server names them all. A hint that says the contrary is `annotations-contradict`."
    ),
    why=(
        "Clients ask a person before a call that destroys something. Without the hint they go by the protocol's "
        "default or by none, and many ask nobody."
    ),
    remedy=(
        "Say it: `annotations=ToolAnnotations(readOnlyHint=False, destructiveHint=True)` for what deletes or "
        "overwrites, `readOnlyHint=True` for what only looks."
    ),
)


def check_server(server: ServerSeen) -> Iterator[Finding]:
    """One finding with all such tools, and the reason of the first."""
    found: dict[str, str] = {}
    for tool in server.tools:
        if isinstance(tool.annotations.get("destructiveHint"), bool) or tool.annotations.get("readOnlyHint") is True:
            continue
        reason = next((deed.reason for deed in find_deeds(tool) if deed.destroys and deed.force == "strong"), None)
        if reason is not None and tool.name:
            found.setdefault(tool.name, reason)
    if found:
        first = next(iter(found))
        yield CARD.finding(
            message=f"No annotation says that {list_names(list(found))} may destroy something.",
            evidence=f"{quote(first, 60)}: {quote(found[first], 120)}",
            confidence=80,
        )
