"""The words of the contract response-v2 that are not about causes: warnings, levels of fidelity, contract versions.

Error types and error codes are in `toolvet.core.causes`. The schema, the checks, the builders and the converters all
read these two, so a new word is a member and its row.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

VERSION: Final = "response-v2"
FIDELITY_VERSION: Final = "1.0"


class WarningSeverity(StrEnum):
    """How a reader should react to a warning: not at all (info), weigh it (warning), or act before going on (error)."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class WarningCode(StrEnum):
    """The documented warnings."""

    CONTENT_TRUNCATED = "CONTENT_TRUNCATED"
    STALE_CACHE = "STALE_CACHE"
    PARTIAL_FAILURE = "PARTIAL_FAILURE"
    DEPRECATED_FIELD = "DEPRECATED_FIELD"
    RATE_LIMIT_APPROACHING = "RATE_LIMIT_APPROACHING"
    FALLBACK_USED = "FALLBACK_USED"

    @property
    def severity(self) -> WarningSeverity:
        """The default severity of this warning: the builders use it if none is given."""
        return _SEVERITIES[self]


_SEVERITIES: Final[Mapping[WarningCode, WarningSeverity]] = {
    WarningCode.CONTENT_TRUNCATED: WarningSeverity.INFO,
    WarningCode.STALE_CACHE: WarningSeverity.WARNING,
    WarningCode.PARTIAL_FAILURE: WarningSeverity.WARNING,
    WarningCode.DEPRECATED_FIELD: WarningSeverity.INFO,
    WarningCode.RATE_LIMIT_APPROACHING: WarningSeverity.WARNING,
    WarningCode.FALLBACK_USED: WarningSeverity.INFO,
}


class ContentFidelity(StrEnum):
    """How much of the content a response holds, from all of it (full) to mere references."""

    FULL = "full"
    PARTIAL = "partial"
    SUMMARY = "summary"
    REFERENCE_ONLY = "reference_only"


class ResponseContract(StrEnum):
    """The shape of a response that the caller asked for: v1 is the bare payload, v2 the envelope."""

    V1 = "v1"
    V2 = "v2"
