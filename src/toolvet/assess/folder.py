"""The server's working folder, and paths below it for the parameters that want one.

folder      /data with report.docx and data.csv
parameter   `filename` of a tool that speaks of Word documents (.docx)
value       /data/report.docx
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from toolvet.assess.rules import ToolDefinition
from toolvet.assess.samples import offer_sample
from toolvet.core.json_value import members
from toolvet.core.redact import word_segments

_MOST_ENTRIES: Final = 1_000
_FILE: Final = frozenset({"file", "filename", "filepath", "path", "document", "workbook"})
_FOLDER: Final = frozenset({"folder", "directory", "dir", "directories", "folders", "cwd", "root"})
# The two ends of a copy or a move, which take a path where the tool's name speaks of files.
_ENDS: Final = frozenset({"source", "src", "from", "destination", "dest", "dst", "target", "to"})
_LISTING: Final = frozenset(
    {"list", "directory", "dir", "folder", "tree", "search", "find", "glob", "files", "workbooks", "documents"}
)
_HERE: Final = (".", "./")  # The defaults of a path that is a folder.
_EXTENSION: Final = re.compile(r"(?<![\w/.])\*?\.([a-z][a-z0-9]{1,4})\b(?!\()")
_NOT_EXTENSIONS: Final = frozenset({"get", "com", "org", "net", "io", "env", "git", "set", "js", "eg"})
# Formats by the word that speaks of them, where no extension is written.
_FORMATS: Final = {
    "excel": "xlsx", "workbook": "xlsx", "spreadsheet": "xlsx", "word": "docx",
    "powerpoint": "pptx", "presentation": "pptx",
    "pdf": "pdf", "csv": "csv", "json": "json", "markdown": "md", "image": "png", "png": "png", "yaml": "yaml",
    "xml": "xml", "html": "html", "docx": "docx", "xlsx": "xlsx", "pptx": "pptx", "gif": "gif", "wav": "wav",
    "zip": "zip", "svg": "svg", "toml": "toml",
}  # fmt: skip
FRESH: Final = "toolvet-made"  # The stem of what this run makes.


@dataclass(frozen=True)
class Folder:
    """A working folder: its path, and the files in it (sorted, relative), as they were when it was listed.

    `is_own` says that toolvet has made the folder: then a file that a tool wants is made in it.
    """

    path: str
    files: tuple[str, ...] = ()
    is_own: bool = False

    def value(self, tool: ToolDefinition, parameter: str) -> str | None:
        """An existing path below the folder, or one that may not exist, for a parameter; None if it wants no path."""
        kind = path_kind(tool, parameter)
        if kind is None:
            return None
        if kind == "folder":
            return self.path
        extensions = spoken_extensions(tool, parameter)
        for extension in extensions:
            for name in self.files:
                if name.lower().endswith(f".{extension}"):
                    return self.join(name)
        if self.files and not extensions:
            return self.join(self.files[0])
        path = self.join(f"toolvet.{extensions[0] if extensions else 'txt'}")
        if self.is_own:
            offer_sample(path)
        return path

    def listed(self, tool: ToolDefinition, parameter: str) -> str | None:
        """The same for one item of a list of paths: `paths`, `files`, `file_paths`; None for any other parameter."""
        declared = members(tool.properties.get(parameter))
        one, items = parameter.removesuffix("s"), members(declared.get("items"))
        if declared.get("type") != "array" or items.get("type") != "string" or one == parameter:
            return None
        described = {"description": declared.get("description", ""), **items}
        return self.value(msgspec.structs.replace(tool, input_schema={"properties": {one: described}}), one)

    def fresh(self, tool: ToolDefinition, parameter: str) -> str:
        """A path below the folder that does not exist yet."""
        if path_kind(tool, parameter) == "folder":
            return self.join(FRESH)
        return self.join(f"{FRESH}.{next(iter(spoken_extensions(tool, parameter)), 'txt')}")

    def join(self, name: str) -> str:
        """The path of an entry."""
        return str(Path(self.path) / name)

    def with_extension(self, extension: str) -> str:
        """The first file with this extension, or a path for one."""
        found = next((name for name in self.files if name.lower().endswith(extension.lower())), None)
        path = self.join(found or f"toolvet{extension}")
        if self.is_own and found is None:
            offer_sample(path)
        return path


def list_folder(path: str | None, *, is_own: bool = False) -> Folder | None:
    """Look into a folder once; None for no folder or one that cannot be read. `is_own`: toolvet has made it."""
    if path is None:
        return None
    try:
        root = Path(path).resolve(strict=True)
        entries = (entry for entry in islice(root.iterdir(), _MOST_ENTRIES) if not entry.name.startswith("."))
        return Folder(str(root), tuple(sorted(entry.name for entry in entries if entry.is_file())), is_own)
    except OSError:
        return None


def path_kind(tool: ToolDefinition, parameter: str) -> str | None:
    """What a parameter wants: the path of a "file", of a "folder", or None (no path on disk)."""
    words = _without_number(word_segments(parameter))
    declared = members(tool.properties.get(parameter))
    if not words or declared.get("type", "string") != "string" or any(key in declared for key in ("enum", "const")):
        return None
    if words[-1] in _FOLDER:
        return "folder"
    is_end = words[-1] in _ENDS and not (_FILE | _FOLDER).isdisjoint(word_segments(tool.name))
    if words[-1] not in _FILE and not is_end and not (len(words) > 1 and words[-2:] == ("file", "name")):
        return None
    if words[-1] == "path" and declared.get("default") in _HERE:
        return "folder"
    if words[-1] == "path" and _LISTING.intersection(word_segments(tool.name)):
        return "folder"
    return "file"


def _without_number(words: Sequence[str]) -> Sequence[str]:
    """The words of a name without the number or letter that tells it from its like: pdf_path1, file_2, path_a."""
    if len(words) > 1 and (words[-1].isdigit() or len(words[-1]) == 1):
        return words[:-1]
    last = words[-1].rstrip("0123456789") if words else ""
    return (*words[:-1], last) if last else words


def spoken_extensions(tool: ToolDefinition, parameter: str) -> tuple[str, ...]:
    """The extensions that a tool speaks of, nearest first: the parameter, the name, then the description.

    A format in the parameter's own name is the one: `pdf_path` wants no .csv.
    """
    declared = members(tool.properties.get(parameter))
    own = f"{parameter} {declared.get('description', '')}"
    found: dict[str, None] = {_FORMATS[word]: None for word in word_segments(parameter)[:-1] if word in _FORMATS}
    texts = (own,) if found else (own, " ".join(word_segments(tool.name)), tool.description[:2_000])
    for text in texts:
        for extension in _EXTENSION.findall(text):
            if extension not in _NOT_EXTENSIONS:
                found.setdefault(extension)
    for text in texts:
        for word in re.findall(r"[a-z]+", text.lower()):
            if word in _FORMATS:
                found.setdefault(_FORMATS[word])
    return tuple(found)
