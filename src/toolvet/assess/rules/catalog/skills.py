"""How skills are listed, and whether their files are what the list says (SEP-2640, Agent Skills specification)."""

import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Final

from toolvet.assess.rules.item import ListedItem, ObservedItems, ObservedRequest, contents_of, decode
from toolvet.assess.rules.quote import list_names, quote, show
from toolvet.assess.rules.rule import of_item, of_items, of_request
from toolvet.core.json_value import count, elements, is_object, members
from toolvet.findings import Card, Finding, Severity

SKILL_ILLEGAL = Card(
    id="skill-illegal",
    title="Invalid skill in skills/list",
    severity=Severity.ERROR,
    looks_for=(
        "An entry without `uri`, `frontmatter.name` or `frontmatter.description`; a name that breaks the naming rules "
        "or differs from the directory in the URI; `resources` that lack SKILL.md, list a file twice or one outside "
        "of the skill, or have a digest that is not `sha256:` and 64 lowercase hexadecimal digits. An entry without "
        "`resources` is reported as info: hosts may decline to load it."
    ),
    why="Hosts verify every file against this entry, and must not load a skill that fails.",
    remedy="Build the entry from the directory: the frontmatter as it is, and one digest for each file.",
)
SKILL_CHANGED = Card(
    id="skill-content-differs",
    title="A file of a skill is not what the list promises",
    severity=Severity.ERROR,
    looks_for=(
        "A file whose SHA-256 digest or size differs from the entry's, a SKILL.md without frontmatter or with another "
        "name or description than the entry, and a file that is listed and cannot be read."
    ),
    why="Hosts must treat a difference as a failed verification. A content that changes needs a new digest.",
    remedy="Compute digests from the bytes that resources/read returns, whenever a file changes.",
)
SKILL_UNDECLARED = Card(
    id="skill-file-undeclared",
    title="SKILL.md refers to a file that its entry does not list",
    severity=Severity.WARNING,
    looks_for="A relative link in SKILL.md to a file of the skill that `resources` lacks.",
    why="Hosts must refuse to read files of a skill that are not listed, so the model cannot follow the link.",
    remedy="List every file of the skill, with its digest.",
)
SKILL_NOT_SERVED = Card(
    id="skill-get-failed",
    title="skills/get fails for a listed skill",
    severity=Severity.ERROR,
    looks_for="An error for the URI of a listed skill, or an entry that differs from the listed one.",
    why="Hosts recover from a stale list with skills/get, and a server that has skills must implement it.",
    remedy="Answer skills/get with `skill`: the same entry as in skills/list.",
)
# Agent Skills specification, `name`: 1 to 64 lowercase letters, digits and single hyphens between them.
_NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_LONGEST_NAME: Final = 64
_LONGEST_DESCRIPTION: Final = 1_024
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_MAIN: Final = "/SKILL.md"
_FRONTMATTER: Final = re.compile(r"---[ \t]*\r?\n(.{0,20000}?)\r?\n---[ \t]*(?:\r?\n|$)", re.DOTALL)
# A scalar on one line. Other YAML is not read: a difference that is not certain is none.
_SCALAR: Final = re.compile(
    r"(name|description)[ \t]*:[ \t]+([^\s&*!|>{\[%@`#\"'][^\n#:]*|\"[^\"\\\n]*\"|'[^'\n]*')[ \t]*$"
)
_LINK: Final = re.compile(r"\]\(<?([^)\s<>#?]{1,300})[^)\n]{0,200}\)")
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_MOST_LINKS: Final = 500


