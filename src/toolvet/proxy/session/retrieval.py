"""The tool that returns what a shortened result left out: a page of it, a part of it, or the places of some words."""

from typing import Any, Final

import msgspec

from toolvet.core.checks import Classification, ResultCheck, ResultVerdict, check_arguments
from toolvet.core.json_value import is_array, is_object
from toolvet.proxy.session.catalogue import Catalogue
from toolvet.proxy.session.fit import FitRoom
from toolvet.proxy.session.judge import JudgedReply, end_own, judge_own_answer, own_notes
from toolvet.proxy.session.pending import PendingCall
from toolvet.proxy.session.vet import encode_own_result, error_result

_SURROUNDINGS: Final = 300
_MOST_PLACES: Final = 20
_ANSWERED: Final = ResultVerdict(
    is_valid=True,
    is_error=False,
    classification=Classification.FULLY_WORKING,
    confidence=100,
    evidence=("Answered by toolvet, which keeps what it shortened",),
)


def retrieval_definition(name: str) -> dict[str, object]:
    """Return the tool that models call for the rest of a result."""
    return {
        "name": name,
        "title": "Retrieve a shortened result",
        "description": (
            "Returns more of a tool result that was shortened. With search: the places where these words stand, with "
            "what surrounds them. With path: one part of a JSON result. Otherwise: the text from offset on."
        ),
        "inputSchema": {
            "type": "object",
            "properties": {
                "id": {"type": "string", "description": "The id that the shortened result names."},
                "search": {
                    "type": "string",
                    "minLength": 1,
                    "description": "Words to find in the result, in any case.",
                },
                "path": {"type": "string", "description": "A JSON Pointer into a JSON result, such as /items/40."},
                "offset": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "How many characters to skip; with search, how many places.",
                },
                "limit": {"type": "integer", "minimum": 1, "description": "The largest number of characters."},
            },
            "required": ["id"],
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False},
    }


def answer_retrieval(call: PendingCall, catalogue: Catalogue, check: ResultCheck) -> JudgedReply:
    """Return the answer to a call of that tool, and its note. Total: any arguments get an answer."""
    report = check_arguments(retrieval_definition(call.tool), call.arguments, unchecked="pass")
    if not report.valid:
        return _refuse(call, report.to_text(max_chars=4_000), "arguments", catalogue, check)
    given: Any = call.arguments
    text = None if catalogue.result_cache is None else catalogue.result_cache.get(given["id"])
    if text is None:
        why = (
            f"Nothing is kept under the id '{given['id'][:40]}', or no longer. "
            "Copy the id from the result that was shortened, or repeat the call that it came from."
        )
        return _refuse(call, why, "arguments", catalogue, check)
    if "path" in given:
        part = _at(text, given["path"])
        if part is None:
            why = f"There is nothing at {given['path'][:200]!r}. Paths are JSON Pointers into a result that is JSON."
            return _refuse(call, why, "arguments", catalogue, check)
        text = part
    room = FitRoom.of(call.policy.fit).characters(text) or len(text)
    most = min(given.get("limit", room), room)
    offset = given.get("offset", 0)
    blocks = _found(text, given["search"], offset, most) if "search" in given else _page(text, offset, most)
    result = {"content": [{"type": "text", "text": each} for each in blocks], "isError": False}
    data = encode_own_result(call, result, catalogue.stamp, own_notes(call, _ANSWERED))
    return JudgedReply(data, end_own(call, "retrieved", _ANSWERED, size=len(data)))


def _refuse(call: PendingCall, why: str, stop: Any, catalogue: Catalogue, check: ResultCheck) -> JudgedReply:
    refusal = error_result(why)
    verdict = judge_own_answer(stop, why, tool=call.tool, result=refusal, check=check)
    data = encode_own_result(call, refusal, catalogue.stamp, own_notes(call, verdict))
    return JudgedReply(data, end_own(call, "retrieved", verdict, size=len(data)))


def _page(text: str, offset: int, most: int) -> list[str]:
    """Return a page of the text, unchanged, and its position."""
    page = text[offset : offset + most]
    end = offset + len(page)
    if not page:
        return [f"[There are {len(text):,} characters; nothing is left after offset {offset:,}.]"]
    more = f'; go on with "offset": {end}' if end < len(text) else "; this is the end"
    return [page, f"[characters {offset:,} to {end - 1:,} of {len(text):,}{more}]"]


def _found(text: str, words: str, skipped: int, most: int) -> list[str]:
    """The places of these words with what surrounds them."""
    places = _places(text, words)
    if not places:
        return [f"[{words[:100]!r} does not stand in the {len(text):,} characters. Try fewer or other words.]"]
    shown: list[str] = []
    room = most
    for place in places[skipped : skipped + _MOST_PLACES]:
        start = max(place - _SURROUNDINGS, 0)
        part = text[start : place + len(words) + _SURROUNDINGS]
        line = f"at {place}: {part}"
        if shown and len(line) > room:
            break
        shown.append(line[: max(most, 200)])
        room -= len(line)
    end = skipped + len(shown)
    more = f'; for the next: "offset": {end}' if end < len(places) else ""
    return [*shown, f"[{len(shown)} of {len(places)} places{more}. Read on at one with its number as offset.]"]


def _places(text: str, words: str) -> list[int]:
    """Where the words stand, in any case; where not as they are, where all of them are close together."""
    # Folding one letter into two would move all that follows.
    lowered = text.lower() if len(text.lower()) == len(text) else text
    wanted = words.lower() if lowered is not text else words
    found = _all(lowered, wanted)
    if found:
        return found
    # Not as they are: the rarest of them, where the others are near.
    each = sorted((_all(lowered, word) for word in dict.fromkeys(wanted.split())), key=len)
    if not each or not each[0]:
        return []
    return [
        place
        for place in each[0]
        if all(any(abs(other - place) <= _SURROUNDINGS for other in others) for others in each[1:])
    ]


def _all(text: str, word: str) -> list[int]:
    found: list[int] = []
    at = text.find(word)
    while at >= 0 and len(found) < 1_000:
        # Places that would be shown within the same surroundings count once.
        found.append(at)
        at = text.find(word, at + max(_SURROUNDINGS, len(word)))
    return found


def _at(text: str, path: str) -> str | None:
    """Return the part of a JSON text at this JSON Pointer, as compact JSON; None if there is none."""
    try:
        value: object = msgspec.json.decode(text)
        for step in path.split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if is_object(value):
                value = value[name]
            elif is_array(value) and name.isdecimal() and name.isascii():
                value = value[int(name[:12])]
            else:
                return None
        return value if isinstance(value, str) else msgspec.json.encode(value).decode()
    except (msgspec.MsgspecError, ValueError, LookupError, RecursionError, OverflowError):
        return None
