"""The inputSchema of a tool, and its parameters."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final, cast

from toolvet.assess.rules.quote import list_names, quote, quote_problem, show
from toolvet.assess.rules.rule import of_tool
from toolvet.core.json_value import elements, is_object, members, pointer
from toolvet.core.schema import compiled, subschemas, unsatisfiable_parts
from toolvet.core.tool_rules import ToolDefinition
from toolvet.findings import Card, Finding, Severity

SCHEMA_NOT_OBJECT = Card(
    id="schema-not-object",
    title="The inputSchema does not describe an object",
    severity=Severity.ERROR,
    looks_for='A tool without an inputSchema, or one whose root does not say `"type": "object"`.',
    why=(
        "Arguments are always an object, and the protocol demands that the schema says so. The official TypeScript "
        "client refuses the whole tool list otherwise, and model APIs refuse the request."
    ),
    remedy=(
        'Put `"type": "object"` at the root. A tool without parameters has `{"type": "object", "properties": {}}`. '
        "The SDKs write this for you when the schema comes from the function's signature or a Zod object."
    ),
)


@of_tool(SCHEMA_NOT_OBJECT)
def check_schema_not_object(tool: ToolDefinition) -> Iterator[Finding]:
    """Report a missing schema, a schema that is not an object, and a root of another type."""
    if not isinstance(tool.raw, dict):
        return
    if tool.input_schema is None:
        yield SCHEMA_NOT_OBJECT.finding(message="The tool has no inputSchema.", pointer="/inputSchema")
    elif tool.schema is None:
        yield SCHEMA_NOT_OBJECT.finding(
            message="The inputSchema is not an object.", pointer="/inputSchema", evidence=show(tool.input_schema)
        )
    elif (kind := tool.schema.get("type")) != "object":
        problem = (
            f'has the type {show(kind)}, not "object"'
            if "type" in tool.schema
            else 'has no "type": "object" at its root'
        )
        yield SCHEMA_NOT_OBJECT.finding(
            message=f"The inputSchema {problem}.", pointer="/inputSchema/type", evidence=show(tool.schema, 160)
        )


SCHEMA_INVALID = Card(
    id="schema-invalid",
    title="The inputSchema is not valid JSON Schema",
    severity=Severity.ERROR,
    looks_for=(
        "An inputSchema that does not compile: a keyword with a value that it cannot have, a $ref that leads "
        "nowhere, an unknown dialect; or a regular expression that no engine accepts."
    ),
    why=(
        "No client can check a call against it. Clients that compile schemas refuse the tool or the whole list, model "
        "APIs refuse the request, and the others send whatever the model makes up."
    ),
    remedy=(
        "Fix the keyword at the place named. Schemas written by hand go wrong most often: derive them from the "
        "function's signature (FastMCP), from a pydantic model or from Zod. Without `$schema`, JSON Schema 2020-12 "
        "holds."
    ),
)


@of_tool(SCHEMA_INVALID)
def check_schema_invalid(tool: ToolDefinition) -> Iterator[Finding]:
    """Report why the schema, or a part of it, cannot be used; `remote-reference` reports references to elsewhere."""
    if tool.schema is None:
        return
    schema = compiled(tool.schema)
    if schema.problem is not None and schema.problem.kind != "remote_ref":
        yield SCHEMA_INVALID.finding(
            message=f"The inputSchema cannot be used: {quote_problem(tool.schema, schema.problem)}",
            pointer=f"/inputSchema{schema.problem.pointer}",
            evidence=quote(schema.problem.message),
        )
    if schema.reading is not None:
        place, _, words = schema.reading.partition(": ")
        yield SCHEMA_INVALID.finding(
            message=f"The inputSchema does not say its draft of JSON Schema: {words}.",
            pointer=f"/inputSchema{place}",
            severity=Severity.WARNING,
            evidence=quote(words),
        )
    for note in schema.notes:
        place, _, words = note.partition(": ")
        yield SCHEMA_INVALID.finding(
            message=f"A part of the inputSchema cannot be used: {quote(words or note)}.",
            pointer=f"/inputSchema{place}",
            severity=Severity.WARNING,
            evidence=quote(note),
        )


SCHEMA_UNSATISFIABLE = Card(
    id="schema-unsatisfiable",
    title="No arguments can satisfy the inputSchema",
    severity=Severity.ERROR,
    looks_for=(
        "An inputSchema, or a part of it, that contradicts itself: a minimum above the maximum, a const that the "
        "type forbids, an allOf whose branches exclude each other."
    ),
    why=(
        "Where the whole schema is affected, every call is invalid and the tool cannot be called by a client that "
        "checks. Where a part is, that parameter or that branch can never be used."
    ),
    remedy=(
        "Correct the contradicting keywords at the place named. `additionalProperties: false` inside the branches "
        "of an allOf is a common cause: each branch forbids what the others require; `unevaluatedProperties: false` "
        "beside the allOf says what is meant."
    ),
)


@of_tool(SCHEMA_UNSATISFIABLE)
def check_schema_unsatisfiable(tool: ToolDefinition) -> Iterator[Finding]:
    """An error for the whole schema, a warning for parts; `required-unknown` reports a forbidden required name."""
    if tool.schema is None:
        return
    parts = unsatisfiable_parts(tool.schema)
    # A part inside of one that cannot be satisfied follows from that one.
    roots = [part for part in parts if not any(part.startswith(f"{other}/") for other in parts if other != part)]
    if "" in roots:
        if not any(check_required_unknown.judge(tool)):
            yield SCHEMA_UNSATISFIABLE.finding(
                message="No arguments can satisfy the inputSchema: it contradicts itself.", pointer="/inputSchema"
            )
    elif roots:
        yield SCHEMA_UNSATISFIABLE.finding(
            message=f"No value can satisfy these parts of the inputSchema: {list_names(roots)}.",
            pointer=f"/inputSchema{roots[0]}",
            severity=Severity.WARNING,
            evidence=quote(", ".join(roots)),
        )


REQUIRED_UNKNOWN = Card(
    id="required-unknown",
    title="The schema requires an argument that it does not declare",
    severity=Severity.WARNING,
    looks_for=(
        "A name in `required` that is not in `properties`, and that no other keyword of the root could declare."
    ),
    why=(
        "A model must send something of which it knows neither type nor meaning. With "
        "`additionalProperties: false` the argument is forbidden as well, and no call can be valid."
    ),
    remedy=(
        "Correct the spelling, declare the property, or take the name out of `required`. It is most often left over "
        "from a rename."
    ),
)
# Any of these may declare properties elsewhere.
_MAY_DECLARE_MORE: Final = frozenset(
    {"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "dependencies", "patternProperties"}
)


@of_tool(REQUIRED_UNKNOWN)
def check_required_unknown(tool: ToolDefinition) -> Iterator[Finding]:
    """Report required names that are not declared; an error where the schema forbids them as well."""
    if tool.schema is None or not _MAY_DECLARE_MORE.isdisjoint(tool.schema):
        return
    # A schema for the other properties declares them all.
    if isinstance(tool.schema.get("additionalProperties"), dict):
        return
    unknown = [name for name in dict.fromkeys(tool.required) if name not in tool.properties]
    if unknown:
        treats = "forbids" if tool.closed else "does not declare"
        yield REQUIRED_UNKNOWN.finding(
            message=f"The schema requires {list_names(unknown)}, and {treats} it.",
            pointer="/inputSchema/required",
            severity=Severity.ERROR if tool.closed else None,
            evidence=f"required: {show(list(tool.required))}, properties: {show(list(tool.properties))}",
        )


REMOTE_REFERENCE = Card(
    id="remote-reference",
    title="A schema refers to another document",
    severity=Severity.WARNING,
    looks_for=(
        "A `$ref` in the inputSchema or outputSchema that leads to another document (http, https, file). It is "
        "never fetched here."
    ),
    why=(
        "Clients must not fetch references (protocol 2026-07-28; before that it was an open door for requests "
        "forged on behalf of the client). To a model and to every checker the referenced part does not exist, and "
        "the whole schema may be refused."
    ),
    remedy=(
        "Copy the referenced schema into `$defs` and refer to it with `#/$defs/Name`. Most schema libraries can "
        "bundle (pydantic does so by itself)."
    ),
)
_ELSEWHERE: Final = re.compile(r"(?i)(?:[a-z][a-z0-9+.-]{0,30}:)?//|[a-z][a-z0-9+.-]{1,30}:(?!//)")


@of_tool(REMOTE_REFERENCE)
def check_remote_reference(tool: ToolDefinition) -> Iterator[Finding]:
    """One finding per schema. Meta-schemas of JSON Schema and embedded documents do not count as other documents."""
    for name, schema in (("inputSchema", tool.schema), ("outputSchema", tool.result_schema)):
        problem = None if schema is None else compiled(schema).problem
        if problem is not None and problem.kind == "remote_ref":
            references = dict.fromkeys(
                reference
                for _, here in subschemas(schema)
                for keyword in ("$ref", "$dynamicRef")
                if isinstance(reference := here.get(keyword), str) and _ELSEWHERE.match(reference)
            )
            words = next(
                (reference for reference in references if reference in problem.message),
                next(iter(references), problem.message),
            )
            yield REMOTE_REFERENCE.finding(
                message=f"The {name} refers to another document ({quote(words)}).",
                pointer=f"/{name}{problem.pointer}",
                evidence=quote(", ".join(references) or problem.message),
            )


PARAMETER_UNTYPED = Card(
    id="parameter-untyped",
    title="A parameter has no type",
    severity=Severity.WARNING,
    looks_for=(
        "A declared property, at any depth, without `type` and without anything that implies one (enum, const, "
        "$ref, anyOf, properties, items, pattern, minimum …)."
    ),
    why=(
        "A model has to guess whether to send a string, a number or an object. Some model APIs refuse tools with "
        "untyped parameters."
    ),
    remedy=(
        "Declare a type: annotate the parameter of the Python function (`limit: int`, not `limit` or `limit: Any`), "
        'use a Zod type other than `z.any()`, or write `"type"` into the schema. Where every JSON value is welcome, '
        "say so with a list of types."
    ),
)
# Keywords that say, or at least imply, what a value is.
_TYPE_KEYWORDS: Final = frozenset(
    {
        "type", "enum", "const", "$ref", "$dynamicRef", "$recursiveRef", "anyOf", "oneOf", "allOf", "if", "not",
        "properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties",
        "maxProperties",
        "items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems",
        "pattern", "format", "minLength", "maxLength", "contentEncoding", "contentMediaType",
        "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
    }
)  # fmt: skip
_MOST_UNTYPED: Final = 20
_MOST_SUBSCHEMAS: Final = 5_000  # A person does not read a larger schema either.
_CONDITIONAL: Final = frozenset({"if", "then", "else", "not", "allOf", "anyOf", "oneOf", "dependentSchemas"})


@of_tool(PARAMETER_UNTYPED)
def check_parameter_untyped(tool: ToolDefinition) -> Iterator[Finding]:
    """Report each untyped property. A property whose schema is `false` is forbidden, not untyped."""
    found = 0
    for path, here in islice(subschemas(tool.input_schema), _MOST_SUBSCHEMAS):
        # In `if`, `not` or a combination `properties` often only mentions a parameter.
        if any(isinstance(part, str) and part in _CONDITIONAL for part in path):
            continue
        for name, schema in members(here.get("properties")).items():
            is_untyped = schema is True or (is_object(schema) and _TYPE_KEYWORDS.isdisjoint(schema))
            if is_untyped and found < _MOST_UNTYPED:
                found += 1
                yield PARAMETER_UNTYPED.finding(
                    message=f"The parameter '{quote(name, 60)}' has no type.",
                    pointer=f"/inputSchema{pointer((*path, 'properties', name))}",
                    evidence=f"{quote(name, 60)}: {show(schema)}",
                )


PARAMETER_UNDESCRIBED = Card(
    id="parameter-undescribed",
    title="Parameters have no description",
    severity=Severity.INFO,
    looks_for=(
        "Top-level parameters without a description, neither in the schema nor in the tool's own description (a "
        "line such as `limit: how many results` counts)."
    ),
    why=(
        "A model knows a parameter by its name and its description. Formats, units, defaults and where to get an id "
        "from cannot be guessed from a name."
    ),
    remedy=(
        'Describe each parameter with its format, unit and an example: `Annotated[str, Field(description="IANA time '
        'zone, e.g. Europe/Paris")]` in Python, `z.string().describe("...")` in Zod.'
    ),
    many="{count} parameters have no description",
)
_DEEP_ENOUGH: Final = 4
_MOST_BRANCHES: Final = 20
_LONGEST_DESCRIPTION: Final = 20_000  # Characters of a tool's description that are searched.


@of_tool(PARAMETER_UNDESCRIBED)
def check_parameter_undescribed(tool: ToolDefinition) -> Iterator[Finding]:
    """One finding per tool, with all its undescribed parameters."""
    properties = tool.properties
    missing = [
        name
        for name, schema in properties.items()
        if not _is_described(schema, tool) and not _is_explained(name, tool.description)
    ]
    if missing:
        many = f"{len(missing)} of {len(properties)} parameters have no description"
        sentence = "The only parameter has no description" if len(properties) == 1 else many
        yield PARAMETER_UNDESCRIBED.finding(
            message=f"{sentence}: {list_names(missing)}.",
            pointer="/inputSchema/properties",
            occurrences=len(missing),
        )


def _is_described(schema: object, tool: ToolDefinition, depth: int = 0) -> bool:
    if not isinstance(schema, dict):
        return schema is False
    here = members(cast("object", schema))
    description = here.get("description")
    if isinstance(description, str) and description.strip():
        return True
    if depth >= _DEEP_ENOUGH:
        return False
    reference = here.get("$ref")
    if isinstance(reference, str):
        kind, _, name = reference.removeprefix("#/").partition("/")
        target = members(members(tool.input_schema).get(kind)).get(name) if kind in {"$defs", "definitions"} else None
        return target is None or _is_described(target, tool, depth + 1)
    branches = (*elements(here.get("anyOf")), *elements(here.get("oneOf")), *elements(here.get("allOf")))
    return any(_is_described(members(branch), tool, depth + 1) for branch in branches[:_MOST_BRANCHES])


def _is_explained(name: str, description: str) -> bool:
    """Whether a line of the tool's description explains the parameter: `name: …`, `- name (str): …`, "`name` is …"."""
    start = r"(?m)(?:^[ \t]{0,20}[-*•]?[ ]{0,4}|[`'\"])[`'\"*]{0,3}"
    rest = r"[`'\"*]{0,3}(?:[ ]?\([^)\n]{0,80}\))?[ ]{0,3}(?:[:=-]|\u2013|\u2014| is | to | sets )"
    return re.search(f"{start}{re.escape(name[:100])}{rest}", description[:_LONGEST_DESCRIPTION]) is not None


