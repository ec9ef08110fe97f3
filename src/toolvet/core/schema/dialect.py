"""`Dialect`: the draft of JSON Schema that a document is written in."""

import jsonschema_rs
import msgspec

from toolvet.core.json_value import elements, is_array, members


class Dialect(msgspec.Struct, frozen=True):
    """A supported draft: its `$schema`, the validator for it, and the number by which the library knows it."""

    name: str
    uri: str
    validator: type[jsonschema_rs.Validator]
    number: int

    @property
    def schema_uri(self) -> str:
        """The `$schema` as the draft itself writes it."""
        return f"https://{self.uri}" if self.number > 7 else f"http://{self.uri}#"

    @property
    def refs_stand_alone(self) -> bool:
        """Up to draft 7, the siblings of `$ref` are ignored."""
        return self.number <= 7

    @property
    def has_prefix_items(self) -> bool:
        """Since 2020-12 a tuple is `prefixItems`, before it was an array under `items`."""
        return self.number == 20


DIALECTS = (
    Dialect("draft 4", "json-schema.org/draft-04/schema", jsonschema_rs.Draft4Validator, 4),
    Dialect("draft 6", "json-schema.org/draft-06/schema", jsonschema_rs.Draft6Validator, 6),
    Dialect("draft 7", "json-schema.org/draft-07/schema", jsonschema_rs.Draft7Validator, 7),
    Dialect("2019-09", "json-schema.org/draft/2019-09/schema", jsonschema_rs.Draft201909Validator, 19),
    Dialect("2020-12", "json-schema.org/draft/2020-12/schema", jsonschema_rs.Draft202012Validator, 20),
)

_BY_URI = {dialect.uri: dialect for dialect in DIALECTS}


def dialect_of(document: object) -> Dialect | str:
    """Return the dialect of a document, or a sentence that says why there is none.

    Without `$schema` it is 2020-12 (MCP 2026-07-28, basic).

    `http` or `https` and a trailing `#` do not make another dialect: people write all four forms.
    """
    uri = members(document).get("$schema")
    if uri is None:
        return DIALECTS[-1]
    if not isinstance(uri, str):
        return "`$schema` must be a string"
    bare = uri.removesuffix("#").removeprefix("https://").removeprefix("http://")
    return _BY_URI.get(bare) or f"the dialect {uri!r} is not supported: use draft 4, 6, 7, 2019-09 or 2020-12"


def older_dialects(document: object, pointer: str) -> tuple[Dialect, ...]:
    """Return the older drafts in which the value at `pointer` may be legal; none if all of them forbid it."""
    here, last = document, ""
    for step in pointer.split("/")[1:]:
        last = step.replace("~1", "/").replace("~0", "~")
        if is_array(here):
            items = elements(here)
            here = items[int(last)] if last.isdecimal() and int(last) < len(items) else None
        else:
            here = members(here).get(last)
    if last == "items" and is_array(here):
        return DIALECTS[2], DIALECTS[0]
    return DIALECTS[:1] if last in ("exclusiveMinimum", "exclusiveMaximum") and isinstance(here, bool) else ()
