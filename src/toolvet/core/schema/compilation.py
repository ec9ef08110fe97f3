"""`compiled`: a JSON Schema made ready to judge instances, once per content and process."""

import json
import marshal
from collections import OrderedDict
from functools import partial
from typing import TYPE_CHECKING, Literal, cast

import jsonschema_rs
import msgspec
import orjson

from toolvet.core.json_value import (
    is_endless,
    is_object,
    members,
    names,
    pointer,
)
from toolvet.core.schema.document import DIALECTS, Dialect, Scope, Subschema, dialect_of, older_dialects, subschemas
from toolvet.core.schema.violation import MOST_LISTED, Violation, unexplained, unlisted, violations_of
from toolvet.core.schema.weight import MOST_ERRORS, MOST_STEPS, CopyCounter, Weigher, depth

if TYPE_CHECKING:
    from collections.abc import Callable

ProblemKind = Literal["invalid", "unsupported_dialect", "remote_ref", "broken_ref", "too_complex"]


class SchemaProblem(msgspec.Struct, frozen=True):
    """Why a schema cannot judge anything: the problem, and its place in the schema (a JSON Pointer)."""

    kind: ProblemKind
    message: str
    pointer: str = ""


class Schema:
    """A compiled JSON Schema. Build one with `compiled`.

    With a `problem` it checks nothing: every instance is valid (a broken schema is a finding about the schema, and must
    not fail the values). `notes` names parts that were left out, such as a regular expression that no engine accepts.
    `document` is the schema itself, a private copy: do not change it; `usable` is the part of it that is in force.
    `reading` says why the schema was read as an older draft than the one that holds without `$schema`; None if it was
    not.
    """

    __slots__ = (
        "_backtracks",
        "_copies",
        "_parts",
        "_validator",
        "_weigher",
        "dialect",
        "document",
        "notes",
        "problem",
        "reading",
        "usable",
    )

    def __init__(
        self,
        document: object,
        *,
        usable: object = None,
        dialect: Dialect = DIALECTS[-1],
        validator: jsonschema_rs.Validator | None = None,
        backtracks: bool = False,
        weigher: Weigher | None = None,
        notes: tuple[str, ...] = (),
        problem: SchemaProblem | None = None,
        reading: str | None = None,
    ) -> None:
        self.document = document
        self.usable = document if usable is None else usable
        self.dialect = dialect
        self.problem = problem
        self.notes = notes
        self.reading = reading
        self._validator = validator
        self._backtracks = backtracks
        self._weigher = weigher
        self._parts: jsonschema_rs.ValidatorMap | None = None
        self._copies: CopyCounter | None = None

    def __reduce__(self) -> tuple[object, ...]:
        # A validator cannot be pickled or copied. It is compiled again, or found if it was compiled before.
        restore = compiled if self.problem is None else partial(Schema, problem=self.problem)
        return restore, (self.document,)

    def is_valid(self, instance: object) -> bool:
        """Whether `instance` satisfies the schema, formats included. Never raises: a value outside JSON is not valid.

        A recursive schema whose alternatives multiply with the depth of the value beyond any budget judges nothing.
        """
        if self._validator is None or (self._weigher is not None and self._is_beyond(instance)):
            return True
        try:
            if self._validator.is_valid(instance):
                return True
        except (ValueError, TypeError, RecursionError):
            return False
        # A pattern that ran out of its budget counts as a failure there, and as no proof here.
        return self._backtracks and not self.violations(instance)

    def violations(self, instance: object) -> tuple[Violation, ...]:
        """Every way in which `instance` breaks the schema, in the order of the instance. Total.

        At most 2,000 are listed, and fewer where all of them would take too much memory: then the last violation is
        `unlisted`. Of a value with more than 50,000 parts only one is listed: it may have millions.
        """
        if self._validator is None or (self._weigher is not None and self._is_beyond(instance)):
            return ()
        try:
            if self._validator.is_valid(instance):
                return ()
        except (ValueError, TypeError, RecursionError) as problem:
            return (unexplained(instance, f"not a JSON value that can be checked: {problem}"),)
        return self.explain(instance)

    def explain(self, instance: object) -> tuple[Violation, ...]:
        """The same as `violations`, for a value that `is_valid` refused."""
        if self._validator is None or (self._weigher is not None and self._is_beyond(instance)):
            return ()
        if self._weigher is not None and self._weigher.of(instance) > MOST_ERRORS:
            return (unexplained(instance, "not valid, in too many ways to tell"),)
        return self._errors(self._validator, instance)

    def explain_part(self, place: str, part: Subschema, instance: object) -> tuple[Violation, ...]:
        """What `instance` breaks of the `part` of the `usable` document at the JSON Pointer `place`."""
        validators = self.parts()
        validator = None if validators is None else validators.get(f"#{place}")
        if validator is None:
            return (unexplained(instance, "this part of the schema cannot be checked by itself"),)
        return self._errors(validator, instance, part)

    def _errors(
        self, validator: jsonschema_rs.Validator, instance: object, part: Subschema | None = None
    ) -> tuple[Violation, ...]:
        if self._copies is None:
            self._copies = CopyCounter(Subschema(self.usable, Scope(self.usable, self.dialect)))
        try:
            if (wanted := self._copies.affordable(instance, part)) == "all":
                return violations_of(validator.iter_errors(instance), instance)
            found = self._missing(instance) if part is None else ()
            if not found and wanted == "first":
                try:
                    validator.validate(instance)
                except jsonschema_rs.ValidationError as error:
                    found = violations_of([error], instance)
                if not found:
                    return ()
        except (ValueError, TypeError, RecursionError) as problem:
            return (unexplained(instance, f"not a JSON value that can be checked: {problem}"),)
        return (*found[:MOST_LISTED], unlisted(None))

    def _missing(self, instance: object) -> tuple[Violation, ...]:
        """The missing members of `instance` itself, as the validator reports them, but without a copy for each."""
        root = members(self.usable)
        if not is_object(instance) or (self.dialect.refs_stand_alone and "$ref" in root):
            return ()
        return tuple(
            Violation(
                keyword="required",
                pointer="",
                schema_pointer="/required",
                message=f"{json.dumps(name, ensure_ascii=False)} is a required property",
                params={"property": name},
                instance=instance,
            )
            for name in names(root.get("required"))
            if name not in instance
        )

    def _is_beyond(self, instance: object) -> bool:
        return self._weigher is not None and depth(instance, _DEEP) >= _DEEP and self._weigher.of(instance) > MOST_STEPS

    def effort(self, instance: object) -> int:
        """How many steps a validation of `instance` may take, where references and alternatives multiply; else 1."""
        return 1 if self._weigher is None else self._weigher.of(instance)

    def parts(self) -> jsonschema_rs.ValidatorMap | None:
        """A validator for every part of the `usable` document by JSON Pointer (`#/properties/a`), on first demand."""
        if self._parts is None and is_object(self.usable):
            own = {**members(self.usable), "$schema": self.dialect.schema_uri}
            try:
                self._parts = jsonschema_rs.validator_map_for(
                    own, validate_formats=True, offline=True, pattern_options=_BACKTRACKING
                )
            except ValueError:
                return None
        return self._parts