DEFAULT_INVALID = Card(
    id="default-invalid",
    title="A default breaks its own schema",
    severity=Severity.WARNING,
    looks_for=(
        'Parameters whose `default` their own schema forbids. `"default": null` on a parameter that does not allow '
        "null is information: Python signatures such as `x: str = None` make it."
    ),
    why=(
        "Models and clients fill in defaults. One that breaks the schema makes a call that the server or a strict "
        "client refuses."
    ),
    remedy=(
        "Give a default that the schema allows, or allow it: in Python write `x: str | None = None` instead of "
        "`x: str = None`; in Zod `.nullable()`."
    ),
    many="{count} tools have null as a default that their schema forbids",
)


@of_tool(DEFAULT_INVALID)
def check_default_invalid(tool: ToolDefinition) -> Iterator[Finding]:
    """One finding a tool, naming its parameters; another one for nulls, which are milder."""
    root = members(tool.input_schema)
    shared = {key: root[key] for key in ("$schema", "$defs", "definitions") if key in root}
    wrong: dict[str, object] = {}
    for name, declared in tool.properties.items():
        schema = members(declared)
        if "default" in schema:
            alone = compiled({**shared, **schema})
            if alone.problem is None and not alone.is_valid(schema["default"]):
                wrong[name] = schema["default"]
    nulls = [name for name, default in wrong.items() if default is None]
    others = [name for name, default in wrong.items() if default is not None]
    if others:
        first = others[0]
        yield DEFAULT_INVALID.finding(
            message=f"The schema forbids the default of {list_names(others)}: {show(wrong[first], 60)}.",
            pointer=pointer(("inputSchema", "properties", first, "default")),
            evidence=show(tool.properties[first], 200),
        )
    if nulls:
        first = nulls[0]
        yield DEFAULT_INVALID.finding(
            message=f"The default of {list_names(nulls)} is null, and the schema does not allow null.",
            severity=Severity.INFO,
            pointer=pointer(("inputSchema", "properties", first, "default")),
            evidence=show(tool.properties[first], 200),
        )
