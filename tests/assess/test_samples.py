"""Samples are files that readers can read; they are made only in a folder that toolvet itself has made."""

import asyncio
import json
import re
import struct
import sys
import wave
import xml.etree.ElementTree as ET
import zipfile
import zlib
from io import BytesIO
from pathlib import Path

import pytest

from toolvet.assess import Options, Report, assess
from toolvet.assess.folder import Folder, offer_sample, sample_bytes, spoken_extensions
from toolvet.assess.rules import ToolDefinition, tool_definition
from toolvet.mcp.transport import StdioTarget

SERVER = Path(__file__).parents[1] / "servers" / "scripted.py"
FORMATS = ("txt", "md", "csv", "json", "yaml", "xml", "html", "svg", "pdf", "png", "gif", "wav", "zip", "docx", "xlsx")


def sample(extension: str) -> bytes:
    data = sample_bytes(extension)
    assert data is not None
    return data


@pytest.mark.parametrize("extension", FORMATS)
def test_a_sample_is_small_and_the_same_every_time(extension: str) -> None:
    assert 0 < len(sample(extension)) < 4_000
    assert sample(extension) == sample(extension)


def test_no_format_that_runs() -> None:
    assert [sample_bytes(extension) for extension in ("exe", "sh", "bat", "", "PDF")] == [None] * 5


def test_the_parts_of_a_pdf_are_where_its_table_says() -> None:
    data = sample("pdf")
    (start,) = re.findall(rb"startxref\n(\d+)\n%%EOF\n\Z", data)
    assert data[int(start) :].startswith(b"xref\n")
    places = [int(place) for place in re.findall(rb"^(\d{10}) 00000 n $", data, re.MULTILINE)]
    assert [data[place:].split(b" ", 1)[0] for place in places] == [b"%d" % number for number in range(1, 6)]


def test_the_chunks_of_a_png_are_whole() -> None:
    data, place, kinds = sample("png"), 8, list[bytes]()
    while place < len(data):
        (length,) = struct.unpack_from(">I", data, place)
        body = data[place + 4 : place + 8 + length]
        assert struct.unpack_from(">I", data, place + 8 + length) == (zlib.crc32(body),)
        kinds.append(body[:4])
        place += 12 + length
    assert kinds == [b"IHDR", b"IDAT", b"IEND"]


@pytest.mark.parametrize("extension", ["zip", "docx", "xlsx"])
def test_an_archive_is_whole_and_its_xml_can_be_read(extension: str) -> None:
    with zipfile.ZipFile(BytesIO(sample(extension))) as archive:
        assert archive.testzip() is None
        for name in archive.namelist():
            if name.endswith((".xml", ".rels")):
                ET.fromstring(archive.read(name))  # noqa: S314 - our own words


def test_sound_and_data_can_be_read() -> None:
    with wave.open(BytesIO(sample("wav"))) as sound:
        assert (sound.getframerate(), sound.getnframes()) == (8_000, 800)
    assert json.loads(sample("json"))["name"] == "Ann"
    for extension in ("xml", "svg"):
        ET.fromstring(sample(extension))  # noqa: S314 - our own words


def test_what_is_there_is_left_alone(tmp_path: Path) -> None:
    there = tmp_path / "a.csv"
    there.write_text("mine", encoding="utf-8")
    assert offer_sample(str(there))
    assert there.read_text(encoding="utf-8") == "mine"
    assert offer_sample(str(tmp_path / "b.csv"))
    assert not offer_sample(str(tmp_path / "b.exe"))
    assert not offer_sample(str(tmp_path / "none" / "b.csv"))


def tool(description: str, **properties: object) -> ToolDefinition:
    schema = {"type": "object", "properties": properties}
    return tool_definition({"name": "work", "description": description, "inputSchema": schema})


PATH = {"type": "string"}


@pytest.mark.parametrize("name", ["pdf_path", "pdf_path1", "pdf_path_2", "pdf_file_a", "pdfFile1"])
def test_a_path_has_the_extension_of_its_own_name(name: str) -> None:
    table = tool("Extract tables (.csv)", **{name: PATH})
    assert Folder("/data", ("t.csv",)).value(table, name) == "/data/toolvet.pdf"


