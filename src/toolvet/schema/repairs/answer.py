"""What answers a violation: operations at one place, and how sure they are."""

import msgspec

from toolvet.schema.json_value import Path
from toolvet.schema.repairs.confidence import Confidence
from toolvet.schema.repairs.operation import Operation


class PathPatch(msgspec.Struct, frozen=True, kw_only=True):
    """Operations that change nothing outside `path`, in their order."""

    path: Path
    operations: tuple[Operation, ...]
    confidence: Confidence
    cost: int = 0
