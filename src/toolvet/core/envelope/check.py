"""Checks of envelopes: what breaks the contract, what ignores its advice, and where a tool result holds an envelope.

    check_envelope   the findings of an envelope, from the contract and from what it recommends
    find_advice      recommendations that a schema cannot express: findings below an error, for legal envelopes, too
    find_envelopes   the envelopes in a tool result: as structured content, as JSON text, or under `_meta`

Nothing here raises: any value gives findings.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

import msgspec
import orjson

from toolvet.core.causes import ErrorCode, ErrorType
from toolvet.core.envelope.contract.shapes import ABSENT, ContractViolation, describe_value, is_sequence, string_members
from toolvet.core.envelope.contract.table import CONDITIONS, ENVELOPE, META
from toolvet.core.envelope.contract.vocabulary import FIDELITY_VERSION, ResponseContract, WarningCode
from toolvet.core.envelope.json_copy import copy_as_json, copy_bounded
from toolvet.core.envelope.response import Envelope
from toolvet.core.json_form import JsonForm
from toolvet.core.json_value import is_endless, is_object, pointer
from toolvet.core.redact import redact_text
from toolvet.errors import EnvelopeError
from toolvet.findings import Finding, Severity


def check_envelope(obj: object) -> tuple[Finding, ...]:
    """Check an envelope against the contract response-v2.

    Args:
        obj: an Envelope, or the JSON object of a response. Any other value is a finding, too: nothing is raised.

    Returns:
        One finding for each problem, with a JSON Pointer into `obj` and a remedy. An error is what the published schema
        refuses, or what JSON cannot hold; warnings and infos are advice beyond the schema. Empty for an envelope that
        clients can rely on.

    Example:
        >>> for finding in check_envelope({"success": True, "data": {}, "error": None}):
        ...     print(finding.pointer, finding.message)
        /meta meta is missing.
    """
    envelope = obj.to_dict(ResponseContract.V2) if isinstance(obj, Envelope) else obj
    found: list[Finding] = []
    if is_endless(envelope):
        return tuple(_check_encodable(envelope, copy_as_json))
    if not ENVELOPE.holds(envelope):
        found += [_error("envelope-malformed", violation) for violation in ENVELOPE.violations(envelope, "")]
    if is_object(envelope):
        for condition in CONDITIONS:
            for violation in condition.violations(envelope):
                found.append(_error(condition.id, violation))
        for id_, severity, violation, confidence in find_advice(envelope):
            found.append(_finding(id_, severity, violation, confidence))
    if not isinstance(obj, Envelope) and not found:
        found += _check_encodable(envelope, copy_bounded)
    return tuple(found)


class EnvelopeVerdict(JsonForm, msgspec.Struct, frozen=True):
    """The verdict on an envelope, as documents show it."""

    _adds = ("valid",)

    findings: tuple[Finding, ...]

    @property
    def valid(self) -> bool:
        """Whether the envelope keeps the contract: no finding is an error."""
        return all(finding.severity is not Severity.ERROR for finding in self.findings)


def _check_encodable(envelope: object, copy: Callable[[object, str], object]) -> list[Finding]:
    """A finding for a value that no encoder can write. Looked for last, because it reads the whole payload."""
    try:
        copy(envelope, "")
    except EnvelopeError as refused:
        violation = ContractViolation(
            refused.argument, f"the value {refused.problem}", "Give JSON's own types: they reach every client."
        )
        return [_error("envelope-malformed", violation)]
    return []


def _error(id_: str, violation: ContractViolation) -> Finding:
    return _finding(id_, Severity.ERROR, violation, 100)


def _finding(id_: str, severity: Severity, violation: ContractViolation, confidence: int) -> Finding:
    return Finding(
        id=id_,
        severity=severity,
        confidence=confidence,
        message=redact_text(f"{violation.problem}."),
        pointer=violation.pointer,
        evidence="" if violation.value is ABSENT else redact_text(describe_value(violation.value)),
        remedy=violation.remedy,
    )


_NOTHING: Final[Mapping[str, object]] = {}
_CODES: Final = tuple(code.value for code in ErrorCode)
_TYPES: Final = tuple(kind.value for kind in ErrorType)
_ALIASES: Final = {alias: code.value for code in ErrorCode for alias in code.aliases}
_SCREAMING: Final = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*").fullmatch
# Members of `data` that belong into `meta`, and how sure that is: `request_id` may be the tool's own subject.
_BELONGS: Final[Mapping[str, tuple[str, int]]] = {
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
_PAGING: Final = frozenset({"cursor", "has_more", "total_count", "page_size"})
_DIGITS: Final = {"md5": 32, "sha1": 40, "sha224": 56, "sha256": 64, "sha384": 96, "sha512": 128}
_HEX: Final = re.compile(r"[0-9a-fA-F]{16,}").fullmatch
_WARNINGS: Final = tuple(code.value for code in WarningCode)


class Advice(NamedTuple):
    """An ignored recommendation. `id` is the catalogue's id of the check, `confidence` is from 0 to 100."""

    id: str
    severity: Severity
    violation: ContractViolation
    confidence: int = 95