@pytest.mark.parametrize("name", ["path1", "file_a", "file2"])
def test_a_path_with_a_number_is_a_path(name: str) -> None:
    assert Folder("/data").value(tool("", **{name: PATH}), name) == "/data/toolvet.txt"


@pytest.mark.parametrize("name", ["title1", "a", "1", "x_1", "profile"])
def test_other_names_with_numbers_are_none(name: str) -> None:
    assert Folder("/data").value(tool("", **{name: PATH}), name) is None


def test_a_list_of_paths_has_one_of_the_folder() -> None:
    paths = {"type": "array", "items": PATH}
    work = Folder("/data", ("a.txt",))
    assert [work.listed(tool("", **{name: paths}), name) for name in ("paths", "files", "filePaths")] == [
        "/data/a.txt"
    ] * 3
    numbers = {"type": "array", "items": {"type": "integer"}}
    assert work.listed(tool("", paths=numbers), "paths") is None
    assert work.listed(tool("", paths=PATH), "paths") is None
    assert work.listed(tool("", tags=paths), "tags") is None
    assert work.listed(tool("", path=paths), "path") is None


def test_a_path_whose_default_is_here_is_a_folder() -> None:
    assert Folder("/data", ("a.txt",)).value(tool("", path={**PATH, "default": "."}), "path") == "/data"
    assert Folder("/data", ("a.txt",)).value(tool("", path={**PATH, "default": "x"}), "path") == "/data/a.txt"


def test_a_path_that_is_to_be_relative_is() -> None:
    work = Folder("/data", ("a.txt",))
    relative = {**PATH, "description": "Path of the file, relative to the root."}
    assert work.value(tool("", path=relative), "path") == "a.txt"
    assert work.value(tool("", folder=relative), "folder") == "."
    either = {**PATH, "description": "An absolute or relative path"}
    assert work.value(tool("", path=either), "path") == "/data/a.txt"


def test_the_path_of_a_project_is_a_folder_and_a_tool_for_code_gets_a_file_with_code() -> None:
    work = Folder("/data", ("a.txt", "pkg/core.py"))
    assert work.value(tool("", project_path=PATH), "project_path") == "/data"
    assert work.value(tool("Lists the functions in a file", path=PATH), "path") == "/data/pkg/core.py"
    assert work.value(tool("Counts the lines of a file", path=PATH), "path") == "/data/a.txt"
    assert work.value(tool("Finds functions in a .txt file", path=PATH), "path") == "/data/a.txt"


def test_a_file_is_made_only_in_a_folder_of_our_own(tmp_path: Path) -> None:
    reader = tool("Reads a PDF", path=PATH)
    path = Folder(str(tmp_path)).value(reader, "path")
    assert list(tmp_path.iterdir()) == []
    assert Folder(str(tmp_path), is_own=True).value(reader, "path") == path
    assert [entry.name for entry in tmp_path.iterdir()] == ["toolvet.pdf"]


def assessed(tmp_path: Path, cwd: str | None) -> Report:
    schema = {"type": "object", "properties": {"pdf_path": PATH}, "required": ["pdf_path"]}
    definition = {"name": "read_pdf", "description": "Reads a PDF.", "inputSchema": schema}
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"tools": [definition], "answers": {"*": {"echo": True}}}), encoding="utf-8")
    target = StdioTarget(command=sys.executable, args=(str(SERVER), str(script)), cwd=cwd)
    return asyncio.run(assess(target, Options(timeout=10)))


def test_a_run_leaves_no_file_behind(tmp_path: Path) -> None:
    sent = assessed(tmp_path, None).tools[0].scenarios[0].arguments["pdf_path"]
    assert sent.endswith("/toolvet.pdf")
    assert not Path(sent).exists()
    given = tmp_path / "given"
    given.mkdir()
    assessed(tmp_path, str(given))
    assert list(given.iterdir()) == []


@pytest.mark.parametrize(("words", "extension"), [("The PDF to read.", "pdf"), ("What to read.", "csv")])
def test_a_docstring_says_which_kind_of_file_a_parameter_wants(words: str, extension: str) -> None:
    described = {
        "name": "read",
        "description": f"Reads a CSV.\n\nArgs:\n    path: {words}",
        "inputSchema": {"properties": {"path": {"type": "string"}}},
    }
    assert spoken_extensions(tool_definition(described), "path")[0] == extension
