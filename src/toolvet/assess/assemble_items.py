"""The part of the report about resources, resource templates, prompts and completion, and the findings about them."""

from collections.abc import Iterator, Sequence

import msgspec

from toolvet.assess.exchange import shown_text
from toolvet.assess.items import ItemRun, ItemsRun
from toolvet.assess.report.document import Item, ItemRequest, Items
from toolvet.assess.requests import numbered
from toolvet.assess.rules import judge_items
from toolvet.core.redact import redact_text
from toolvet.findings import Finding, ItemKind


def build_items(run: ItemsRun | None) -> Items:
    """What the report says of everything beside tools; an empty section for a run that ended before."""
    if run is None:
        return Items()
    published = _publish(run)
    built = [(entry.item.kind, _build_item(entry, published)) for entry in run.runs]

    def of(kind: ItemKind) -> list[Item]:
        return [item for found, item in built if found == kind]

    return Items(
        announced=list(run.announced),
        left_out=run.left_out,
        resources=of("resource"),
        resource_templates=of("resource_template"),
        prompts=of("prompt"),
        others=[published[id(entry)] for entry in run.others],
    )


def find_in_items(run: ItemsRun, command: str) -> Iterator[Finding]:
    """The findings about the lists, the items and the requests; `command` shows them again."""
    published = _publish(run)
    for entry in run.runs:
        yield from _with(entry.findings, command)
    for assessed in [request for entry in run.runs for request in entry.requests] + run.others:
        yield from _with(assessed.findings, command, published[id(assessed)].id)
    yield from _with(judge_items(run.seen), command)


def _publish(run: ItemsRun) -> dict[int, ItemRequest]:
    """The requests as the report shows them, by the identity of the object that was kept."""
    requests = [request for entry in run.runs for request in entry.requests] + run.others
    return {id(assessed): numbered(assessed, number) for number, assessed in enumerate(requests, start=1)}


def _build_item(entry: ItemRun, published: dict[int, ItemRequest]) -> Item:
    item = entry.item
    requests = [published[id(assessed)] for assessed in entry.requests]
    exercised = any(assessed.request.is_valid and assessed.request.succeeded for assessed in entry.requests)
    return Item(
        kind=item.kind,
        identity=shown_text(item.identity) or f"(entry {item.position + 1})",
        exercised=exercised,
        why_not=None if exercised else _why_not(entry, requests),
        name=shown_text(item.text("title") or item.text("name")),
        description=shown_text(item.text("description")),
        mime_type=shown_text(item.text("mimeType")),
        requests=requests,
    )


def _why_not(entry: ItemRun, requests: Sequence[ItemRequest]) -> str:
    if entry.skipped is not None:
        return redact_text(entry.skipped)
    tried = [
        request.note
        for request, assessed in zip(requests, entry.requests, strict=True)
        if assessed.request.is_valid and not assessed.request.succeeded
    ]
    return tried[0] if tried else "not asked for: the run ended before"


def _with(findings: Sequence[Finding], command: str, request: str | None = None) -> Iterator[Finding]:
    for finding in findings:
        item = None if finding.item is None else redact_text(finding.item)
        yield msgspec.structs.replace(finding, item=item, reproduce=command, scenario=request)
