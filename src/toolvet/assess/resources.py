"""Plans for resources: each listed one is read, each template is expanded, and what does not exist is asked for.

A template that makes one of the listed URIs is read there; otherwise its variables get the values that the server
completes, that results of tools held, or that are made up.
"""

from collections.abc import Sequence
from typing import Final

from toolvet.assess.item_values import ItemSources, Plans, complete, parameters_of, sample_values
from toolvet.assess.requests import PlannedRequest
from toolvet.assess.rules import ListedItem, Purpose
from toolvet.assess.rules.uri_template import expand, extract, problems

READ: Final = "resources/read"
UNKNOWN_SCHEME: Final = "toolvet-absent://nothing/here"
NO_URI: Final = "no uri at all"


def plan_resource(item: ListedItem) -> Plans:
    """Read a listed resource once."""
    yield PlannedRequest(method=READ, params={"uri": item.identity}, purpose=Purpose.LISTED, item=item, origin="list")


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
    """Ask for a sibling of a listed resource, for a scheme that does not exist, and for what is no URI."""
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
