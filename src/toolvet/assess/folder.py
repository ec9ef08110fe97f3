"""The server's working folder, the sample files in it, and paths below it for the parameters that want one.

folder      /data with report.docx and data.csv
parameter   `filename` of a tool that speaks of Word documents (.docx)
value       /data/report.docx

A sample file is small and valid, so that the answer of a tool that reads one (`read_pdf(pdf_path)`) is about its work
and not about our file. Samples are written only into a working folder that toolvet itself has made, never into one that
the user gave.
"""

import os
import re
import struct
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Final
from zipfile import ZipFile, ZipInfo

import msgspec

from toolvet.assess.rules import ToolDefinition
from toolvet.core.json_value import members
from toolvet.core.redact import word_segments
from toolvet.core.tool_rules import FileChange

_MOST_ENTRIES: Final = 1_000
_OF_SERVERS: Final = re.compile(r"(?i)\.(?:log|lock|tmp|pyc|duckdb|db|sqlite3?)(?:-\w+)?$")
_FILE: Final = frozenset({"file", "filename", "filepath", "path", "document", "workbook"})
_FOLDER: Final = frozenset({"folder", "directory", "dir", "directories", "folders", "cwd", "root"})
# The two ends of a copy or a move, which take a path where the tool's name speaks of files.
_ENDS: Final = frozenset({"source", "src", "from", "destination", "dest", "dst", "target", "to"})
_LISTING: Final = frozenset(
    {"list", "directory", "dir", "folder", "tree", "search", "find", "glob", "files", "workbooks", "documents"}
)
_HERE: Final = (".", "./")  # The defaults of a path that is a folder.
_OF_FOLDERS: Final = [(word,) for word in ("base", "folder", "project", "repo", "repository", "root", "workspace")]
_RELATIVE: Final = re.compile(r"(?i)(?<!or )\brelative (?:to|path)\b")
_CODE: Final = ("py", "ts", "js", "go", "rs", "java", "c", "cpp", "rb", "php")
_FUNCTION: Final = re.compile(r"\b(?:def|fn|func|function) (\w+)")
_SPEAKS_OF_CODE: Final = re.compile(
    r"(?i)\b(?:class(?:es)?|code(?:base)?|functions?|methods?|module|source|symbols?)\b"
)
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
_TEXT: Final = "Hello, world"
_TABLE: Final = (("id", "name"), ("1", "Ann"), ("2", "Bob"))
_PLAIN: Final[Mapping[str, str]] = {
    "txt": f"{_TEXT}\nA second line.\n",
    "md": f"# {_TEXT}\n\n- one\n- two\n",
    "csv": "".join(f"{first},{second}\n" for first, second in _TABLE),
    "tsv": "".join(f"{first}\t{second}\n" for first, second in _TABLE),
    "json": '{"id": 1, "name": "Ann"}\n',
    "yaml": "id: 1\nname: Ann\n",
    "yml": "id: 1\nname: Ann\n",
    "toml": 'id = 1\nname = "Ann"\n',
    "xml": '<?xml version="1.0" encoding="UTF-8"?>\n<people><person id="1">Ann</person></people>\n',
    "html": f"<!DOCTYPE html>\n<html><head><title>{_TEXT}</title></head><body><p>{_TEXT}</p></body></html>\n",
    "svg": '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><rect width="8" height="8"/></svg>\n',
    "log": f"2025-01-15 10:30:00 INFO {_TEXT}\n",
    "py": "def add(a, b):\n    return a + b\n",
}
_HEAD: Final = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE: Final = "http://schemas.openxmlformats.org/package/2006"
_OPEN_XML: Final = "application/vnd.openxmlformats-officedocument"


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
        description = members(tool.properties.get(parameter)).get("description")
        is_relative = isinstance(description, str) and bool(_RELATIVE.search(description))
        if kind == "folder":
            return "." if is_relative else self.path
        extensions = spoken_extensions(tool, parameter)
        wants_code = not extensions and _SPEAKS_OF_CODE.search(tool.description[:2_000])
        for extension in _CODE if wants_code else extensions:
            for name in self.files:
                if name.lower().endswith(f".{extension}"):
                    return name if is_relative else self.join(name)
        if self.files and not extensions:
            return self.files[0] if is_relative else self.join(self.files[0])
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

    def function(self) -> str | None:
        """The name of the first function in the folder's files of code."""
        code = (name for name in self.files if name.rpartition(".")[2] in _CODE)
        for name in islice(code, 5):
            with suppress(OSError), Path(self.join(name)).open(encoding="utf-8", errors="replace") as file:
                if found := _FUNCTION.search(file.read(20_000)):
                    return found[1]
        return None

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
        entries = [entry for entry in islice(root.iterdir(), _MOST_ENTRIES) if not entry.name.startswith(".")]
        files = sorted(entry.name for entry in entries if entry.is_file())
        # Those in folders come last: they are for tools that want a kind of file that is not at the top.
        deeper = islice(root.glob("[!.]*/[!.]*"), _MOST_ENTRIES)
        files += sorted(entry.relative_to(root).as_posix() for entry in deeper if entry.is_file())
        return Folder(str(root), tuple(files), is_own)
    except OSError:
        return None


