"""Text of a server, made safe to look at: characters that are invisible or steer a terminal are shown.

It does not escape for any format. The writers of Rich markup, HTML, XML and Markdown do that.
"""

import re
from typing import Final

import msgspec

# Controls, bidirectional overrides, zero-width marks, line separators, tag characters (used to hide prompts), lone
# surrogates and non-characters. The joiners U+200C and U+200D stay: Persian and emoji are written with them.
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ufffe\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
)


def visible(text: str) -> str:
    """`text` with every unseen character replaced by a picture of it: `␛` for escape, `⟨U+202E⟩` for an override.

    Line feeds and tabs stay, and CR LF becomes a line feed.
    """
    return _UNSEEN.sub(_picture, text.replace("\r\n", "\n"))


def escape_unseen(document: str) -> str:
    r"""Return JSON with every unseen character as its escape: the same document, and a terminal obeys none of it.

    >>> print(escape_unseen('{"text": "\x9b31m"}'))
    {"text": "\u009b31m"}
    """
    if document.isascii() and "\x7f" not in document:
        return document
    import json  # noqa: PLC0415 - 3 ms, and most documents need it not

    return _UNSEEN.sub(lambda match: json.dumps(match.group())[1:-1], document)


def json_text(document: object, *, is_line: bool = False) -> str:
    r"""Return a document as JSON with a line feed at its end, indented or as one line; a terminal obeys none of it.

    Half a character and an integer of any length, which are rare, are written by the standard library.

    >>> print(json_text({"text": "\x9b31m"}, is_line=True), end="")
    {"text":"\u009b31m"}
    """
    try:
        encoded = msgspec.json.encode(document)
    except (UnicodeEncodeError, OverflowError):
        import json  # noqa: PLC0415 - as above

        encoded = json.dumps(msgspec.to_builtins(document), separators=(",", ":")).encode("ascii")
    return escape_unseen((encoded if is_line else msgspec.json.format(encoded, indent=2)).decode()) + "\n"


def one_line(text: str) -> str:
    """`visible(text)` for a cell or a headline: line breaks shown as `↵`, tabs as spaces."""
    return visible(text).strip().replace("\n", " ↵ ").replace("\t", " ")


def shorten(text: str, limit: int) -> str:
    """The first `limit` characters, and how many more there were."""
    if len(text) <= limit:
        return text
    return f"{text[:limit].rstrip()} … ({len(text) - limit:,} more characters)"


def _picture(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"