class EnvelopeParts(NamedTuple):
    """The parts of an envelope; `data` and `meta` are empty unless they are objects."""

    success: object
    data: Mapping[str, object]
    meta: Mapping[str, object]


Advisor = Callable[[EnvelopeParts], Iterator[Advice]]


def find_advice(envelope: Mapping[str, object]) -> Iterator[Advice]:
    """All advice for an envelope, in the order of its members. Total."""
    data, meta = envelope.get("data"), envelope.get("meta")
    parts = EnvelopeParts(
        envelope.get("success"), data if is_object(data) else _NOTHING, meta if is_object(meta) else _NOTHING
    )
    if parts.success is False:
        yield from _advise_on_failure(parts)
    elif parts.success is True and "error_code" in parts.data and "error_type" in parts.data:
        problem = "data holds error_code and error_type, although success is true"
        remedy = "Set success to false and say in error what went wrong, or name the members otherwise."
        violation = ContractViolation("/data/error_code", problem, remedy, parts.data["error_code"])
        yield Advice("envelope-contradiction", Severity.WARNING, violation, 85)
    # The payload may be large, and has such a member rarely.
    for name, value in () if _BELONGS.keys().isdisjoint(parts.data) else parts.data.items():
        # A member that `meta` has as well is repeated, not misplaced; `truncated: false` means that nothing is missing.
        if name not in _BELONGS or _BELONGS[name][0] in parts.meta or (name == "truncated" and value is not True):
            continue
        home, confidence = _BELONGS[name]
        violation = ContractViolation(
            f"/data/{name}",
            f"{name} stands under data, where clients take it for payload",
            f"Move it to meta.{home}, where every client looks for it.",
            value,
        )
        yield Advice("envelope-metadata-misplaced", Severity.WARNING, violation, confidence)
    for name, _ in string_members(parts.meta):
        if name not in META.fields and (similar := intended_name(name, META.fields)) is not None:
            violation = ContractViolation(
                f"/meta{pointer((name,))}", f"meta has no {name:.80}", f'Did you mean "{similar}"?', name
            )
            yield Advice("envelope-metadata-misplaced", Severity.WARNING, violation)
    for name, advisor in _ADVISORS.items():
        if name in parts.meta:
            yield from advisor(parts)


