"""`compiled`: a JSON Schema made ready to judge instances, once per content and process."""

import json
import marshal
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal, cast

import jsonschema_rs
import msgspec
import orjson

from toolvet.core.json_value import changed, count_values, is_endless, is_object, members, pointer, without
from toolvet.core.schema.document import DIALECTS, Dialect, Scope, Subschema, dialect_of, older_dialects, subschemas
from toolvet.core.schema.violation import Violation, unexplained, violations_of
from toolvet.core.schema.weight import MOST_ERRORS, MOST_STEPS, Weigher, depth

ProblemKind = Literal["invalid", "unsupported_dialect", "remote_ref", "broken_ref", "too_complex"]


class SchemaProblem(msgspec.Struct, frozen=True):
    """Why a schema cannot judge anything: what is wrong, and where in the schema (a JSON Pointer)."""

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

    def __reduce__(self) -> tuple[object, ...]:
        # A validator neither pickles nor copies: it is compiled again, or found where it was compiled before.
        return _restore, (self.document, self.problem)

    def is_valid(self, instance: object) -> bool:
        """Whether `instance` satisfies the schema, formats included. Total: what is not a JSON value is not valid.

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

        Of a value with more than 50,000 parts only one way is reported: it may have millions.
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
        try:
            if self._weigher is not None and self._weigher.of(instance) > MOST_ERRORS:
                return (unexplained(instance, "not valid, in too many ways to tell"),)
            if count_values(instance, _MOST_VALUES) > _MOST_VALUES:
                return self._first_violation(instance)
            return violations_of(self._validator.iter_errors(instance), instance)
        except (ValueError, TypeError, RecursionError) as problem:
            return (unexplained(instance, f"not a JSON value that can be checked: {problem}"),)

    def _first_violation(self, instance: object) -> tuple[Violation, ...]:
        try:
            if self._validator is not None:
                self._validator.validate(instance)
        except jsonschema_rs.ValidationError as error:
            return violations_of([error], instance)
        return ()

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
        # 0.6 µs for a typical tool schema. The guard below and the JSON text cost 3.5 µs together; `marshal` needs no
        # guard, because it writes a part that is shared only once, and tells apart all that JSON does. To compare the
        # schema with a kept copy found by its identity is no faster: equal is not the same (`1` is `True`, and order
        # does not count), so the text would have to be compared, too.
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


def _restore(document: object, problem: SchemaProblem | None) -> Schema:
    """The schema that was pickled or copied."""
    return compiled(document) if problem is None else Schema(document, problem=problem)


_STRICT = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS
_marshalled = cast("Callable[[object], bytes]", marshal.dumps)
# By JSON text, the least recently used one last; and in front of it by what `marshal` writes, emptied when it is full.
_CACHE: OrderedDict[bytes, Schema] = OrderedDict()
_KNOWN: dict[bytes, Schema] = {}
_CACHE_SIZE = 2048
# A value with more parts than these may break a schema in so many ways that to list them takes minutes.
_MOST_VALUES = 50_000
# A value that is less deep cannot make a schema of sane size explode.
_DEEP = 8
_LINEAR = jsonschema_rs.RegexOptions(size_limit=2_000_000, dfa_size_limit=4_000_000)
# Look-around and back references need the other engine: at this limit the worst pattern found took under 2 ms.
_BACKTRACKING = jsonschema_rs.FancyRegexOptions(backtrack_limit=20_000, size_limit=2_000_000, dfa_size_limit=4_000_000)


def _compile(key: bytes) -> Schema:
    parsed = _parse_document(key)
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
    weigher = Weigher(document, Scope(document, dialect)) if _may_multiply(key) else None
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
    except jsonschema_rs.ValidationError as error:
        if not _is_pattern_refusal(error):
            return Schema(document, dialect=dialect, problem=_problem_of(error))
    except ValueError as error:
        return Schema(document, dialect=dialect, problem=SchemaProblem("invalid", str(error)))
    usable, notes = _drop_bad_patterns(document)
    try:
        validator = _build_validator(dialect, usable, _BACKTRACKING)
    except jsonschema_rs.ValidationError as error:
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


def _may_multiply(key: bytes) -> bool:
    """Only references make a validation larger than its schema, and only where branches or joins meet them."""
    return b'ef":' in key and any(word in key for word in (b'"anyOf"', b'"oneOf"', b'"allOf"', b'"not"', b'"if"'))


def _parse_document(key: bytes) -> object:
    try:
        return cast("object", orjson.loads(key))
    except ValueError:
        return cast("object", json.loads(key))


def _build_validator(
    dialect: Dialect,
    document: dict[str, object] | bool,  # noqa: FBT001 - `true` and `false` are schemas.
    patterns: jsonschema_rs.RegexOptions | jsonschema_rs.FancyRegexOptions,
) -> jsonschema_rs.Validator:
    # Offline: the library would fetch http(s) references and open file: references by itself.
    return dialect.validator(document, validate_formats=True, offline=True, pattern_options=patterns)


def _is_pattern_refusal(error: jsonschema_rs.ValidationError) -> bool:
    kind = error.kind
    return isinstance(kind, jsonschema_rs.ValidationErrorKind.Format) and kind.format == "regex"


def _problem_of(error: jsonschema_rs.ValidationError) -> SchemaProblem:
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


def _drop_bad_patterns(document: dict[str, object] | bool) -> tuple[dict[str, object] | bool, tuple[str, ...]]:  # noqa: FBT001
    """The document without the patterns that no engine accepts: each fails open by itself, and is named."""
    usable: object = document
    notes: list[str] = []
    for path, here in subschemas(document):
        pattern = here.get("pattern")
        if isinstance(pattern, str) and not _is_usable_pattern(pattern):
            notes.append(f"{pointer((*path, 'pattern'))}: the regular expression {pattern!r} cannot be used")
            usable = changed(usable, path, partial(without, name="pattern"))
        for name in members(here.get("patternProperties")):
            if not _is_usable_pattern(name):
                notes.append(f"{pointer((*path, 'patternProperties', name))}: not a usable regular expression")
                # Any name might have matched, so every name counts as declared.
                usable = changed(usable, (*path, "patternProperties"), partial(_allow_any_name, name=name))
    return cast("dict[str, object] | bool", usable), tuple(notes)


def _is_usable_pattern(pattern: str) -> bool:
    try:
        jsonschema_rs.Draft202012Validator({"pattern": pattern}, offline=True, pattern_options=_BACKTRACKING)
    except jsonschema_rs.ValidationError:
        return False
    return True


def _allow_any_name(found: object, name: str) -> Mapping[str, object]:
    return {**without(found, name), "": members(found).get("", True)}


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
        if self._document is not None:
            validator = self._validator(schema)
            if validator is not None:
                try:
                    return validator.is_valid(value)
                except (ValueError, RecursionError):
                    return False
        return self._accepts_alone(part, value)

    def _accepts_alone(self, part: Subschema, value: object) -> bool:
        schema = members(part.schema)
        try:
            if b'ef":' in orjson.dumps(schema):
                return True
        except TypeError:
            return True
        ready = compiled(
            {**schema, "$schema": f"http://{part.scope.dialect.uri}"} if part.scope.dialect.number != 20 else schema
        )
        return ready.is_valid(value)

    def _validator(self, schema: object) -> jsonschema_rs.Validator | None:
        if self._pointers is None:
            self._index()
        place = (self._pointers or {}).get(id(schema))
        return None if place is None or self._map is None else self._map.get(place)

    def _index(self) -> None:
        """Compile every part of the document once, when the first one is asked for."""
        self._pointers = {}
        if self._document is None or not is_object(self._document.usable):
            return
        document = members(self._document.usable)
        self._map = self._document.parts()
        self._pointers = {id(found): "#" + pointer(path) for path, found in subschemas(document)}
