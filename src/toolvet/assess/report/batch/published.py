"""The documents of batches as other programs meet them: their JSON Schemas, made from the types."""

from typing import Final

import msgspec

from toolvet.assess.report.batch.document import BatchReport, ComparisonReport
from toolvet.assess.report.published import publish

BATCH_FILE: Final = "toolvet-batch-1.schema.json"
COMPARISON_FILE: Final = "toolvet-batch-comparison-1.schema.json"


def batch_schema() -> dict[str, object]:
    """JSON Schema 2020-12 of a summary. Unknown fields are allowed: within version 1 fields are added."""
    return _schema(BatchReport, "urn:toolvet:batch:1", "toolvet batch, version 1", "`toolvet batch … --report json=`")


def comparison_schema() -> dict[str, object]:
    """JSON Schema 2020-12 of a comparison. Unknown fields are allowed, as in a summary."""
    title = "toolvet batch comparison, version 1"
    return _schema(ComparisonReport, "urn:toolvet:batch-comparison:1", title, "`toolvet batch compare --report json=`")


def _schema(kind: type[msgspec.Struct], name: str, title: str, written_by: str) -> dict[str, object]:
    (root,), definitions = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    head: dict[str, object] = {"$id": name, "title": title, "description": f"What {written_by} writes.", **root}
    return publish(head, definitions, named={kind.__name__})
