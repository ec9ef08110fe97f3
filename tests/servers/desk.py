"""A FastMCP server whose tools change things, rightly or not: words on its command line say what goes wrong.

forgets   create_note returns an id, and keeps nothing
keeps     delete_note says that it has deleted, and does not
takes     next_job is declared read-only, and takes the job that it returns
renames   next_job is declared read-only, and puts another name on a job
drifts    a job gets another name whenever some time has passed
once      review_notes registers something that a second call finds there
late      the same, and says that it is still under way
mixes     review_notes fails for one of its values, always
"""

import sys
from typing import Literal

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

server = FastMCP("desk")
notes = {1: "first", 2: "second"}
jobs = [f"job {letter}" for letter in "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"]
listed: list[int] = []
reviewed: list[str] = []
READS = {"readOnlyHint": True}


@server.tool(annotations=READS)
def next_job() -> str:
    """The next job."""
    if "renames" in sys.argv:
        jobs[3] = jobs[3] + " again"
    return jobs.pop(0) if "takes" in sys.argv else jobs[0]


@server.tool(annotations=READS)
def list_jobs() -> list[str]:
    """List all jobs."""
    if "drifts" in sys.argv:
        listed.append(1)
        jobs[3] = "job " + "d" * (1 + len(listed) // 2)
    return jobs


def review_notes(style: Literal["short", "long"] = "short") -> str:
    """Review all notes."""
    reviewed.append(style)
    if len(reviewed) > 1 and "once" in sys.argv:
        raise ToolError("Tool upgrade_notes is already registered")
    if len(reviewed) > 1 and "late" in sys.argv:
        raise ToolError("A review is already running")
    if len(set(reviewed)) > 1 and "mixes" in sys.argv and style == "long":
        raise ToolError("Style long already exists")
    return "All notes are fine."


if {"once", "late", "mixes"} & {*sys.argv}:
    server.tool(annotations=READS)(review_notes)


@server.tool(annotations=READS)
def list_notes() -> dict[str, list[dict[str, object]]]:
    """List all notes."""
    return {"notes": [{"note_id": number, "text": text} for number, text in notes.items()]}


@server.tool(annotations=READS)
def get_note(note_id: int) -> str:
    """Get one note."""
    if note_id not in notes:
        raise ToolError(f"Note {note_id} not found")
    return notes[note_id]


@server.tool(annotations={"readOnlyHint": False})
def create_note(text: str) -> dict[str, int]:
    """Create a note."""
    number = max(notes, default=0) + 1
    if "forgets" not in sys.argv:
        notes[number] = text
    return {"note_id": number}


@server.tool(annotations={"readOnlyHint": False, "destructiveHint": True})
def delete_note_tags(note_id: int) -> str:
    """Delete the tags of a note, which stays."""
    if note_id not in notes:
        raise ToolError(f"Note {note_id} not found")
    return f"Deleted the tags of note {note_id}"


@server.tool(annotations={"readOnlyHint": False, "destructiveHint": True})
def delete_note(note_id: int) -> str:
    """Delete a note."""
    if note_id not in notes:
        raise ToolError(f"Note {note_id} not found")
    if "keeps" not in sys.argv:
        notes.pop(note_id)
    return f"Deleted note {note_id}"


if __name__ == "__main__":
    server.run(show_banner=False)
