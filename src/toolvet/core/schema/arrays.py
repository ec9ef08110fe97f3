"""`write_array`: an array that meets sizes, item schemas, distinctness and `contains` at once."""

from toolvet.core.json_value import count, members, same
from toolvet.core.schema.judge import Judge
from toolvet.core.schema.place import Demands, Unmeetable, fixed_items
from toolvet.core.schema.reference import Subschema
from toolvet.core.schema.search import FIRST, ITEMS, Spot, ValueWriter, Variation, limits


def write_array(writer: ValueWriter, demands: Demands, spot: Spot, variation: Variation) -> list[object]:
    """Return an array for `demands`: one item where none is needed, so that a reader sees one. Raises `Unmeetable`."""
    schemas = demands.plain()
    least, highest = limits(demands, "minItems", "maxItems")
    most = ITEMS if highest is None else highest
    if least > min(most, ITEMS):
        raise Unmeetable
    distinct = any(schema.get("uniqueItems") is True for schema in schemas)
    front = max((len(fixed_items(schema)) for schema in schemas), default=0)
    target = min(most, max(least, front or 1) if spot.room >= 1 else least)
    items: list[object] = []
    while len(items) < target:
        within = writer.within(spot, len(items), target)
        try:
            items.append(_write_item(writer, demands.item(len(items)), within, variation, items if distinct else []))
        except Unmeetable:
            if len(items) < least:
                raise
            break
    for schema, scope in ((located.schema, located.scope) for located in demands.schemas):
        if "contains" in schema and scope.dialect.number > 4:
            part = Subschema(schema["contains"], scope)
            _add_contained(writer, demands, part, schema=schema, items=items, most=most, spot=spot)
            _remove_surplus(writer, demands, part, schema=schema, items=items, spot=spot)
    return items


def _remove_surplus(
    writer: ValueWriter, demands: Demands, part: Subschema, *, schema: object, items: list[object], spot: Spot
) -> None:
    """Replace items that `contains` would count beyond `maxContains`."""
    highest = count(members(schema).get("maxContains"))
    if highest is None:
        return
    judge = writer.judge or Judge()
    matching = [index for index, item in enumerate(items) if judge.accepts(part, item)]
    other = Subschema({"not": part.schema}, part.scope)
    for index in matching[highest:]:
        within = writer.within(spot, index, len(items))
        for content in range(6):
            value = writer.value([*demands.item(index), other], within, Variation(content=content))
            if not judge.accepts(part, value):
                items[index] = value
                break
        else:
            raise Unmeetable


def _write_item(
    writer: ValueWriter, parts: list[Subschema], spot: Spot, variation: Variation, taken: list[object]
) -> object:
    """Return an item that is not among `taken`. Raises `Unmeetable`."""
    for turn in range(12):
        for other in (
            Variation(variation.branch, variation.content + len(taken) + turn, variation.extent),
            Variation(variation.branch + len(taken) + turn, variation.content, variation.extent),
        ):
            value = writer.value(parts, spot, other)
            if not any(same(value, earlier) for earlier in taken):
                return value
    raise Unmeetable


def _add_contained(
    writer: ValueWriter,
    demands: Demands,
    part: Subschema,
    *,
    schema: object,
    items: list[object],
    most: int,
    spot: Spot,
) -> None:
    """Make `items` hold as many values of `part` as it demands, behind the others where there is room."""
    judge = writer.judge or Judge()
    wanted = count(members(schema).get("minContains"))
    missing = (1 if wanted is None else wanted) - sum(judge.accepts(part, item) for item in items)
    distinct = any(found.get("uniqueItems") is True for found in demands.plain())
    if missing > ITEMS:
        raise Unmeetable
    position = len(items) - 1
    while missing > 0:
        index = len(items) if len(items) < most else position
        if index < 0:
            raise Unmeetable
        others = [*items[:index], *items[index + 1 :]]
        try:
            value = _write_item(
                writer,
                [*demands.item(index, contained=True), part],
                writer.within(spot, index, len(items) + 1),
                FIRST,
                others if distinct else [],
            )
        except Unmeetable:
            if index == len(items):
                most = len(items)
            else:
                position -= 1
            continue
        if index == len(items):
            items.append(value)
        else:
            items[index] = value
            position -= 1
        missing -= 1