def snapshot(path: str) -> Mapping[str, tuple[int, int]] | None:
    """The size and time of each file below a folder, by its relative path; None for one with too many to look at.

    Folders count as empty files. Hidden entries, logs and databases are left out: servers keep them for themselves.
    """
    found, root, count = dict[str, tuple[int, int]](), Path(path), 0
    for folder, folders, files in os.walk(path):
        folders[:] = [name for name in folders if not name.startswith((".", "__"))]
        count += len(folders) + len(files)
        if count > _MOST_ENTRIES:
            return None
        for name in (*folders, *files):
            with suppress(OSError):
                if name.startswith(".") or _OF_SERVERS.search(name):
                    continue
                entry = Path(folder, name)
                state = entry.lstat()
                place = entry.relative_to(root).as_posix()
                found[place] = (0, 0) if name in folders else (state.st_size, state.st_mtime_ns)
    return found


def file_changes(
    before: Mapping[str, tuple[int, int]] | None, after: Mapping[str, tuple[int, int]] | None
) -> tuple[FileChange, ...] | None:
    """The differences between two snapshots of a folder; None if one is missing."""
    if before is None or after is None:
        return None
    added = [FileChange(kind="added", path=path) for path in after if path not in before]
    removed = [FileChange(kind="removed", path=path) for path in before if path not in after]
    both = (path for path in before if after.get(path, before[path]) != before[path])
    return (*removed, *(FileChange(kind="changed", path=path) for path in both), *added)


def path_kind(tool: ToolDefinition, parameter: str) -> str | None:
    """Return the kind of path that a parameter wants: "file", "folder", or None (no path on disk)."""
    words = word_segments(parameter)
    # Without the number or letter that tells a name from its like: pdf_path1, file_2, path_a.
    if len(words) > 1 and (words[-1].isdigit() or len(words[-1]) == 1):
        words = words[:-1]
    elif words:
        words = (*words[:-1], words[-1].rstrip("0123456789") or words[-1])
    declared = members(tool.properties.get(parameter))
    if not words or declared.get("type", "string") != "string" or any(key in declared for key in ("enum", "const")):
        return None
    if words[-1] in _FOLDER:
        return "folder"
    is_end = words[-1] in _ENDS and not (_FILE | _FOLDER).isdisjoint(word_segments(tool.name))
    if words[-1] not in _FILE and not is_end and not (len(words) > 1 and words[-2:] == ("file", "name")):
        return None
    if words[-1] == "path" and (declared.get("default") in _HERE or words[-2:-1] in _OF_FOLDERS):
        return "folder"
    spoken = word_segments(tool.name)
    if words[-1] == "path" and _LISTING.intersection(spoken) and "read" not in spoken:
        return "folder"
    return "file"


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


def sample_bytes(extension: str) -> bytes | None:
    """The bytes of a small valid file, the same every time; None for a format that is not known.

    >>> sample_bytes("gif")[:6]
    b'GIF89a'
    >>> sample_bytes("exe") is None
    True
    """
    if extension in _PLAIN:
        return _PLAIN[extension].encode()
    make = _MADE.get(extension)
    return make() if make is not None else None