def _advise_on_failure(parts: EnvelopeParts) -> Iterator[Advice]:
    code, kind = parts.data.get("error_code"), parts.data.get("error_type")
    for name, value in (("error_code", code), ("error_type", kind)):
        if value is None and name not in parts.data:
            violation = ContractViolation(
                f"/data/{name}", f"{name} is missing", f"Add {name}: programs tell errors apart by it."
            )
            yield Advice("envelope-code-unclear", Severity.INFO, violation)
    if isinstance(code, str) and code not in _CODES:
        yield from _advise_on_own_code(code)
    if isinstance(kind, str) and kind not in _TYPES and kind.strip():
        similar = intended_name(kind, _TYPES)
        problem = f"error_type {describe_value(kind)} is not one of the documented types"
        if similar is None:
            remedy = f"Clients that route by error_type know {', '.join(_TYPES)}: use one of these if it fits."
            yield Advice(
                "envelope-code-unclear", Severity.INFO, ContractViolation("/data/error_type", problem, remedy, kind)
            )
        else:
            violation = ContractViolation("/data/error_type", problem, f'Did you mean "{similar}"?', kind)
            yield Advice("envelope-code-unclear", Severity.WARNING, violation)
    limits = parts.meta.get("rate_limit")
    hint, other = parts.data.get("retry_after_seconds"), limits.get("retry_after") if is_object(limits) else None
    if isinstance(hint, int | float) and isinstance(other, int | float) and hint != other:
        problem = (
            f"retry_after_seconds is {describe_value(hint)}, but meta.rate_limit.retry_after is {describe_value(other)}"
        )
        violation = ContractViolation(
            "/data/retry_after_seconds", problem, "Give the same number of seconds in both places.", hint
        )
        yield Advice("envelope-contradiction", Severity.WARNING, violation)


def _advise_on_own_code(code: str) -> Iterator[Advice]:
    if code in _ALIASES:
        remedy = f"The documented code for this is {_ALIASES[code]}: clients know it."
        violation = ContractViolation(
            "/data/error_code", f"error_code {code} is another name for {_ALIASES[code]}", remedy, code
        )
        yield Advice("envelope-code-unclear", Severity.INFO, violation)
        return
    similar = intended_name(code, _CODES)
    if similar is not None:
        problem = f"error_code {describe_value(code)} is not documented, but looks like {similar}"
        violation = ContractViolation("/data/error_code", problem, f'Did you mean "{similar}"?', code)
        yield Advice("envelope-code-unclear", Severity.WARNING, violation)
    elif _SCREAMING(code) is None and code.strip():
        problem = f"error_code {describe_value(code)} is not in SCREAMING_SNAKE_CASE"
        violation = ContractViolation(
            "/data/error_code", problem, "Write capitals and underscores, such as BOOK_LOST.", code
        )
        yield Advice("envelope-code-unclear", Severity.WARNING, violation)


def _advise_on_pagination(parts: EnvelopeParts) -> Iterator[Advice]:
    paging = parts.meta["pagination"]
    # A member that we do not know may lead to the next page: a page number, an offset, a link.
    if (
        is_object(paging)
        and paging.get("has_more") is True
        and paging.get("cursor") is None
        and paging.keys() <= _PAGING
    ):
        violation = ContractViolation(
            "/meta/pagination",
            "has_more is true, but there is no cursor to go on with",
            "Add the cursor of the next page, or set has_more to false.",
            paging,
        )
        yield Advice("envelope-hint-unusable", Severity.WARNING, violation)


def _advise_on_rate_limit(parts: EnvelopeParts) -> Iterator[Advice]:
    limits = parts.meta["rate_limit"]
    if not is_object(limits):
        return
    limit, remaining, reset = limits.get("limit"), limits.get("remaining"), limits.get("reset_at")
    if isinstance(limit, int | float) and isinstance(remaining, int | float) and remaining > limit:
        problem = f"remaining is {describe_value(remaining)}, more than the limit of {describe_value(limit)}"
        violation = ContractViolation(
            "/meta/rate_limit/remaining", problem, "Count what is left of the limit.", remaining
        )
        yield Advice("envelope-contradiction", Severity.WARNING, violation)
    if isinstance(reset, int | float) and not isinstance(reset, bool):
        violation = ContractViolation(
            "/meta/rate_limit/reset_at",
            f"reset_at is a number, {describe_value(reset)}: clients cannot tell seconds from milliseconds",
            "Write the moment as RFC 3339 has it, such as 2026-01-31T12:00:00Z.",
            reset,
        )
        yield Advice("envelope-hint-unusable", Severity.INFO, violation)


