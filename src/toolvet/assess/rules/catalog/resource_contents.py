"""The results of resources/read."""

import binascii
import re
from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from toolvet.assess.rules.ending import NEEDS_MORE, Missing, outage_of_call
from toolvet.assess.rules.item import ObservedItems, ObservedRequest, Purpose, as_call, contents_of, decode
from toolvet.assess.rules.quote import list_names, quote, show, show_answer
from toolvet.assess.rules.rule import of_items, of_request
from toolvet.core.checks import check_result
from toolvet.core.json_value import count, elements, is_array, is_object, members
from toolvet.findings import Card, Finding, Severity

RESOURCE_READ_FAILED = Card(
    id="resource-read-failed",
    title="resources/read fails for a listed resource",
    severity=Severity.ERROR,
    looks_for=(
        "A listed resource whose resources/read is answered with an error. A URI of a template with values that the "
        "server itself offers is a warning. A missing host or credential is reported as info, once for the server."
    ),
    why="Hosts show what is listed, and a user who picks it gets an error instead.",
    remedy="List only what can be read, under the URI by which it can be read.",
)


@of_request(RESOURCE_READ_FAILED)
def check_resource_read_failed(request: ObservedRequest) -> Iterator[Finding]:
    """Judge reads of what the server offers; `request-unanswered` reports those without an answer."""
    if not _failed_to_read(request) or request.error is None or outage_of_call(as_call(request)) is not None:
        return
    listed = request.purpose is Purpose.LISTED
    subject = "The resource is listed" if listed else f"The server offers '{quote(request.uri, 100)}'"
    words = quote(request.error.message, 140)
    yield RESOURCE_READ_FAILED.finding(
        message=f'{subject}, and reading it brings error {request.error.code}: "{words}"',
        severity=None if listed else Severity.WARNING,
        evidence=quote(request.error.message, 300),
        confidence=90 if listed else 80,
    )


@of_items(RESOURCE_READ_FAILED)
def check_resource_read_failed_items(seen: ObservedItems) -> Iterator[Finding]:
    """One note for all resources that could not be read for want of something outside of the server."""
    causes: dict[Missing, list[str]] = {}
    for request in filter(_failed_to_read, seen.requests):
        missing = outage_of_call(as_call(request))
        if missing is not None:
            causes.setdefault(missing, []).append(request.uri)
    for missing, uris in causes.items():
        yield RESOURCE_READ_FAILED.finding(
            message=f"Missing where the server was assessed: {quote(str(missing), 100)}, for {list_names(uris, 4)}.",
            severity=Severity.INFO,
            pointer=f"/{quote(str(missing), 60)}",
            confidence=80,
        )


def _failed_to_read(request: ObservedRequest) -> bool:
    offered = request.purpose in {Purpose.LISTED, Purpose.OFFERED} and request.method == "resources/read"
    return offered and request.error is not None and request.error.code not in NEEDS_MORE


RESOURCE_ABSENT_ANSWER = Card(
    id="resource-absent-answer",
    title="Wrong answer for a resource that does not exist",
    severity=Severity.ERROR,
    looks_for=(
        "The answers to resources/read for a URI of a scheme that does not exist (a success is an error), for a "
        "sibling of a listed URI and for a text that is not a URI (a success is a warning; an error, from 2026-07-28 "
        "on, if the `contents` are empty). A template that matches such a URI excuses it. Another code than -32602 or "
        "-32002 is reported as info."
    ),
    why="A model takes the success for the contents: it cannot tell an empty resource from one that is not there.",
    remedy=(
        "Raise an error for URIs that you do not know: -32602 since 2026-07-28, -32002 before it. A handler of the "
        "low-level SDK must end with `raise`."
    ),
    is_of_sdk=True,
)
_ABSENT_CODES: Final = frozenset({-32602, -32002})
_EMPTY_IS_WRONG_SINCE: Final = "2026-07-28"


