"""A server on the SDK's `MCPServer` as its documentation teaches to write one, without a fault.

With `--annotated` its tools say readOnlyHint.
"""

import json
import sys
from typing import Annotated, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp.server.mcpserver.prompts import base
from mcp_types import (
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
    ToolAnnotations,
)
from pydantic import BaseModel, Field

server = MCPServer("plants")
reads = ToolAnnotations(read_only_hint=True) if "--annotated" in sys.argv else None


class Plant(BaseModel):
    """The tools' return type."""

    id: int
    name: str
    light: Literal["sun", "shade"]


PLANTS = [Plant(id=1, name="Fern", light="shade"), Plant(id=2, name="Sage", light="sun")]


@server.tool(annotations=reads)
def list_plants() -> list[Plant]:
    """List all plants."""
    return PLANTS


@server.tool(annotations=reads)
def get_plant(plant_id: Annotated[int, Field(description="The id of a plant, as list_plants returns it.")]) -> Plant:
    """Get one plant by its id."""
    for plant in PLANTS:
        if plant.id == plant_id:
            return plant
    raise ToolError(f"There is no plant with the id {plant_id}. Call list_plants for the ids that exist.")


@server.tool(annotations=reads)
def search_plants(
    text: Annotated[str, Field(description="A part of the name.")],
    light: Annotated[Literal["sun", "shade"] | None, Field(description="Only plants that need this light.")] = None,
) -> list[Plant]:
    """Search the plants by name."""
    found = [plant for plant in PLANTS if text.lower() in plant.name.lower()]
    return [plant for plant in found if light is None or plant.light == light]


@server.tool(annotations=reads)
def convert_temperature(
    celsius: Annotated[float, Field(description="Degrees Celsius.", ge=-273.15, le=10_000)],
) -> float:
    """Convert degrees Celsius to Fahrenheit."""
    return celsius * 9 / 5 + 32


@server.tool(annotations=reads)
def list_waterings(
    offset: Annotated[int, Field(description="How many to leave out at the start.", ge=0)] = 0,
    limit: Annotated[int, Field(description="How many to return at most.", ge=1, le=20)] = 5,
) -> list[str]:
    """List the latest waterings, newest first."""
    days = [f"2026-03-{day:02d}: {'Fern' if day % 2 else 'Sage'}" for day in range(28, 0, -1)]
    return days[offset : offset + limit]


@server.resource("plants://index", mime_type="application/json")
def index() -> str:
    """All plants with their ids."""
    return json.dumps({"plants": [plant.model_dump() for plant in PLANTS]})


@server.resource("plants://care", description="How to care for plants.")
def care() -> str:
    """Water them."""
    return "Water them. If one does not exist, an error is shown."


@server.resource("plants://{plant_id}/label", mime_type="text/plain")
def label(plant_id: str) -> str:
    """The label of one plant; plant_id is as list_plants returns it."""
    for plant in PLANTS:
        if str(plant.id) == plant_id:
            return f"{plant.name}, {plant.light}"
    raise ResourceNotFoundError(f"There is no plant with the id {plant_id}.")


@server.prompt()
def advise(
    place: Annotated[str, Field(description="Where the plant will be.")],
    light: Annotated[str, Field(description="sun or shade")] = "sun",
) -> str:
    """Advise on a plant for a place."""
    return f"Which plant suits {place}, in the {light}?"


@server.prompt()
def water() -> list[base.Message]:
    """When to water."""
    return [base.UserMessage("When do I water?"), base.AssistantMessage("Which plants are yours?")]


@server.completion()  # type: ignore[no-untyped-call, untyped-decorator]
async def complete(
    ref: PromptReference | ResourceTemplateReference, argument: CompletionArgument, context: CompletionContext | None
) -> Completion | None:
    """Suggest the values that there are."""
    del context
    if isinstance(ref, ResourceTemplateReference) and argument.name == "plant_id":
        return Completion(values=[str(plant.id) for plant in PLANTS], has_more=False)
    if isinstance(ref, PromptReference) and argument.name == "light":
        return Completion(values=[word for word in ("sun", "shade") if word.startswith(argument.value)], total=2)
    return None


if __name__ == "__main__":
    server.run()
