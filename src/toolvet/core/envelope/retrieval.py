"""`retrieve_content`: the answer of a tool that returns what an earlier response left out."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from toolvet.core.envelope.archive import Archive
from toolvet.core.envelope.builders.failures import not_found_error, validation_error
from toolvet.core.envelope.builders.responses import error_response, success_response
from toolvet.core.envelope.contract.shapes import Array, Text, is_sequence
from toolvet.core.envelope.contract.table import COUNT
from toolvet.core.envelope.json_copy import encode_json
from toolvet.core.envelope.response import Envelope
from toolvet.core.json_value import is_object
from toolvet.errors import ArchiveError, ContentDamagedError, ContentMissingError, EnvelopeError

DEFAULT_BUDGET: Final = 20_000
_GONE: Final = "Repeat the call that left it out: archives keep content for a limited time."
_IDS: Final = Array(Text())
_HINT: Final = "Leave ids out to see which there are, or use those of dropped_content_ids."


def retrieve_content(
    archive: Archive,
    content_hash: str,
    *,
    ids: Sequence[str] | None = None,
    offset: int = 0,
    limit: int = 50,
    budget: int = DEFAULT_BUDGET,
) -> Envelope:
    """Archived content as a response: `items` by their ids, one page at a time.

    Args:
        archive: where the content was kept.
        content_hash: the hash from `meta.content_archive_hashes` of the response that left it out.
        ids: only these items; all items without it.
        offset: how many items to skip: `meta.pagination.cursor` of the page before.
        limit: the largest number of items on a page.
        budget: the largest number of bytes of JSON on a page, which always holds at least one item.

    Returns:
        A success with `items`. Content that `fit_response` did not make is also in `items` if it is an array,
        else in `content`. Unknown hashes, damaged content and invalid arguments give a failure. Never raises.

    Example:
        >>> from toolvet import ContentArchive
        >>> archive = ContentArchive()
        >>> content_hash = archive.put(["Aurora", "Bounty"])
        >>> retrieve_content(archive, content_hash, offset=1).data
        {'items': {'1': 'Bounty'}}
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
        hint = "Give a hash from meta.content_archive_hashes of a response."
        return validation_error(str(refused), field=refused.argument, remediation=hint)
    except ArchiveError:
        return error_response("The archive cannot be read", error_type="unavailable", remediation="Retry later.")
    return _page(content, ids, offset=offset, limit=limit, budget=budget)


def _page(content: object, ids: Sequence[str] | None, *, offset: int, limit: int, budget: int) -> Envelope:
    parts: Mapping[str, object] = content if is_object(content) else {}
    kept = parts.get("items")
    if is_sequence(content):
        items: Mapping[str, object] = {str(index): item for index, item in enumerate(content)}
    elif is_object(kept):
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
        room -= len(encode_json({name: items[name]}))
        if room < 0 and shown:
            break
        shown[name] = items[name]
    following = offset + len(shown)
    paging: dict[str, Any] = {"has_more": following < len(names), "total_count": len(names)}
    if following < len(names):
        paging["cursor"] = str(following)
    # What surrounded the items comes with the first page.
    rest = {part: parts[part] for part in ("data", "error") if part in parts and not offset and not ids}
    unknown = {
        "code": "PARTIAL_FAILURE",
        "message": f"{len(missing)} of the ids are not in the archived content",
        "context": {"unknown_ids": missing[:100]},
    }
    return success_response({"items": shown, **rest}, pagination=paging, warning_details=[unknown] if missing else None)
