"""A FastMCP server as its documentation teaches to write one, without a fault.

With `--annotated` its tools say readOnlyHint.
"""

import sys
from typing import Annotated, Literal

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

server = FastMCP("recipes")
reads = ToolAnnotations(read_only_hint=True) if "--annotated" in sys.argv else None


class Recipe(BaseModel):
    """What the tools return."""

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


if __name__ == "__main__":
    server.run(show_banner=False)