def _advise_on_level(parts: EnvelopeParts) -> Iterator[Advice]:
    level, version = parts.meta["content_fidelity"], parts.meta.get("content_fidelity_schema_version")
    if level in ("partial", "summary", "reference_only") and version is None:
        violation = ContractViolation(
            "/meta/content_fidelity_schema_version",
            f"content_fidelity is {describe_value(level)}, but content_fidelity_schema_version is missing",
            f'Add content_fidelity_schema_version: "{FIDELITY_VERSION}".',
        )
        yield Advice("envelope-fidelity-unclear", Severity.WARNING, violation)


def _advise_on_version(parts: EnvelopeParts) -> Iterator[Advice]:
    version = parts.meta["content_fidelity_schema_version"]
    if isinstance(version, str) and version.strip() and version != FIDELITY_VERSION:
        violation = ContractViolation(
            "/meta/content_fidelity_schema_version",
            f"content_fidelity_schema_version {describe_value(version)} is not known",
            f'The current version is "{FIDELITY_VERSION}".',
            version,
        )
        yield Advice("envelope-fidelity-unclear", Severity.INFO, violation)


def _advise_on_dropped(parts: EnvelopeParts) -> Iterator[Advice]:
    dropped = parts.meta["dropped_content_ids"]
    if not is_sequence(dropped) or not dropped:
        return
    if "content_fidelity" not in parts.meta:
        violation = ContractViolation(
            "/meta/content_fidelity",
            "dropped_content_ids names what was left out, but content_fidelity is missing",
            'Add content_fidelity, usually "partial": without it readers take the content for complete.',
        )
        yield Advice("envelope-fidelity-unclear", Severity.WARNING, violation)
    seen: set[str] = set()
    for index, name in enumerate(dropped):
        if isinstance(name, str) and name in seen:
            problem = f"{describe_value(name)} stands in dropped_content_ids more than once"
            violation = ContractViolation(f"/meta/dropped_content_ids/{index}", problem, "Name each item once.", name)
            yield Advice("envelope-fidelity-unclear", Severity.INFO, violation)
            return
        if isinstance(name, str):
            seen.add(name)


def _advise_on_hashes(parts: EnvelopeParts) -> Iterator[Advice]:
    hashes = parts.meta["content_archive_hashes"]
    for name, digest in string_members(hashes) if is_object(hashes) else ():
        if not isinstance(digest, str) or not digest.strip():
            continue
        algorithm, _, digits = digest.partition(":")
        if _HEX(digits) is None or len(digits) != _DIGITS.get(algorithm.lower(), len(digits)):
            violation = ContractViolation(
                f"/meta/content_archive_hashes{pointer((name,))}",
                f"{describe_value(digest)} is not a whole hash, so the archive cannot be verified",
                "Write the algorithm and the whole hash in hexadecimal, such as sha256: and 64 digits.",
                digest,
            )
            yield Advice("envelope-fidelity-unclear", Severity.INFO, violation)


def _advise_on_warnings(parts: EnvelopeParts) -> Iterator[Advice]:
    listed = parts.meta["warning_details"]
    for index, detail in enumerate(listed if is_sequence(listed) else ()):
        code = detail.get("code") if is_object(detail) else None
        if isinstance(code, str) and (similar := intended_name(code, _WARNINGS)) is not None:
            problem = f"the warning code {describe_value(code)} is not documented, but looks like {similar}"
            violation = ContractViolation(
                f"/meta/warning_details/{index}/code", problem, f'Did you mean "{similar}"?', code
            )
            yield Advice("envelope-code-unclear", Severity.WARNING, violation)


# Called only where `meta` has the member: most envelopes have few.
_ADVISORS: Final[Mapping[str, Advisor]] = {
    "pagination": _advise_on_pagination,
    "rate_limit": _advise_on_rate_limit,
    "content_fidelity": _advise_on_level,
    "content_fidelity_schema_version": _advise_on_version,
    "dropped_content_ids": _advise_on_dropped,
    "content_archive_hashes": _advise_on_hashes,
    "warning_details": _advise_on_warnings,
}

_LONGEST: Final = 64
_LONG_ENOUGH: Final = 5
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BETWEEN: Final = re.compile(r"[\s_.-]+")


