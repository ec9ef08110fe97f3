"""Why a model stopped, in any vendor's words, in one of seven kinds."""

import re
from functools import cache
from typing import Literal

import msgspec

from toolvet.core.discover.toml import read_toml

FinishKind = Literal["complete", "calling", "cut", "filtered", "refused", "unfinished", "failed"]

_SEPARATORS = re.compile(r"[\s-]+")


def finish_kind(reason: str | None) -> FinishKind | None:
    """What a vendor's finish reason says of the answer; None for none, and for one that `finish.toml` does not know.

    Enums of a vendor's library may be given as they print: `FinishReason.MAX_TOKENS`.
    """
    if not reason:
        return None
    return _kinds().get(plain_reason(reason))


def plain_reason(reason: str) -> str:
    """A reason as `finish.toml` writes it: `FinishReason.MAX_TOKENS` is `max_tokens`."""
    return _SEPARATORS.sub("_", f"{reason}".rpartition(".")[2].strip().lower())


class VendorReasons(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One vendor's reasons of one kind, and their proof: how the vendor spells each of them."""

    reasons: list[str]
    hits: list[str]


@cache
def finish_reasons() -> dict[FinishKind, dict[str, VendorReasons]]:
    """What `finish.toml` says: by kind, then by vendor."""
    return read_toml("toolvet.core.checks.answer", "finish.toml", dict[FinishKind, dict[str, VendorReasons]])


@cache
def _kinds() -> dict[str, FinishKind]:
    return {
        reason: kind
        for kind, vendors in finish_reasons().items()
        for vendor in vendors.values()
        for reason in vendor.reasons
    }
