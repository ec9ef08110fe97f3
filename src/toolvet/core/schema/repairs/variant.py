"""`variants`: the same text in other spellings, which a format or a pattern may ask for."""

import re
from collections.abc import Iterator, Mapping, Sequence

from toolvet.core.schema.repairs.confidence import Guess
from toolvet.core.schema.repairs.nearest import unquoted
from toolvet.core.schema.repairs.notation import rewrite_moment, rewrite_plainly


def variants(value: object, schemas: Sequence[Mapping[str, object]]) -> Iterator[Guess]:
    """Yield what `value` may have been meant as; the caller checks which of these the schema accepts."""
    named = {name for schema in schemas if isinstance(name := schema.get("format"), str)}
    patterned = any("pattern" in schema for schema in schemas)
    if "date" in named:
        yield from rewrite_moment(value, "date")
    if "time" in named:
        yield from rewrite_moment(value, "time")
    if "date-time" in named:
        yield from rewrite_moment(value, "date-time")
    if not isinstance(value, str) or len(value) > _LONGEST:
        return
    stripped = value.strip()
    if stripped != value:
        yield Guess(stripped, "high")
    if (bare := unquoted(value)) != stripped:
        yield Guess(bare, "high", 1)
    yield from _reformat(bare, named)
    if patterned:
        yield from rewrite_plainly(value)
        yield from _change_case_and_separators(bare)


_LONGEST = 2_000
_UUID = re.compile(
    r"(?:urn:uuid:)?\{?([0-9a-f]{8})[-_ ]?([0-9a-f]{4})[-_ ]?([0-9a-f]{4})[-_ ]?([0-9a-f]{4})[-_ ]?([0-9a-f]{12})\}?",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"(?:[^<>@\n]{0,80}<|mailto:)?([^\s<>@]{1,64}@[^\s<>@]{1,255}?)>?", re.IGNORECASE)
_HOST = re.compile(r"(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}(?::\d{1,5})?(?:[/?#]\S*)?", re.IGNORECASE)
_URI = frozenset({"uri", "iri", "url"})
_EMAIL = frozenset({"email", "idn-email"})


def _reformat(text: str, named: set[str]) -> Iterator[Guess]:
    if "uuid" in named and (found := _UUID.fullmatch(text)):
        yield Guess("-".join(found.groups()), "high")
    if named & _EMAIL and (found := _ADDRESS.fullmatch(text)):
        yield Guess(found[1], "high" if text.lower().startswith("mailto:") else "medium")
    if named & _URI:
        if text.startswith("<") and text.endswith(">"):
            yield Guess(text[1:-1], "high")
        if _HOST.fullmatch(text):
            yield Guess(f"https://{text}", "medium")
        if " " in text and "://" in text:
            yield Guess(text.replace(" ", "%20"), "medium")


def _change_case_and_separators(text: str) -> Iterator[Guess]:
    """Other letter case, other separators, without or with the sign that such values begin with."""
    for other in (text.upper(), text.lower()):
        if other != text:
            yield Guess(other, "medium")
    for old in "-_ ./":
        if old in text:
            for new in ("-", "_", ""):
                if new != old:
                    yield Guess(text.replace(old, new), "medium", 1)
                    yield Guess(text.lower().replace(old, new), "medium", 2)
    if text[:1] in "#@$":
        yield Guess(text[1:], "medium", 1)
    for sign in "#@$+":
        yield Guess(f"{sign}{text}", "medium", 3)