@of_items(RESOURCE_ABSENT_ANSWER)
def check_resource_absent_answer(seen: ObservedItems) -> Iterator[Finding]:
    """One finding: for the gravest answer."""
    asked = [
        request
        for request in seen.asked(Purpose.UNKNOWN_SCHEME, Purpose.ABSENT, Purpose.NO_URI)
        if request.method == "resources/read" and not request.is_generated
    ]
    successes = [request for request in asked if request.succeeded]
    if successes:
        worst = max(successes, key=lambda request: _severity_of_success(request).rank)
        empty = "without contents" if _is_empty(worst) else f"with {show_answer(worst.result, 100)}"
        yield RESOURCE_ABSENT_ANSWER.finding(
            message=f"'{quote(worst.uri, 80)}' does not exist, and reading it is a success {empty}.",
            severity=_severity_of_success(worst),
            evidence=show_answer(worst.result),
        )
        return
    other = [
        request
        for request in asked
        if request.error is not None
        and request.error.code not in _ABSENT_CODES
        and request.purpose is not Purpose.NO_URI
    ]
    if other and other[0].error is not None:
        error = other[0].error
        yield RESOURCE_ABSENT_ANSWER.finding(
            message=(
                f"A resource that does not exist is answered with error {error.code} instead of -32602: "
                f'"{quote(error.message, 120)}"'
            ),
            severity=Severity.INFO,
            evidence=quote(error.message),
        )


def _is_empty(request: ObservedRequest) -> bool:
    return not elements(members(request.result).get("contents"))


def _severity_of_success(request: ObservedRequest) -> Severity:
    grave = request.purpose is Purpose.UNKNOWN_SCHEME and not _is_empty(request)
    forbidden = _is_empty(request) and request.protocol_version >= _EMPTY_IS_WRONG_SINCE
    return Severity.ERROR if grave or forbidden else Severity.WARNING


RESOURCE_CONTENTS_MALFORMED = Card(
    id="resource-contents-malformed",
    title="Invalid resource contents",
    severity=Severity.ERROR,
    looks_for=(
        "A result of resources/read without an array `contents`; an entry that is not an object, has no `uri`, or "
        "neither `text` nor `blob`; a blob that is not base64. A listed resource without any contents is a warning."
    ),
    why="The official clients refuse such a result, and a host that reads it by itself finds nothing in it.",
    remedy="Answer with `contents: [{uri, mimeType, text}]`, or `blob` in base64 for binary data.",
)


@of_request(RESOURCE_CONTENTS_MALFORMED)
def check_resource_contents_malformed(request: ObservedRequest) -> Iterator[Finding]:
    """Report the first fault. `resource-absent-answer` judges answers for what does not exist."""
    if request.method != "resources/read" or not request.is_valid or not request.succeeded:
        return
    contents = members(request.result).get("contents")
    if not is_array(contents):
        yield RESOURCE_CONTENTS_MALFORMED.finding(
            message=f"The result has no array 'contents': {show_answer(request.result, 120)}",
            evidence=show_answer(request.result),
            pointer="/contents",
        )
        return
    if not contents:
        yield RESOURCE_CONTENTS_MALFORMED.finding(
            message="The resource was read, and it has no contents.",
            severity=Severity.WARNING,
            evidence=show_answer(request.result),
            pointer="/contents",
        )
    for index, entry in enumerate(elements(contents)):
        problem = _contents_problem(entry)
        if problem:
            yield RESOURCE_CONTENTS_MALFORMED.finding(
                message=f"The contents {problem}.", evidence=show(entry, 160), pointer=f"/contents/{index}"
            )
            return


