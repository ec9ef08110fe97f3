"""What the contract recommends and a schema cannot say: findings below an error, for an envelope that may be legal."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from toolvet.envelope.contract.table import META
from toolvet.envelope.json_copy import step
from toolvet.envelope.contract.shapes import ContractViolation, is_array, is_members, strings, told
from toolvet.envelope.check.misspelling import meant
from toolvet.envelope.contract.vocabulary import FIDELITY_VERSION, ErrorCode, ErrorType, WarningCode
from toolvet.findings import Severity


class Advice(NamedTuple):
    """A breach of what is recommended. `id` is that of the check in the catalogue, `confidence` from 0 to 100."""

    id: str
    severity: Severity
    breach: ContractViolation
    confidence: int = 95


class Parts(NamedTuple):
    """An envelope taken apart; what is no object is empty."""

    success: object
    data: Mapping[str, object]
    meta: Mapping[str, object]


Advisor = Callable[[Parts], Iterator[Advice]]
_NOTHING: Mapping[str, object] = {}


def advice(envelope: Mapping[str, object]) -> Iterator[Advice]:
    """All of it, in the order of the members. Total."""
    data, meta = envelope.get("data"), envelope.get("meta")
    parts = Parts(
        envelope.get("success"), data if is_members(data) else _NOTHING, meta if is_members(meta) else _NOTHING
    )
    if parts.success is False:
        yield from _failure(parts)
    elif parts.success is True and "error_code" in parts.data and "error_type" in parts.data:
        problem = "data holds error_code and error_type, although success is true"
        remedy = "Set success to false and say in error what went wrong, or name the members otherwise."
        breach = ContractViolation("/data/error_code", problem, remedy, parts.data["error_code"])
        yield Advice("envelope-contradiction", Severity.WARNING, breach, 85)
    if not _MISPLACED.isdisjoint(parts.data):
        yield from _misplaced(parts)
    if parts.meta.keys() - META.fields.keys():
        yield from _misspelt_metadata(parts)
    for name, advisor in _ADVISORS.items():
        if name in parts.meta:
            yield from advisor(parts)


def _failure(parts: Parts) -> Iterator[Advice]:
    code, kind = parts.data.get("error_code"), parts.data.get("error_type")
    for name, value in (("error_code", code), ("error_type", kind)):
        if value is None and name not in parts.data:
            breach = ContractViolation(
                f"/data/{name}", f"{name} is missing", f"Add {name}: programs tell errors apart by it."
            )
            yield Advice("envelope-code-unclear", Severity.INFO, breach)
    if isinstance(code, str) and code not in _CODES:
        yield from _own_code(code)
    if isinstance(kind, str) and kind not in _TYPES and kind.strip():
        similar = meant(kind, _TYPES)
        problem = f"error_type {told(kind)} is not one of the documented types"
        if similar is None:
            remedy = f"Clients that route by error_type know {', '.join(_TYPES)}: use one of these if it fits."
            yield Advice(
                "envelope-code-unclear", Severity.INFO, ContractViolation("/data/error_type", problem, remedy, kind)
            )
        else:
            breach = ContractViolation("/data/error_type", problem, f'Did you mean "{similar}"?', kind)
            yield Advice("envelope-code-unclear", Severity.WARNING, breach)
    limits = parts.meta.get("rate_limit")
    hint, other = parts.data.get("retry_after_seconds"), limits.get("retry_after") if is_members(limits) else None
    if isinstance(hint, int | float) and isinstance(other, int | float) and hint != other:
        problem = f"retry_after_seconds is {told(hint)}, but meta.rate_limit.retry_after is {told(other)}"
        breach = ContractViolation(
            "/data/retry_after_seconds", problem, "Give the same number of seconds in both places.", hint
        )
        yield Advice("envelope-contradiction", Severity.WARNING, breach)


def _own_code(code: str) -> Iterator[Advice]:
    if code in _ALIASES:
        remedy = f"The documented code for this is {_ALIASES[code]}: clients know it."
        breach = ContractViolation(
            "/data/error_code", f"error_code {code} is another name for {_ALIASES[code]}", remedy, code
        )
        yield Advice("envelope-code-unclear", Severity.INFO, breach)
        return
    similar = meant(code, _CODES)
    if similar is not None:
        problem = f"error_code {told(code)} is not documented, but looks like {similar}"
        breach = ContractViolation("/data/error_code", problem, f'Did you mean "{similar}"?', code)
        yield Advice("envelope-code-unclear", Severity.WARNING, breach)
    elif _SCREAMING(code) is None and code.strip():
        problem = f"error_code {told(code)} is not in SCREAMING_SNAKE_CASE"
        breach = ContractViolation(
            "/data/error_code", problem, "Write capitals and underscores, such as BOOK_LOST.", code
        )
        yield Advice("envelope-code-unclear", Severity.WARNING, breach)


_CODES = tuple(code.value for code in ErrorCode)
_TYPES = tuple(kind.value for kind in ErrorType)
_ALIASES = {alias: code.value for code in ErrorCode for alias in code.aliases}
_SCREAMING = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*").fullmatch

# Members of `data` that belong into `meta`, and how sure that is: a tool may have a business with requests.
_BELONGS: Mapping[str, tuple[str, int]] = {
    "request_id": ("request_id", 60),
    "warning_details": ("warning_details", 90),
    "pagination": ("pagination", 90),
    "rate_limit": ("rate_limit", 80),
    "telemetry": ("telemetry", 75),
    "content_fidelity": ("content_fidelity", 95),
    "content_fidelity_schema_version": ("content_fidelity_schema_version", 95),
    "dropped_content_ids": ("dropped_content_ids", 95),
    "content_archive_hashes": ("content_archive_hashes", 95),
    "has_more": ("pagination", 85),
    "next_cursor": ("pagination", 90),
    "truncated": ("content_fidelity", 80),
}
_MISPLACED = frozenset(_BELONGS)


def _misplaced(parts: Parts) -> Iterator[Advice]:
    for name, value in parts.data.items():
        # What `meta` has as well is said twice, not misplaced; `truncated: false` says nothing that is missing.
        if name not in _BELONGS or _BELONGS[name][0] in parts.meta or (name == "truncated" and value is not True):
            continue
        home, confidence = _BELONGS[name]
        breach = ContractViolation(
            f"/data/{name}",
            f"{name} stands under data, where clients take it for payload",
            f"Move it to meta.{home}, where every client looks for it.",
            value,
        )
        yield Advice("envelope-metadata-misplaced", Severity.WARNING, breach, confidence)


def _misspelt_metadata(parts: Parts) -> Iterator[Advice]:
    for name, _ in strings(parts.meta):
        if name not in META.fields and (similar := meant(name, META.fields)) is not None:
            breach = ContractViolation(
                f"/meta/{step(name)}", f"meta has no {name:.80}", f'Did you mean "{similar}"?', name
            )
            yield Advice("envelope-metadata-misplaced", Severity.WARNING, breach)


def _pagination(parts: Parts) -> Iterator[Advice]:
    paging = parts.meta["pagination"]
    # A member that we do not know may be the way on: a page number, an offset, a link.
    if (
        is_members(paging)
        and paging.get("has_more") is True
        and paging.get("cursor") is None
        and paging.keys() <= _PAGING
    ):
        breach = ContractViolation(
            "/meta/pagination",
            "has_more is true, but there is no cursor to go on with",
            "Add the cursor of the next page, or set has_more to false.",
            paging,
        )
        yield Advice("envelope-hint-unusable", Severity.WARNING, breach)


_PAGING = frozenset({"cursor", "has_more", "total_count", "page_size"})


def _limits(parts: Parts) -> Iterator[Advice]:
    limits = parts.meta["rate_limit"]
    if not is_members(limits):
        return
    limit, remaining, reset = limits.get("limit"), limits.get("remaining"), limits.get("reset_at")
    if isinstance(limit, int | float) and isinstance(remaining, int | float) and remaining > limit:
        problem = f"remaining is {told(remaining)}, more than the limit of {told(limit)}"
        breach = ContractViolation("/meta/rate_limit/remaining", problem, "Count what is left of the limit.", remaining)
        yield Advice("envelope-contradiction", Severity.WARNING, breach)
    if isinstance(reset, int | float) and not isinstance(reset, bool):
        breach = ContractViolation(
            "/meta/rate_limit/reset_at",
            f"reset_at is a number, {told(reset)}: clients cannot tell seconds from milliseconds",
            "Write the moment as RFC 3339 has it, such as 2026-01-31T12:00:00Z.",
            reset,
        )
        yield Advice("envelope-hint-unusable", Severity.INFO, breach)


def _level(parts: Parts) -> Iterator[Advice]:
    level, version = parts.meta["content_fidelity"], parts.meta.get("content_fidelity_schema_version")
    if level in ("partial", "summary", "reference_only") and version is None:
        breach = ContractViolation(
            "/meta/content_fidelity_schema_version",
            f"content_fidelity is {told(level)}, but content_fidelity_schema_version is missing",
            f'Add content_fidelity_schema_version: "{FIDELITY_VERSION}".',
        )
        yield Advice("envelope-fidelity-unclear", Severity.WARNING, breach)


def _version(parts: Parts) -> Iterator[Advice]:
    version = parts.meta["content_fidelity_schema_version"]
    if isinstance(version, str) and version.strip() and version != FIDELITY_VERSION:
        breach = ContractViolation(
            "/meta/content_fidelity_schema_version",
            f"content_fidelity_schema_version {told(version)} is not known",
            f'The current version is "{FIDELITY_VERSION}".',
            version,
        )
        yield Advice("envelope-fidelity-unclear", Severity.INFO, breach)


def _dropped(parts: Parts) -> Iterator[Advice]:
    dropped = parts.meta["dropped_content_ids"]
    if not is_array(dropped) or not dropped:
        return
    if "content_fidelity" not in parts.meta:
        breach = ContractViolation(
            "/meta/content_fidelity",
            "dropped_content_ids names what was left out, but content_fidelity is missing",
            'Add content_fidelity, usually "partial": without it readers take the content for complete.',
        )
        yield Advice("envelope-fidelity-unclear", Severity.WARNING, breach)
    seen: set[str] = set()
    for index, name in enumerate(dropped):
        if isinstance(name, str) and name in seen:
            problem = f"{told(name)} stands in dropped_content_ids more than once"
            breach = ContractViolation(f"/meta/dropped_content_ids/{index}", problem, "Name each item once.", name)
            yield Advice("envelope-fidelity-unclear", Severity.INFO, breach)
            return
        if isinstance(name, str):
            seen.add(name)


def _hashes(parts: Parts) -> Iterator[Advice]:
    hashes = parts.meta["content_archive_hashes"]
    for name, digest in strings(hashes) if is_members(hashes) else ():
        if isinstance(digest, str) and digest.strip() and not _is_digest(digest):
            breach = ContractViolation(
                f"/meta/content_archive_hashes/{step(name)}",
                f"{told(digest)} is no whole hash, so nobody can verify the archive",
                "Write the algorithm and the whole hash in hexadecimal, such as sha256: and 64 digits.",
                digest,
            )
            yield Advice("envelope-fidelity-unclear", Severity.INFO, breach)


def _is_digest(text: str) -> bool:
    algorithm, _, digits = text.partition(":")
    wanted = _DIGITS.get(algorithm.lower())
    return _HEX(digits) is not None and (wanted is None or len(digits) == wanted)


_DIGITS = {"md5": 32, "sha1": 40, "sha224": 56, "sha256": 64, "sha384": 96, "sha512": 128}
_HEX = re.compile(r"[0-9a-fA-F]{16,}").fullmatch


def _warnings(parts: Parts) -> Iterator[Advice]:
    listed = parts.meta["warning_details"]
    for index, detail in enumerate(listed if is_array(listed) else ()):
        code = detail.get("code") if is_members(detail) else None
        if isinstance(code, str) and (similar := meant(code, _WARNINGS)) is not None:
            problem = f"the warning code {told(code)} is not documented, but looks like {similar}"
            breach = ContractViolation(
                f"/meta/warning_details/{index}/code", problem, f'Did you mean "{similar}"?', code
            )
            yield Advice("envelope-code-unclear", Severity.WARNING, breach)


_WARNINGS = tuple(code.value for code in WarningCode)

# Asked only where the member is there: most envelopes have few.
_ADVISORS: Mapping[str, Advisor] = {
    "pagination": _pagination,
    "rate_limit": _limits,
    "content_fidelity": _level,
    "content_fidelity_schema_version": _version,
    "dropped_content_ids": _dropped,
    "content_archive_hashes": _hashes,
    "warning_details": _warnings,
}