def compiled(schema: object) -> Schema:
    """Return the compiled form of any value that claims to be a schema. Total, and cached by content.

    Two dicts with the same content share one compilation, and a dict that was changed in place is compiled again: the
    key is the content, never the identity.
    """
    try:
        # 0.6 µs for a typical tool schema. The guard below and the JSON text cost 3.5 µs together. `marshal` needs no
        # guard, because it writes a shared part only once, and its bytes differ wherever the JSON differs. Finding a
        # kept copy by identity and comparing it is not faster: `==` is too lax (`1` equals `True`, and order does not
        # count), so the text would have to be compared, too.
        written = _marshalled(schema)
    except ValueError:
        # Not of plain types, or more than 2,000 levels deep.
        return _compiled_by_text(schema)
    found = _KNOWN.get(written)
    if found is None:
        found = _compiled_by_text(schema)
        if len(_KNOWN) >= _CACHE_SIZE:
            _KNOWN.clear()
        _KNOWN[written] = found
    return found


def _compiled_by_text(schema: object) -> Schema:
    """The compiled form, by the JSON text of the schema: dicts with the same content have one, if shared or not."""
    if is_endless(schema):
        return Schema(None, problem=SchemaProblem("too_complex", "the schema contains itself, or has no end in JSON"))
    try:
        key = orjson.dumps(schema, option=_STRICT)
    except (TypeError, RecursionError):
        try:
            # Whole numbers beyond 64 bits, deep nesting: rare, so slow is fine.
            key = json.dumps(schema).encode()
        except (TypeError, ValueError, RecursionError) as problem:
            return Schema(schema, problem=SchemaProblem("invalid", f"the schema is not JSON: {problem}"))
    found = _CACHE.get(key)
    if found is None:
        found = _CACHE[key] = _compile(key)
        if len(_CACHE) > _CACHE_SIZE:
            _CACHE.popitem(last=False)
    else:
        try:
            _CACHE.move_to_end(key)
        except KeyError:  # Another thread dropped it meanwhile.
            _CACHE[key] = found
    return found