@of_item(SKILL_ILLEGAL)
def check_skill_illegal(item: ListedItem) -> Iterator[Finding]:
    """Report what makes hosts decline an entry."""
    if item.kind != "skill":
        return
    raw = members(item.raw)
    frontmatter = members(raw.get("frontmatter"))
    name, description = frontmatter.get("name"), frontmatter.get("description")
    for pointer, value in (
        ("/uri", raw.get("uri")),
        ("/frontmatter/name", name),
        ("/frontmatter/description", description),
    ):
        if not isinstance(value, str) or not value:
            problem = "is missing" if value is None else f"is {show(value, 60)}"
            yield SKILL_ILLEGAL.finding(message=f"`{pointer[1:].replace('/', '.')}` {problem}.", pointer=pointer)
    if isinstance(name, str) and name:
        if not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
            yield SKILL_ILLEGAL.finding(
                message=f"The name {quote(name, 80)!r} is not 1 to 64 lowercase letters, digits and single hyphens.",
                pointer="/frontmatter/name",
            )
        folder = _folder(item.identity)
        if item.identity and folder.rpartition("/")[2] != name:
            yield SKILL_ILLEGAL.finding(
                message=f"The URI {quote(item.identity, 120)!r} does not end in {quote(f'{name}{_MAIN}', 80)!r}.",
                pointer="/uri",
            )
    if isinstance(description, str) and len(description) > _LONGEST_DESCRIPTION:
        yield SKILL_ILLEGAL.finding(
            message=f"The description has {len(description):,} characters; hosts read 1,024.",
            severity=Severity.WARNING,
            pointer="/frontmatter/description",
        )
    yield from _check_files(item, raw)


def _check_files(item: ListedItem, raw: Mapping[str, object]) -> Iterator[Finding]:
    if "resources" not in raw:
        yield SKILL_ILLEGAL.finding(
            message="The skill has no `resources`, so hosts cannot verify it and may decline to load it.",
            severity=Severity.INFO,
            pointer="/resources",
        )
        return
    files = _declared(item)
    wrong: list[str] = []
    if item.identity and item.identity not in files:
        wrong.append(f"{_MAIN[1:]} itself is not listed")
    uris = [str(members(each).get("uri")) for each in elements(raw.get("resources"))]
    twice = [uri for uri, times in Counter(uris).items() if times > 1]
    outside = [uri for uri in files if not uri.startswith(f"{_folder(item.identity)}/")]
    undigested = [uri for uri, each in files.items() if not _DIGEST.fullmatch(str(each.get("digest")))]
    for found, says in (
        (twice, "listed more than once"),
        (outside, "outside of the skill's directory"),
        (undigested, "without a digest of the form sha256: and 64 lowercase hexadecimal digits"),
    ):
        if found:
            wrong.append(f"{says}: {list_names(found, 3)}")
    if wrong:
        yield SKILL_ILLEGAL.finding(message=f"`resources`: {'; '.join(wrong)}.", pointer="/resources")


@of_items(SKILL_ILLEGAL)
def check_skills_alike(seen: ObservedItems) -> Iterator[Finding]:
    """Report names that several skills of the list have: it should not, and hosts have to tell them apart."""
    names = Counter(str(members(members(item.raw).get("frontmatter")).get("name")) for item in seen.of("skill"))
    twice = [name for name, times in names.items() if times > 1]
    if twice:
        yield SKILL_ILLEGAL.finding(
            message=f"Several skills have the same name: {list_names(twice, 3)}.",
            severity=Severity.INFO,
            pointer="/skills/list",
        )


@of_request(SKILL_NOT_SERVED)
def check_skill_get(request: ObservedRequest) -> Iterator[Finding]:
    """Compare the entry of skills/get with the listed one."""
    if request.method != "skills/get" or request.item is None:
        return
    if request.error is not None:
        yield SKILL_NOT_SERVED.finding(
            message=f'skills/get returns error {request.error.code}: "{quote(request.error.message, 140)}"',
            evidence=quote(request.error.message, 300),
        )
    elif request.succeeded:
        entry, listed = members(members(request.result).get("skill")), members(request.item.raw)
        changed = [name for name in ("uri", "frontmatter", "resources") if entry.get(name) != listed.get(name)]
        if changed:
            yield SKILL_NOT_SERVED.finding(
                message=f"The entry of skills/get has other values than the list: {list_names(changed)}.",
                evidence=show(entry, 300),
            )


