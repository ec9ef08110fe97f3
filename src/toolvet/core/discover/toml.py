"""Read TOML: the package's own tables, each as the type that its reader asks for.

    wording = read_toml("toolvet.core.checks.arguments", "wording.toml", Wording)

Every TOML text of toolvet is read by `decode_toml`, which calls `msgspec.toml.decode`: that is `tomllib` and then a
check of the types, as fast as `tomllib` with `msgspec.convert` (440 tables: 0.12 s either way). It imports `tomllib`
with the first text, so a process that finds everything in the cache does not pay for that import (5 ms). A table that
is read by its name is kept as MessagePack, for as long as its file stays the same: that is read 20 times as fast.
"""

from typing import TypeVar

import msgspec

from toolvet.core.decodable import decodable
from toolvet.core.discover import data_file
from toolvet.core.discover.cache import cached, file_key, keep

_T = TypeVar("_T")


def read_toml(package: str, name: str, kind: type[_T]) -> _T:
    """Return the table `name`, a file in the folder of `package` itself, as a `kind`.

    Raises `msgspec.DecodeError` if the file is not TOML, and its subclass `msgspec.ValidationError` if it is not a
    `kind`. Both carry the path of the file as a note.
    """
    key, is_settled = file_key(package, name)
    known = cached(key)
    if known is not None:
        try:
            return msgspec.msgpack.decode(known, type=decodable(kind))
        except msgspec.DecodeError:
            pass  # Another version stored it: reading the file reports the problem, if it has one.
    place = f"{package}: {name}"
    document = decode_toml(data_file(package, name), object, place)
    try:
        table = msgspec.convert(document, decodable(kind), str_keys=True)
    except msgspec.ValidationError as error:
        error.add_note(place)
        raise
    if is_settled:
        keep(key, msgspec.msgpack.encode(document))
    return table


def decode_toml(content: bytes | str, kind: type[_T], place: str = "") -> _T:
    """Return the TOML text `content` as a `kind`. `place` names the file in a note of the error. Raises as `read_toml`.

    Example:
        >>> decode_toml("words = ['no', 'non']", dict[str, list[str]])
        {'words': ['no', 'non']}
    """
    try:
        return msgspec.toml.decode(content, type=decodable(kind))
    except msgspec.DecodeError as error:
        if place:
            error.add_note(place)
        raise