_STRICT = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS
_marshalled = cast("Callable[[object], bytes]", marshal.dumps)
# By JSON text, the least recently used one last; and in front of it by what `marshal` writes, emptied when it is full.
_CACHE: OrderedDict[bytes, Schema] = OrderedDict()
_KNOWN: dict[bytes, Schema] = {}
_CACHE_SIZE = 2048
# A value that is less deep cannot make a schema of sane size explode.
_DEEP = 8
_LINEAR = jsonschema_rs.RegexOptions(size_limit=2_000_000, dfa_size_limit=4_000_000)
# Look-around and back references need the other engine: at this limit the worst pattern found took under 2 ms.
_BACKTRACKING = jsonschema_rs.FancyRegexOptions(backtrack_limit=20_000, size_limit=2_000_000, dfa_size_limit=4_000_000)


def _parsed(key: bytes) -> object:
    try:
        return cast("object", orjson.loads(key))
    except ValueError:
        return cast("object", json.loads(key))


def _compile(key: bytes) -> Schema:
    parsed = _parsed(key)
    document = parsed if isinstance(parsed, bool) else dict(parsed) if is_object(parsed) else None
    if document is None:
        shown = key[:40].decode(errors="replace")
        return Schema(parsed, problem=SchemaProblem("invalid", f"a schema is an object, true or false, not {shown}"))
    dialect = dialect_of(document)
    if isinstance(dialect, str):
        return Schema(document, problem=SchemaProblem("unsupported_dialect", dialect, "/$schema"))
    ready = _compile_as(key, document, dialect)
    if ready.problem is None or "$schema" in members(document):
        return ready
    # Servers ship schemas of older drafts without saying so. They mean what they meant there: `items` as an array
    # (and draft 4's boolean bounds) says exactly which values are legal, and letting all pass would help no caller.
    for older in older_dialects(document, ready.problem.pointer):
        found = _compile_as(key, document, older)
        if found.problem is None:
            place = ready.problem.pointer
            found.reading = (
                f"{place}: `{place.rpartition('/')[2]}` is written as in an older draft, but without `$schema` "
                f"JSON Schema 2020-12 holds; the schema is read as {older.name}"
            )
            return found
    return ready


def _compile_as(
    key: bytes,
    document: dict[str, object] | bool,  # noqa: FBT001 - `true` and `false` are schemas.
    dialect: Dialect,
) -> Schema:
    # Only references make a validation larger than its schema, and only where branches or joins meet them.
    may_multiply = b'ef":' in key and any(word in key for word in _MULTIPLIERS)
    weigher = Weigher(document, Scope(document, dialect)) if may_multiply else None
    if weigher is not None and not weigher.grows():
        weigher = None
    if weigher is not None and weigher.multiplies():
        return Schema(
            document,
            dialect=dialect,
            problem=SchemaProblem(
                "too_complex", "the references of this schema multiply: no budget suffices to check it"
            ),
        )
    try:
        return Schema(
            document, dialect=dialect, validator=_build_validator(dialect, document, _LINEAR), weigher=weigher
        )
    except ValueError as error:
        kind = error.kind if isinstance(error, jsonschema_rs.ValidationError) else None
        if not isinstance(kind, jsonschema_rs.ValidationErrorKind.Format) or kind.format != "regex":
            return Schema(document, dialect=dialect, problem=_problem_of(error))
    usable = cast("dict[str, object] | bool", _parsed(key))
    notes = _drop_bad_patterns(usable)
    try:
        validator = _build_validator(dialect, usable, _BACKTRACKING)
    except ValueError as error:
        return Schema(document, dialect=dialect, problem=_problem_of(error))
    return Schema(
        document,
        dialect=dialect,
        usable=usable,
        validator=validator,
        backtracks=True,
        weigher=weigher,
        notes=notes,
    )


