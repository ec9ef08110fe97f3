"""`Judge`: checks a value against one part of a document, references included."""

import jsonschema_rs
import orjson

from toolvet.core.json_value import is_object, members, pointer
from toolvet.core.schema.compilation import Schema, compiled
from toolvet.core.schema.reference import Subschema
from toolvet.core.schema.walk import subschemas


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
        ready = compiled({**schema, "$schema": f"http://{part.scope.dialect.uri}"} if _is_old(part) else schema)
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


def _is_old(part: Subschema) -> bool:
    return part.scope.dialect.number != 20