def _contents_problem(entry: object) -> str:
    if not is_object(entry):
        return "are not an object"
    if not isinstance(entry.get("uri"), str):
        return "have no 'uri'"
    text, blob, mime = entry.get("text"), entry.get("blob"), entry.get("mimeType")
    if mime is not None and not isinstance(mime, str):
        return f"have a 'mimeType' that is not a string: {show(mime)}"
    if isinstance(text, str):
        return ""
    if not isinstance(blob, str):
        return "have neither a 'text' nor a 'blob' that is a string"
    try:
        b64decode(blob, validate=True)
    except (binascii.Error, ValueError) as error:
        return f"have a 'blob' that is not base64 ({quote(str(error), 80).rstrip('.')})"
    return ""


RESOURCE_ERROR_CONTENTS = Card(
    id="resource-error-contents",
    title="Resource contents are an error message",
    severity=Severity.WARNING,
    looks_for=(
        "A listed resource that was read with success, and whose only contents are a short text that opens with "
        "the words of an error, or a JSON object that reports one. One finding for all resources with the same words."
    ),
    why="A host shows it as the contents, and a model takes it for what the resource says.",
    remedy="Answer with a JSON-RPC error. In the SDKs that is an exception in the handler, not a text that it returns.",
)
# "If a plant does not exist, an error is shown" speaks of errors, "Error: no such plant" is one.
_ERROR_OPENING: Final = re.compile(
    r"(?i)[^\w\n]{0,10}(?:errors?|failed|failure|exception|fatal|traceback|could not|couldn't|unable|can ?not|can't)\b"
)
_LONGEST_ERROR: Final = 300  # Characters: longer texts are documents, which may speak of errors.


@of_items(RESOURCE_ERROR_CONTENTS)
def check_resource_error_contents(seen: ObservedItems) -> Iterator[Finding]:
    """One finding for each text, with the resources that it came for."""
    uris: dict[str, list[str]] = {}
    for request in seen.asked(Purpose.LISTED, Purpose.OFFERED):
        if request.method != "resources/read":
            continue
        texts = [entry.get("text") for entry in contents_of(request)]
        only = texts[0] if len(texts) == 1 else None
        if not isinstance(only, str) or not only.strip() or len(only) > _LONGEST_ERROR:
            continue
        if only.lstrip()[:1] not in {"{", "["} and not _ERROR_OPENING.match(only):
            continue
        verdict = check_result({"name": request.method}, {}, {"content": [{"type": "text", "text": only}]})
        if verdict.error_without_flag:
            uris.setdefault(only, []).append(request.uri)
    for words, names in uris.items():
        subject = "A resource has" if len(names) == 1 else f"{len(names)} resources have"
        yield RESOURCE_ERROR_CONTENTS.finding(
            message=f'{subject} an error as contents, "{quote(words, 120)}": {list_names(names, 4)}.',
            evidence=quote(words, 300),
            pointer="/contents/0/text",
            confidence=75,
        )


RESOURCE_URI_CHANGED = Card(
    id="resource-uri-changed",
    title="Resource contents have a different URI",
    severity=Severity.WARNING,
    looks_for=(
        "Contents none of which has the URI that was read, apart from case, escapes and a slash at the end. URIs below "
        "it are fine: a folder may answer with its files."
    ),
    why="Hosts keep contents by their URI, and do not find the requested one again.",
    remedy="Repeat the URI of the request in `uri`.",
)


@of_request(RESOURCE_URI_CHANGED)
def check_resource_uri_changed(request: ObservedRequest) -> Iterator[Finding]:
    """Compare the URIs after what every client does to one."""
    if request.method != "resources/read" or not request.is_valid:
        return
    found = [str(entry.get("uri")) for entry in contents_of(request) if isinstance(entry.get("uri"), str)]
    asked = _plain_uri(request.uri)
    if found and not any(_plain_uri(uri) == asked or _plain_uri(uri).startswith(f"{asked}/") for uri in found):
        yield RESOURCE_URI_CHANGED.finding(
            message=f"'{quote(request.uri, 100)}' was asked for, and the contents are of '{quote(found[0], 100)}'.",
            evidence=quote(found[0]),
            pointer="/contents/0/uri",
        )


