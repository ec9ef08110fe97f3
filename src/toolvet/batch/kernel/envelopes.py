"""`EnvelopesKernel`: response envelopes → whether they keep the contract, and where they do not."""

from collections.abc import Callable
from typing import ClassVar, Final

import msgspec

from toolvet.batch.arrow import ArrowSchema, arrow_fields, pa
from toolvet.batch.kernel.columns import PROBLEM, InputColumns
from toolvet.batch.kernel.records import JsonRecord, RecordKernel
from toolvet.core.envelope import EnvelopeVerdict, check_envelope, find_envelopes
from toolvet.core.json_value import is_object

ENVELOPES: Final[ArrowSchema] = pa.schema(
    [*arrow_fields(EnvelopeVerdict), ("envelopes", pa.int32()), (PROBLEM, pa.string())]
)
"""The columns of verdicts on envelopes: the members of `EnvelopeVerdict`, and how many envelopes a row has."""


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
                found = [(sighting.place, sighting.envelope) for sighting in find_envelopes(value)] or found
            findings = [
                msgspec.structs.replace(each, pointer=f"{place}{each.pointer}")
                for place, envelope in found
                for each in check_envelope(envelope)
            ]
            return {**EnvelopeVerdict(tuple(findings)).to_dict(), "envelopes": len(found)}

        return judge
