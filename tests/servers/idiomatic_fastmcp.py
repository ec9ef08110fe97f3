"""A FastMCP server as its documentation teaches to write one, without a fault.

With `--annotated` its tools say readOnlyHint.
"""

import json
import sys
from typing import Annotated, Literal

from fastmcp import FastMCP
from fastmcp.exceptions import ResourceError, ToolError
from fastmcp.prompts import Message
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

server = FastMCP("recipes")
reads = ToolAnnotations(read_only_hint=True) if "--annotated" in sys.argv else None


class Recipe(BaseModel):
    """The tools' return type."""

    id: str
    title: str
    minutes: int


RECIPES = [
    Recipe(id="r-1", title="Leek soup", minutes=40),
    Recipe(id="r-2", title="Rye bread", minutes=180),
    Recipe(id="r-3", title="Plum cake", minutes=75),
]


@server.tool(annotations=reads)
def list_recipes() -> list[Recipe]:
    """List all recipes."""
    return RECIPES


@server.tool(annotations=reads)
def get_recipe(
    recipe_id: Annotated[str, Field(description="The id of a recipe, as list_recipes returns it.")],
) -> Recipe:
    """Get one recipe by its id."""
    for recipe in RECIPES:
        if recipe.id == recipe_id:
            return recipe
    raise ToolError(f"Recipe '{recipe_id}' not found. Call list_recipes for the ids that exist.")


@server.tool(annotations=reads)
def search_recipes(
    query: Annotated[str, Field(description="Words of the title.", min_length=1)],
    limit: Annotated[int, Field(description="How many recipes to return at most.", ge=1, le=50)] = 10,
) -> list[Recipe]:
    """Search the recipes by title."""
    return [recipe for recipe in RECIPES if query.lower() in recipe.title.lower()][:limit]


@server.tool(annotations=reads)
def convert_volume(
    amount: Annotated[float, Field(description="How much.", ge=0)],
    unit: Annotated[Literal["cup", "pint"], Field(description="The unit of the amount.")],
) -> str:
    """Convert a volume to millilitres."""
    return f"{amount} {unit} = {amount * {'cup': 236.6, 'pint': 473.2}[unit]:.1f} ml"


@server.tool(annotations=reads)
def list_ingredients(
    page: Annotated[int, Field(description="The page, from 1.", ge=1)] = 1,
    page_size: Annotated[int, Field(description="Ingredients on a page.", ge=1, le=100)] = 3,
) -> dict[str, object]:
    """List the ingredients, page by page."""
    names = ["leek", "potato", "rye", "salt", "plum", "butter", "sugar"]
    start = (page - 1) * page_size
    return {"ingredients": names[start : start + page_size], "page": page, "total": len(names)}


@server.resource("recipes://index", mime_type="application/json")
def index() -> str:
    """The titles and ids of all recipes."""
    return json.dumps({"recipes": [recipe.model_dump() for recipe in RECIPES]})


@server.resource("recipes://kitchen/rules", mime_type="text/markdown")
def rules() -> str:
    """The rules of the kitchen."""
    return "# Rules\n\nWash your hands. An error in the kitchen is not a failure."


@server.resource("recipes://logo", mime_type="image/png")
def logo() -> bytes:
    """The logo."""
    return b"\x89PNG\r\n\x1a\n" + bytes(16)


@server.resource("recipes://{recipe_id}/card", mime_type="text/plain")
def card(recipe_id: str) -> str:
    """The card of one recipe; recipe_id is as list_recipes returns it."""
    for recipe in RECIPES:
        if recipe.id == recipe_id:
            return f"{recipe.title}: {recipe.minutes} minutes"
    raise ResourceError(f"Recipe '{recipe_id}' not found.")


@server.prompt
def plan_dinner(
    guest: Annotated[str, Field(description="Who is coming.")],
    course: Annotated[str, Field(description="The course to begin with.")] = "soup",
) -> str:
    """Plan a dinner for a guest."""
    return f"Plan a dinner for {guest} that begins with a {course}."


@server.prompt
def clean_up() -> list[Message]:
    """What to do after cooking."""
    return [Message("Tell me how to clean up."), Message("Of course: what did you cook?", role="assistant")]


if __name__ == "__main__":
    server.run(show_banner=False)
