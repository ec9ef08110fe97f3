"""What a response left out, asked for again: the answer of a retrieval tool."""

from collections.abc import Mapping, Sequence
from typing import Any

from toolvet.envelope.archive.memory import Archive
from toolvet.envelope.builders.responses import error_response, success_response
from toolvet.envelope.contract.table import COUNT
from toolvet.envelope.builders.failures import not_found_error, validation_error
from toolvet.envelope.json_copy import written
from toolvet.envelope.response import Envelope
from toolvet.envelope.contract.shapes import Array, Text, is_array, is_members
from toolvet.errors import ArchiveError, ContentDamagedError, ContentMissingError, EnvelopeError

DEFAULT_BUDGET = 20_000
_GONE = "Repeat the call that left it out: archives keep content for a limited time."


def retrieve_content(
    archive: Archive,
    content_hash: str,
    *,
    ids: Sequence[str] | None = None,
    offset: int = 0,
    limit: int = 50,
    budget: int = DEFAULT_BUDGET,
) -> Envelope:
    """Archived content as a response: `items` by their ids, a page of them at a time.

    `ids` asks for these alone. A page holds at most `limit` items, and as many as `budget` bytes of JSON hold, but at
    least one; `meta.pagination.cursor` is the `offset` of the next. Content that `fit_response` did not make comes as
    `items` when it is an array, else whole as `content`. Unknown hashes, damaged content and arguments that make no
    sense are failures in the shape of the contract; nothing is raised.
    """
    for name, number, least in (("offset", offset, 0), ("limit", limit, 1)):
        if not COUNT.holds(number) or number < least:
            return validation_error(f"{name} must be a whole number from {least} up", field=name)
    if ids is not None and not _IDS.holds(ids):
        return validation_error("ids must be a list of strings", field="ids")
    try:
        content: object = archive.get(content_hash)
    except ContentMissingError:
        return not_found_error("Content", content_hash, error_code="CONTENT_NOT_FOUND", remediation=_GONE)
    except ContentDamagedError:
        return error_response(
            "The archived content is damaged, so it is not given out",
            error_code="CONTENT_DAMAGED",
            error_type="not_found",
            remediation=_GONE,
            data={"content_hash": content_hash},
        )
    except EnvelopeError as refused:
        hint = "Give a hash as it stands in meta.content_archive_hashes of a response."
        return validation_error(str(refused), field=refused.argument, remediation=hint)
    except ArchiveError:
        return error_response("The archive cannot be read", error_type="unavailable", remediation="Retry later.")
    return _page(content, ids, offset, limit, budget)


def _page(content: object, ids: Sequence[str] | None, offset: int, limit: int, budget: int) -> Envelope:
    parts: Mapping[str, object] = content if is_members(content) else {}
    kept = parts.get("items")
    if is_array(content):
        items: Mapping[str, object] = {str(index): item for index, item in enumerate(content)}
    elif is_members(kept):
        items = kept
    else:
        return success_response({"content": content})
    missing = [name for name in ids or () if name not in items]
    if ids and len(missing) == len(ids):
        return not_found_error("Item", ", ".join(missing[:5]), error_code="CONTENT_NOT_FOUND", remediation=_HINT)
    names = list(dict.fromkeys(name for name in ids if name in items)) if ids else list(items)
    shown: dict[str, object] = {}
    room = budget
    for name in names[offset : offset + limit]:
        room -= len(written({name: items[name]}))
        if room < 0 and shown:
            break
        shown[name] = items[name]
    following = offset + len(shown)
    paging: dict[str, Any] = {"has_more": following < len(names), "total_count": len(names)}
    if following < len(names):
        paging["cursor"] = str(following)
    # What stood around the items comes with the first page.
    rest = {part: parts[part] for part in ("data", "error") if part in parts and not offset and not ids}
    return success_response(
        {"items": shown, **rest}, pagination=paging, warning_details=[_unknown(missing)] if missing else None
    )


_IDS = Array(Text())
_HINT = "Leave ids out to see which there are, or use those of dropped_content_ids."


def _unknown(missing: Sequence[str]) -> Mapping[str, object]:
    told = f"{len(missing)} of the ids are not in the archived content"
    return {"code": "PARTIAL_FAILURE", "message": told, "context": {"unknown_ids": list(missing[:100])}}
