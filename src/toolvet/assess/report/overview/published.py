"""The overview as other programs meet it: its JSON Schema, made from the document's types."""

from typing import Final

import msgspec

from toolvet.assess.report.overview.document import ServersOverview
from toolvet.assess.report.published import publish

OVERVIEW_FILE: Final = "toolvet-overview-1.schema.json"


def overview_schema() -> dict[str, object]:
    """JSON Schema 2020-12 of `overview.json`. Unknown fields are allowed: within version 1 fields are added."""
    (root,), definitions = msgspec.json.schema_components([ServersOverview], ref_template="#/$defs/{name}")
    head: dict[str, object] = {
        "$id": "urn:toolvet:overview:1",
        "title": "toolvet overview, version 1",
        "description": "What `toolvet assess --into FOLDER` writes as `overview.json`: many servers at a glance.",
        **root,
    }
    return publish(head, definitions, named={ServersOverview.__name__})
