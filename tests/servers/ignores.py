"""A FastMCP server that ignores what it is asked for. With `careful` it reads and checks every argument."""

import sys
from pathlib import Path

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

server = FastMCP("ignores")
careful = "careful" in sys.argv
BOOKS = ["Emma", "Moby-Dick", "Persuasion", "Typee"]
PLACES = {"London": "Rain", "Paris": "Sun"}


@server.tool
def list_books(search: str = "", limit: int = 50, cursor: str = "") -> list[str]:
    """List the books whose title contains a text.

    Args:
        search: Part of the title.
        limit: The most books to return.
        cursor: Where the page begins, from an earlier answer.
    """
    if not careful:
        return BOOKS
    if cursor:
        raise ToolError(f"cursor '{cursor}' is unknown: begin again without it")
    return [book for book in BOOKS if search.lower() in book.lower()][:limit]


@server.tool
def get_book(number: int | None = None, title: str | None = None) -> str:
    """Get a book. Give exactly one of `number` or `title`.

    Args:
        number: The number of the book.
        title: Its title.
    """
    if careful and (number is None) == (title is None):
        raise ToolError("Invalid arguments: number or title is required, and not both")
    return f"Book number {number} with the title {title}"


@server.tool
def list_files(path: str) -> list[str]:
    """List the files in a folder.

    Args:
        path: The folder.
    """
    if careful and not Path(path).is_dir():
        raise ToolError(f"path '{path}' must be a folder that exists")
    return sorted(entry.name for entry in Path(path).glob("*"))


@server.tool
def get_weather(city: str) -> str:
    """Get the weather of London or Paris.

    Args:
        city: The city, as "London".
    """
    if careful and city not in PLACES:
        raise ToolError(f"city must be London or Paris; received '{city}'")
    return PLACES.get(city, "Snow") if city[:1].isupper() or careful else "Hail"


if __name__ == "__main__":
    server.run(show_banner=False)
