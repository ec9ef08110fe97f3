"""`EnvelopesKernel`: response envelopes → whether they keep the contract, and where they do not."""

from collections.abc import Callable
from typing import ClassVar, Final

from toolvet.batch.arrow import ArrowSchema, pa
from toolvet.batch.kernel.columns import PROBLEM, InputColumns
from toolvet.batch.kernel.records import JsonRecord, RecordKernel
from toolvet.core.envelope import check_envelope, find_sightings
from toolvet.core.json_value import elements, is_object, members
from toolvet.findings import findings_document

_TEXT: Final = pa.string()
_FINDING: Final = pa.struct(
    [
        ("id", _TEXT),
        ("severity", _TEXT),
        ("confidence", pa.int32()),
        ("pointer", _TEXT),
        ("message", _TEXT),
        ("evidence", _TEXT),
        ("remedy", _TEXT),
    ]
)

ENVELOPES: Final[ArrowSchema] = pa.schema(
    [("valid", pa.bool_()), ("envelopes", pa.int32()), ("findings", pa.list_(_FINDING)), (PROBLEM, _TEXT)]
)
"""The columns of verdicts on envelopes. `envelopes` says how many a row has."""


class EnvelopesKernel(RecordKernel):
    """Judges a column of envelopes, or of results with envelopes in them; its purpose is `envelope`.

    Example:
        >>> batch = pa.record_batch({"envelope": ['{"success": "yes"}']})
        >>> EnvelopesKernel()(batch).column("valid").to_pylist()
        [False]
    """

    schema: ArrowSchema = ENVELOPES
    main: ClassVar[str] = "envelope"

    def judging(self, columns: InputColumns) -> Callable[[int], JsonRecord]:
        """As of `RecordKernel`."""
        values = columns.given("envelope")

        def judge(row: int) -> JsonRecord:
            value = values[row]
            if not is_object(value):
                raise TypeError(f"must be a JSON object, not {type(value).__name__}")
            found: list[tuple[str, object]] = [("", value.get("envelope", value))]
            if "envelope" not in value and "success" not in value:
                found = [(sighting.place, sighting.envelope) for sighting in find_sightings(value)] or found
            findings: list[dict[str, object]] = []
            valid = True
            for place, envelope in found:
                document = findings_document(check_envelope(envelope))
                valid = valid and document["valid"] is True
                entries = map(members, elements(document["findings"]))
                findings += [{**each, "pointer": f"{place}{each['pointer']}"} for each in entries]
            return {"valid": valid, "envelopes": len(found), "findings": findings}

        return judge