def intended_name(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` probably misspells, or None; None also for a known name itself.

    Compared word by word, because a server's own names resemble ours: TAG_NOT_FOUND is not a misspelt TASK_NOT_FOUND.
    """
    if len(name) > _LONGEST:
        return None
    words = _split_words(name)
    for other in known:
        if other == name:
            return None
    for other in known:
        wanted = _split_words(other)
        if "".join(words) == "".join(wanted):
            return other
        if len(words) == len(wanted) and all(
            left == right or _is_slip(left, right) for left, right in zip(words, wanted, strict=True)
        ):
            return other
    return None


def _split_words(name: str) -> list[str]:
    return [word.casefold() for word in _BETWEEN.split(_CAMEL.sub("_", name)) if word]


def _is_slip(left: str, right: str) -> bool:
    """Whether one letter was added, left out or changed, or two were swapped, in a word of at least five letters."""
    longer, shorter = (left, right) if len(left) >= len(right) else (right, left)
    if len(longer) < _LONG_ENOUGH or len(longer) - len(shorter) > 1:
        return False
    start = 0
    while start < len(shorter) and longer[start] == shorter[start]:
        start += 1
    if len(longer) > len(shorter):
        return longer[start + 1 :] == shorter[start:]
    swapped = longer[start + 1 : start + 2] + longer[start : start + 1]
    return longer[start + 1 :] == shorter[start + 1 :] or (
        swapped == shorter[start : start + 2] and longer[start + 2 :] == shorter[start + 2 :]
    )


class FoundEnvelope(NamedTuple):
    """An object in a tool result that may be an envelope, and the JSON Pointer of its place."""

    place: str
    envelope: Mapping[str, object]

    @property
    def claims(self) -> bool:
        """Whether its `meta.version` names a response contract, in any spelling."""
        meta = self.envelope.get("meta")
        version = meta.get("version") if is_object(meta) else None
        return isinstance(version, str) and version.casefold().replace("_", "-").startswith("response-v")

    @property
    def resembles(self) -> bool:
        """Whether it has the keys of an envelope: `success` and two of the others."""
        return "success" in self.envelope and sum(key in self.envelope for key in ("data", "error", "meta")) > 1


def find_envelopes(result: object) -> tuple[FoundEnvelope, ...]:
    """The objects in a tool result that claim to be an envelope or resemble one, each once. Total.

    Plain JSON with a `success` key is not one. An object that only resembles an envelope may have another format: it
    counts where another answer of the same tool claims to be an envelope.
    """
    if not is_object(result):
        return ()
    candidates: list[FoundEnvelope] = []
    structured = result.get("structuredContent")
    if is_object(structured):
        wrapped = structured.get("result") if len(structured) == 1 else None
        # Frameworks wrap what a tool without a declared object returns.
        candidates.append(
            FoundEnvelope("/structuredContent/result", wrapped)
            if is_object(wrapped)
            else FoundEnvelope("/structuredContent", structured)
        )
    content = result.get("content")
    for index, block in enumerate(content if is_sequence(content) else ()):
        text = block.get("text") if is_object(block) else None
        if not isinstance(text, str) or text.lstrip()[:1] != "{" or '"success"' not in text:
            continue
        try:
            parsed: object = orjson.loads(text)
        except ValueError:
            continue
        if is_object(parsed):
            candidates.append(FoundEnvelope(f"/content/{index}/text", parsed))
    meta = result.get("_meta")
    for name, value in string_members(meta) if is_object(meta) else ():
        if is_object(value):
            candidates.append(FoundEnvelope(f"/_meta{pointer((name,))}", value))
    found: list[FoundEnvelope] = []
    for sighting in candidates:
        # Servers send the same object as structured content and as text.
        if (sighting.claims or sighting.resembles) and not any(_are_equal(sighting, other) for other in found):
            found.append(sighting)
    return tuple(found)


def _are_equal(left: FoundEnvelope, right: FoundEnvelope) -> bool:
    try:
        return left.envelope == right.envelope
    except RecursionError:
        # Nested too deeply to be compared: then both are reported.
        return False
