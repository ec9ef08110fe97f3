"""The keywords of the public functions, each with what draws its values; tests compare them with the signatures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from fuzz import words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fuzz.draw import Draw

    Table = Mapping[str, Callable[[Draw], Any]]


def _by_signal(draw: Draw) -> dict[str, list[str]]:
    return {draw.one(SIGNALS): draw.words() for _ in range(draw.byte() % 3)}


def _model() -> object:
    from toolvet.core.checks.answer.model.classifier import shipped  # noqa: PLC0415 - the fuzzer instruments what it imports.

    return shipped()


SIGNALS: Final = ("refusal", "low_confidence", "empty_response", "incomplete", "hallucination_markers", "tool_failure")
LANGUAGES: Final = ("en", "de", "zh", "ar", "ja", "fr")
PACKS: Final = ("medical", "legal", "finance", "code")

ANSWER: Final[Table] = {
    "min_length": lambda draw: draw.byte() % 50,
    "strict": lambda draw: draw.flag(),
    "custom_patterns": _by_signal,
    "replace_patterns": lambda draw: draw.flag(),
    "languages": lambda draw: draw.several(lambda: draw.one(LANGUAGES), 2),
    "packs": lambda draw: draw.several(lambda: draw.one(PACKS), 2),
    "exceptions": _by_signal,
    "weights": lambda draw: {draw.one(SIGNALS): draw.share()},
    "threshold": lambda draw: draw.share(),
    "model": lambda draw: draw.one((None, _model())),
}
TURN: Final[Table] = {
    "calls": lambda draw: draw.several(draw.call, 3) if draw.byte() < 240 else draw.value(),
    "question": lambda draw: (
        draw.answer() if draw.flag() else draw.several(lambda: draw.message() if draw.flag() else draw.call(), 3)
    ),
    "finish_reason": lambda draw: draw.one(words.REASONS),
    "trace": lambda draw: draw.text(),
}
RESULT: Final[Table] = {
    "category": lambda draw: draw.one(("happy_path", "edge_case", "boundary", "error_case", None, "own")),
    "any_response": lambda draw: draw.flag(),
    "extra_patterns": lambda draw: draw.words(),
    "strong_patterns": lambda draw: draw.words(),
    "failure_patterns": lambda draw: draw.words(),
    "exceptions": lambda draw: draw.words(),
    "factors": lambda draw: {draw.one(("own", "mine", "test_data")): (draw.one(words.PATTERNS), draw.byte() % 6)},
    "weights": lambda draw: {draw.one(("test_data", "own", "no_such")): draw.byte() % 6},
    "threshold": lambda draw: draw.share(),
    "shape": lambda draw: draw.one(("any", "mcp")),
    "thresholds": lambda draw: {draw.one(("validation_expected", "other", "own")): draw.share()},
    "expects_validation": lambda draw: draw.one((None, True, False)),
    "draft_outputs": lambda draw: draw.flag(),
    "trace": lambda draw: draw.text(),
}
FIT: Final[Table] = {
    "counter": lambda draw: draw.one(("characters", "bytes", len)),
    "key": lambda draw: draw.one(("id", "a", "", repr)),
    "importance": lambda draw: draw.one((None, "a", "id", "", lambda item: len(str(item)[:50]))),
    "lists": lambda draw: draw.several(lambda: draw.one(("/a", "/items", "", "a", "/a/0/b", "/~1")), 2),
    "summarise": lambda draw: draw.one((None, lambda item: str(item)[:5], lambda item: [item, item])),
    "archive": lambda draw: draw.archive(),
    "reason": lambda draw: draw.one(("size_limit_exceeded", "own", "")),
}
_MOMENT: Final = ("2026-11-22T10:00:00Z", 5, 1e300, -1.5, "", float("nan"))
SUCCESS: Final[Table] = {
    "fields": lambda draw: draw.members(),
    "warnings": lambda draw: draw.words(),
    "warning_details": lambda draw: draw.several(lambda: draw.warning(), 2),
    "pagination": lambda draw: draw.members() if draw.flag() else {"has_more": draw.flag(), "total_count": draw.byte()},
    "rate_limit": lambda draw: {"reset_at": draw.one(_MOMENT), "limit": draw.text()},
    "telemetry": lambda draw: draw.members(),
    "request_id": lambda draw: draw.text(),
    "content_fidelity": lambda draw: draw.one(("full", "partial", "summary", "reference_only", "own")),
    "content_fidelity_schema_version": lambda draw: draw.text(),
    "dropped_content_ids": lambda draw: draw.words(),
    "content_archive_hashes": lambda draw: {draw.text(): draw.text()},
    "meta": lambda draw: draw.members(),
}
ERROR: Final[Table] = {
    "error_code": lambda draw: draw.one(("NOT_FOUND", "VALIDATION_ERROR", "own", "OWN_CODE", "")),
    "error_type": lambda draw: draw.one(("not_found", "validation", "rate_limit", "internal", "own")),
    "remediation": lambda draw: draw.text(),
    "details": lambda draw: draw.members(),
    "errors": lambda draw: draw.several(lambda: draw.field_error(), 3),
    "retry_after_seconds": lambda draw: draw.number(),
    "help_url": lambda draw: draw.one(("https://example.com/help", "x", "", "javascript:x")),
    "domain": lambda draw: draw.text(),
    "data": lambda draw: draw.members(),
    "rate_limit": SUCCESS["rate_limit"],
    "telemetry": lambda draw: draw.members(),
    "request_id": lambda draw: draw.text(),
    "meta": lambda draw: draw.members(),
    # Those of single kinds of failures.
    "message": lambda draw: draw.text(),
    "field": lambda draw: draw.text(),
    "required_permission": lambda draw: draw.text(),
    "remaining": lambda draw: draw.byte() - 5,
    "reset_at": lambda draw: draw.one(_MOMENT),
}
ARGUMENTS: Final[Table] = {
    "unchecked": lambda draw: draw.one(("refuse", "pass")),
    "wording": lambda draw: draw.wording(),
    "trace": lambda draw: draw.text(),
}