@of_request(SKILL_CHANGED)
def check_skill_content(request: ObservedRequest) -> Iterator[Finding]:
    """Compare a file that was read with its digest, its size and the frontmatter of the entry."""
    item = request.item
    if item is None or item.kind != "skill" or request.method != "resources/read":
        return
    if request.error is not None:
        yield SKILL_CHANGED.finding(
            message=f"{quote(request.uri, 120)} is listed and cannot be read: error {request.error.code}.",
            evidence=quote(request.error.message, 300),
        )
        return
    data = _bytes_of(request)
    if data is None:
        return
    promised = _declared(item).get(request.uri, {})
    digest, size = promised.get("digest"), count(promised.get("size"))
    actual = f"sha256:{sha256(data).hexdigest()}"
    if isinstance(digest, str) and _DIGEST.fullmatch(digest) and digest != actual:
        yield SKILL_CHANGED.finding(
            message=f"{quote(request.uri, 120)} has another digest than the entry says.",
            evidence=f"listed {digest}, read {actual}",
        )
    elif size is not None and size != len(data):
        yield SKILL_CHANGED.finding(
            message=f"{quote(request.uri, 120)} has {len(data):,} bytes, and the entry says {size:,}.",
        )
    if request.uri == item.identity:
        yield from _check_frontmatter(item, data)


def _check_frontmatter(item: ListedItem, data: bytes) -> Iterator[Finding]:
    found = _FRONTMATTER.match(data.decode("utf-8", "replace").removeprefix("\ufeff"))
    if found is None:
        yield SKILL_CHANGED.finding(message="SKILL.md does not begin with YAML frontmatter between two lines of `---`.")
        return
    listed = members(members(item.raw).get("frontmatter"))
    for line in found[1].splitlines():
        scalar = _SCALAR.fullmatch(line)
        if scalar is not None:
            name, value = scalar[1], scalar[2].strip().strip("\"'" if scalar[2][0] in "\"'" else "")
            if isinstance(listed.get(name), str) and value != listed[name]:
                yield SKILL_CHANGED.finding(
                    message=f"The {name} in SKILL.md is not the one of the entry.",
                    evidence=f"listed {quote(str(listed[name]), 120)!r}, read {quote(value, 120)!r}",
                )


@of_request(SKILL_UNDECLARED)
def check_skill_references(request: ObservedRequest) -> Iterator[Finding]:
    """Report links of SKILL.md that lead to files which hosts must not read."""
    item = request.item
    if item is None or item.kind != "skill" or request.uri != item.identity:
        return
    data, files = _bytes_of(request), _declared(item)
    if data is None or not files:
        return
    folder = _folder(request.uri)
    lacking: dict[str, None] = {}
    for number, link in enumerate(_LINK.finditer(data.decode("utf-8", "replace"))):
        path = decode(link[1]).removeprefix("./")
        is_file = "." in path.rpartition("/")[2] and not path.startswith(("/", "../", "#")) and not _SCHEME.match(path)
        if is_file and f"{folder}/{path}" not in files and f"{folder}/{link[1].removeprefix('./')}" not in files:
            lacking[path] = None
        if number > _MOST_LINKS:
            break
    if lacking:
        yield SKILL_UNDECLARED.finding(
            message=f"SKILL.md refers to {list_names(list(lacking), 4)}, which `resources` does not list.",
            confidence=80,
        )


def _folder(uri: str) -> str:
    return uri.removesuffix(_MAIN) if uri.endswith(_MAIN) else uri.rpartition("/")[0]


def _declared(item: ListedItem) -> Mapping[str, Mapping[str, object]]:
    listed = elements(members(item.raw).get("resources"))
    return {str(each["uri"]): each for each in listed if is_object(each) and isinstance(each.get("uri"), str)}


def _bytes_of(request: ObservedRequest) -> bytes | None:
    contents = contents_of(request)
    if request.method != "resources/read" or not contents:
        return None
    text, blob = contents[0].get("text"), contents[0].get("blob")
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    try:
        return b64decode(blob, validate=True) if isinstance(blob, str) else None
    except Base64Error:
        return None