def _plain_uri(uri: str) -> str:
    return decode(uri).casefold().rstrip("/")


RESOURCE_MIME_MISMATCH = Card(
    id="resource-mime-mismatch",
    title="Resource contents do not match their MIME type",
    severity=Severity.WARNING,
    looks_for=(
        "Text under the MIME type of an image, of sound, video or PDF; JSON that does not parse; an image, a PDF or an "
        "archive that begins with other bytes than its kind. Information: a blob under a MIME type of text, and "
        "contents with another MIME type than the list declares."
    ),
    why="Hosts choose by the MIME type how to show a resource and whether a model can read it at all.",
    remedy="Declare the MIME type of what is sent, the same in the list and the contents (`mime_type=` in the SDKs).",
)
_BINARY_KINDS: Final = ("image/", "audio/", "video/", "font/")
_BINARY_TYPES: Final = frozenset({"application/pdf", "application/zip", "application/gzip"})
_IN_TEXT: Final = ("+xml", "+json", "/xml", "/svg")
_FIRST_BYTES: Final[Mapping[str, tuple[bytes, ...]]] = {
    "image/png": (b"\x89PNG",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF8",),
    "application/pdf": (b"%PDF",),
    "application/zip": (b"PK",),
    "application/gzip": (b"\x1f\x8b",),
}
_LONGEST_JSON: Final = 5_000_000  # Characters of JSON that are parsed.


@of_request(RESOURCE_MIME_MISMATCH)
def check_resource_mime_mismatch(request: ObservedRequest) -> Iterator[Finding]:
    """Report the first of the contents that is something else."""
    if request.method != "resources/read" or not request.is_valid:
        return
    contents = contents_of(request)
    declared = _essence(request.item.text("mimeType")) if request.item is not None else ""
    for index, entry in enumerate(contents):
        mime = entry.get("mimeType")
        essence = _essence(mime) if isinstance(mime, str) else ""
        # The contents speak for themselves; without a type of their own the list's counts.
        for problem, severity in _mime_problems(entry, essence or (declared if len(contents) == 1 else "")):
            yield RESOURCE_MIME_MISMATCH.finding(
                message=problem, severity=severity, pointer=f"/contents/{index}/mimeType", confidence=90
            )
            return
        if declared and essence and declared != essence and len(contents) == 1:
            yield RESOURCE_MIME_MISMATCH.finding(
                message=f"The list declares '{quote(declared, 60)}', and the contents are '{quote(essence, 60)}'.",
                severity=Severity.INFO,
                pointer=f"/contents/{index}/mimeType",
            )


def _mime_problems(entry: Mapping[str, object], essence: str) -> Iterator[tuple[str, Severity]]:
    text, blob = entry.get("text"), entry.get("blob")
    shown = quote(essence, 60)
    if isinstance(text, str):
        if (essence.startswith(_BINARY_KINDS) or essence in _BINARY_TYPES) and not essence.endswith(_IN_TEXT):
            yield f"Text is sent as '{shown}': \"{quote(text, 60)}\"", Severity.WARNING
        elif (essence.endswith(("/json", "+json"))) and len(text) <= _LONGEST_JSON and not _is_json(text):
            yield f"The contents sent as '{shown}' are not JSON: \"{quote(text, 80)}\"", Severity.WARNING
    elif isinstance(blob, str):
        try:
            opening = b64decode(blob[:16], validate=True)
        except (binascii.Error, ValueError):
            opening = None
        expected = _FIRST_BYTES.get(essence, ())
        if opening is not None and expected and not opening.startswith(expected):
            yield f"The bytes that are sent as '{shown}' do not begin like that.", Severity.WARNING
        elif essence.startswith("text/"):
            yield f"A blob is sent as '{shown}': send it as text, or declare what it is.", Severity.INFO


def _essence(mime: str) -> str:
    """`text/html; charset=utf-8` → `text/html`."""
    return mime.partition(";")[0].strip().lower()


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text.removeprefix("\ufeff").encode("utf-8", "surrogatepass"))
    except (msgspec.DecodeError, UnicodeError):
        return False
    except RecursionError:
        return True
    return True