_MULTIPLIERS = (b'"anyOf"', b'"oneOf"', b'"allOf"', b'"not"', b'"if"')


def _build_validator(
    dialect: Dialect,
    document: dict[str, object] | bool,  # noqa: FBT001 - `true` and `false` are schemas.
    patterns: jsonschema_rs.RegexOptions | jsonschema_rs.FancyRegexOptions,
) -> jsonschema_rs.Validator:
    # Offline: the library would fetch http(s) references and open file: references by itself.
    return dialect.validator(document, validate_formats=True, offline=True, pattern_options=patterns)


def _problem_of(error: ValueError) -> SchemaProblem:
    if not isinstance(error, jsonschema_rs.ValidationError):
        return SchemaProblem("invalid", str(error))
    message = error.message.splitlines()[0] if error.message else "the schema is invalid"
    place = pointer(error.instance_path)
    if isinstance(error.kind, jsonschema_rs.ValidationErrorKind.Referencing):
        if message.startswith("Unknown meta-schema"):
            return SchemaProblem("unsupported_dialect", message, place)
        if "is not present in a registry" in message:
            return SchemaProblem(
                "remote_ref",
                f"{message.split(' is not present')[0]} is not part of the schema, and is never fetched",
                place,
            )
        return SchemaProblem("broken_ref", message, place)
    return SchemaProblem("invalid", message, place)


def _drop_bad_patterns(usable: dict[str, object] | bool) -> tuple[str, ...]:  # noqa: FBT001
    """Remove the patterns that no engine accepts from `usable`: each fails open by itself, and is named."""
    notes: list[str] = []
    # The walk does not visit removed parts: it reads the children of a schema after this loop has changed it.
    for path, found in subschemas(usable):
        here = cast("dict[str, object]", found)
        pattern = here.get("pattern")
        if isinstance(pattern, str) and not _is_usable_pattern(pattern):
            notes.append(f"{pointer((*path, 'pattern'))}: the regular expression {pattern!r} cannot be used")
            del here["pattern"]
        named = members(here.get("patternProperties"))
        bad = dict.fromkeys(name for name in named if not _is_usable_pattern(name))
        if bad:
            place = (*path, "patternProperties")
            notes.extend(f"{pointer((*place, name))}: not a usable regular expression" for name in bad)
            # Any name might have matched, so every name counts as declared.
            kept = {name: sub for name, sub in named.items() if name not in bad}
            here["patternProperties"] = {**kept, "": kept.get("", True)}
    return tuple(notes)


def _is_usable_pattern(pattern: str) -> bool:
    try:
        jsonschema_rs.Draft202012Validator({"pattern": pattern}, offline=True, pattern_options=_BACKTRACKING)
    except jsonschema_rs.ValidationError:
        return False
    return True


class Judge:
    """Checks values against parts of one document. Without a document, a part with a reference accepts every value.

    It may accept too much, because the whole value is validated in the end, but never refuses what is valid.
    """

    def __init__(self, document: Schema | None = None) -> None:
        self._document = document
        self._map: jsonschema_rs.ValidatorMap | None = None
        self._pointers: dict[int, str] | None = None

    def accepts(self, part: Subschema, value: object) -> bool:
        """Whether `value` satisfies `part`."""
        schema = part.schema
        if isinstance(schema, bool):
            return schema
        if not is_object(schema) or not schema:
            return True
        validator = self._validator(schema)
        if validator is not None:
            try:
                return validator.is_valid(value)
            except (ValueError, RecursionError):
                return False
        own = members(schema)
        try:
            if b'ef":' in orjson.dumps(own):
                return True
        except TypeError:
            return True
        dialect = part.scope.dialect
        alone = own if dialect.number == 20 else {**own, "$schema": f"http://{dialect.uri}"}
        return compiled(alone).is_valid(value)

    def _validator(self, schema: object) -> jsonschema_rs.Validator | None:
        if self._document is None or not is_object(self._document.usable):
            return None
        if self._pointers is None:
            # Every part of the document is compiled once, when the first one is asked for.
            self._map = self._document.parts()
            self._pointers = {id(found): "#" + pointer(path) for path, found in subschemas(self._document.usable)}
        place = self._pointers.get(id(schema))
        return None if place is None or self._map is None else self._map.get(place)