def offer_sample(path: str) -> bool:
    """Write a sample to a path that does not exist, by its extension, and return whether it is there now."""
    file = Path(path)
    data = sample_bytes(file.suffix[1:].lower())
    if data is None:
        return file.exists()
    try:
        with file.open("xb") as made:
            made.write(data)
    except OSError:
        return file.exists()
    return True


def _pdf() -> bytes:
    stream = f"BT /F1 24 Tf 72 720 Td ({_TEXT}) Tj ET".encode()
    fonts = b"/Resources << /Font << /F1 5 0 R >> >>"
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R %s >>" % fonts,
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    )
    body, places = b"%PDF-1.4\n", list[int]()
    for number, content in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % place for place in places)
    count = len(objects) + 1
    end = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (count, len(body))
    return body + b"xref\n0 %d\n" % count + table + end


def _png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\x00" + b"\x40\x80\xc0" * 8) * 8
    header = struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def _gif() -> bytes:
    screen = struct.pack("<6sHHBBB", b"GIF89a", 1, 1, 0x80, 0, 0) + b"\x00\x00\x00\xff\xff\xff"
    return screen + struct.pack("<BHHHHB", 0x2C, 0, 0, 1, 1, 0) + b"\x02\x02\x44\x01\x00\x3b"


def _wav() -> bytes:
    data = b"\x80" * 800  # A tenth of a second of silence.
    layout = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, 8_000, 8_000, 1, 8)
    return struct.pack("<4sI4s", b"RIFF", 36 + len(data), b"WAVE") + layout + b"data" + struct.pack("<I", 800) + data


def _docx() -> bytes:
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    body = f"<w:p><w:r><w:t>{_TEXT}</w:t></w:r></w:p>"
    document = f'{_HEAD}<w:document xmlns:w="{space}"><w:body>{body}</w:body></w:document>'
    kind = f"{_OPEN_XML}.wordprocessingml.document.main+xml"
    return _zipped({**_package("word/document.xml", kind), "word/document.xml": document})


def _xlsx() -> bytes:
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    cells = "".join(
        f'<row r="{row}">'
        + "".join(
            f'<c r="{column}{row}" t="inlineStr"><is><t>{value}</t></is></c>'
            for column, value in zip("AB", values, strict=True)
        )
        + "</row>"
        for row, values in enumerate(_TABLE, 1)
    )
    sheets = '<sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets>'
    kind = f"{_OPEN_XML}.spreadsheetml.sheet.main+xml"
    extra = {"/xl/worksheets/sheet1.xml": f"{_OPEN_XML}.spreadsheetml.worksheet+xml"}
    return _zipped(
        {
            **_package("xl/workbook.xml", kind, extra),
            "xl/workbook.xml": f'{_HEAD}<workbook xmlns="{space}" xmlns:r="{_OFFICE}">{sheets}</workbook>',
            "xl/_rels/workbook.xml.rels": _relations("worksheet", "worksheets/sheet1.xml"),
            "xl/worksheets/sheet1.xml": f'{_HEAD}<worksheet xmlns="{space}"><sheetData>{cells}</sheetData></worksheet>',
        }
    )


def _package(main: str, kind: str, more: Mapping[str, str] | None = None) -> dict[str, str]:
    parts = {f"/{main}": kind, **(more or {})}
    named = "".join(f'<Override PartName="{name}" ContentType="{what}"/>' for name, what in parts.items())
    plain = (
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
    )
    types = f'{_HEAD}<Types xmlns="{_PACKAGE}/content-types">{plain}{named}</Types>'
    return {"[Content_Types].xml": types, "_rels/.rels": _relations("officeDocument", main)}


def _relations(kind: str, target: str) -> str:
    one = f'<Relationship Id="rId1" Type="{_OFFICE}/{kind}" Target="{target}"/>'
    return f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships">{one}</Relationships>'


def _zipped(parts: Mapping[str, str]) -> bytes:
    buffer = BytesIO()
    with ZipFile(buffer, "w") as archive:
        for name, text in parts.items():
            archive.writestr(ZipInfo(name), text)
    return buffer.getvalue()


_MADE: Final[Mapping[str, Callable[[], bytes]]] = {
    "pdf": _pdf, "png": _png, "gif": _gif, "wav": _wav, "docx": _docx, "xlsx": _xlsx,
    "zip": partial(_zipped, {"hello.txt": _PLAIN["txt"]}),
}  # fmt: skip