RESOURCE_MIME_MISSING = Card(
    id="resource-mime-missing",
    title="Contents of resources have no MIME type",
    severity=Severity.INFO,
    looks_for="Contents that were read and have no `mimeType`; one finding for the server.",
    why="Hosts guess how to show it, and whether a model can read it.",
    remedy="Send `mimeType` with the contents, also where the list declares it.",
)


@of_items(RESOURCE_MIME_MISSING)
def check_resource_mime_missing(seen: ObservedItems) -> Iterator[Finding]:
    """One finding with the number and the first URIs."""
    read = [(request.uri, contents_of(request)) for request in seen.requests if request.is_valid]
    told = [(uri, contents) for uri, contents in read if contents]
    lacking = [uri for uri, contents in told if any(not entry.get("mimeType") for entry in contents)]
    if lacking:
        yield RESOURCE_MIME_MISSING.finding(
            message=f"{len(lacking)} of {len(told)} resources that were read name no MIME type: "
            f"{list_names(lacking, 3)}.",
            pointer="/contents/0/mimeType",
        )


RESOURCE_SIZE_WRONG = Card(
    id="resource-size-wrong",
    title="The size of a resource differs from the declared one",
    severity=Severity.WARNING,
    looks_for=(
        "A `size` in the list that differs from the bytes that were read by more than a tenth and more than 64 bytes. "
        "The size is that of the raw contents, before base64."
    ),
    why="Hosts decide by the size whether a resource fits into the context of a model.",
    remedy="Declare the bytes of the contents, or leave `size` out where it changes.",
)
_SIZE_TOLERANCE: Final = 64


@of_request(RESOURCE_SIZE_WRONG)
def check_resource_size_wrong(request: ObservedRequest) -> Iterator[Finding]:
    """Compare the size of what was read whole with what was declared."""
    if request.method != "resources/read" or request.item is None or request.item.kind != "resource":
        return
    declared, contents = count(members(request.item.raw).get("size")), contents_of(request)
    if declared is None or len(contents) != 1:
        return
    text, blob = contents[0].get("text"), contents[0].get("blob")
    if isinstance(text, str):
        size = len(text.encode("utf-8", "surrogatepass"))
    elif isinstance(blob, str):
        size = len(blob.rstrip("=")) * 3 // 4
    else:
        return
    if abs(size - declared) > max(_SIZE_TOLERANCE, declared // 10):
        yield RESOURCE_SIZE_WRONG.finding(
            message=f"The list declares {declared:,} bytes, and {size:,} were read.",
            pointer="/size",
            confidence=85,
        )


RESOURCE_OVERSIZED = Card(
    id="resource-oversized",
    title="A resource is too large for a model",
    severity=Severity.INFO,
    looks_for="Text of more than 400,000 characters (about 100,000 tokens) in the contents of one resource.",
    why="A host that gives it to a model fills the context with it, cuts it, or fails.",
    remedy="Split it into several resources, or offer a template with a page or a section.",
)
_MOST_CHARACTERS: Final = 400_000


@of_request(RESOURCE_OVERSIZED)
def check_resource_oversized(request: ObservedRequest) -> Iterator[Finding]:
    """Count the characters of all texts."""
    if request.method != "resources/read" or not request.is_valid:
        return
    texts = [entry.get("text") for entry in contents_of(request)]
    length = sum(len(text) for text in texts if isinstance(text, str))
    if length > _MOST_CHARACTERS:
        yield RESOURCE_OVERSIZED.finding(message=f"The resource has {length:,} characters.", pointer="/contents")
