"""`recover`: the value of a text that was meant as JSON, with every departure from JSON described."""

import html
import json
import math
import re
from collections.abc import Iterator
from typing import NoReturn, cast

import msgspec

from toolvet.core.json_value import is_array, is_object, same
from toolvet.core.schema.repairs.context import Confidence, least


class Unreadable(Exception):  # noqa: N818 - a state of the reading, never an error that leaves the room.
    """The text is not a value, or could be several."""


class _Ended(Exception):  # noqa: N818 - as above
    """A text that is still being written ends inside a name, a number or a word, or before a value."""


class LenientValue(msgspec.Struct, frozen=True, kw_only=True):
    """The value at the start of a text, the place of its end, and a sentence for each liberty taken."""

    value: object
    end: int
    steps: tuple[str, ...]
    confidence: Confidence


def read(text: str, *, is_guided: bool = False) -> LenientValue:
    """Return the value at the start of `text`; `recover` says what `is_guided` allows. Raises `Unreadable`."""
    reader = _LenientReader(text, is_guided=is_guided)
    value = reader.read_value(0)
    return LenientValue(
        value=value, end=reader.at, steps=tuple(reader.liberties), confidence=least(reader.liberties.values())
    )


_SPACE = re.compile(r"[\s\ufeff]*")
_HEXADECIMAL = re.compile(r"[+-]?0[xX][0-9a-fA-F]{1,16}(?!\w)")
_NUMBER = re.compile(r"[+-]?(?:[0-9][0-9_]*(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.])")
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORD = re.compile(r"[^\W\d][\w$-]*")
_BARE_NAME = re.compile(r"""(?::(?=[\w$-]+[ \t]*=>))?([A-Za-z_$][\w$-]*)(?:["'](?=[ \t]*:))?""")
_PLAIN_NAME = re.compile(r'"([^"\\\x00-\x1f]*)"[ \t\r\n]*:')
_HALF_NAME = re.compile(r'"([A-Za-z_$][\w$-]*)(?=[ \t]*:[ \t]*(?:["\[{\d-]|true|false|null))')
_HALF_NEXT = re.compile(r'[A-Za-z_$][\w$-]*"[ \t]*:')
_NAME = re.compile(r"[A-Za-z_$][\w$-]*")
_LITERALS: dict[str, object] = {"true": True, "false": False, "null": None}
_FOREIGN: dict[str, object] = {
    "True": True,
    "False": False,
    "None": None,
    "TRUE": True,
    "FALSE": False,
    "NULL": None,
    "Null": None,
    "nil": None,
    "undefined": None,
}
# What opens a text, and what closes it.
_QUOTES = dict(
    zip("\"'`\u201d\uff02\u201c\u2018\u00ab\u300c\u300e", "\"'`\u201d\uff02\u201d\u2019\u00bb\u300d\u300f", strict=True)
)
# Marks as East Asian keyboards type them; the ideographic comma, too.
_WIDE = {ord(sign) + 0xFEE0: sign for sign in "{}[](),:;=+-.0123456789"} | {0x3001: ","}
_TO_ASCII = {chr(code): sign for code, sign in _WIDE.items()}
_PLAIN_STRING = re.compile(r'"([^"\\\x00-\x1f]*)"')
_AFTER_TEXT = re.compile(r"\s*(?:[,;:}\])=]|$)")
_NOT_TEXTS = frozenset({"nan", "infinity", "inf"})
_DOUBLED = re.compile(r"""(["'])\1([^"'\s,;:}\]](?:(?!\1\1).)*)\1\1(?=\s*[,;:}\]])""", re.DOTALL)
_SURROGATES = re.compile("[\ud800-\udfff]")
# A text without quotation marks ends at a comma, a bracket or the line; it holds no mark that could mean something.
_BARE_TEXT = re.compile(r"([^\W\d][\w ./@+%-]*)[\"']?(?=[ \t]*[,}\]\n])")
# A name with its colon, after a value without a comma.
_MEMBER = re.compile(r"""(?:"[^"\\\n]{1,200}"|'[^'\\\n]{1,200}'|[A-Za-z_$][\w$-]{0,200})[ \t]*:""")
# In an object no name begins with a digit, so this comma is inside of a number.
_GROUPS = re.compile(r"(?:,[0-9]{3})+(?![\w.])")
_ENDINGS = "\"'`\u201d\u2019\u00bb\u300d\u300f}])"
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "'": "'", "`": "`"}
# What opens a comment, and what ends it.
_COMMENTS = {"/*": "*/", "//": "\n", "#": "\n"}
# A set's brackets are those of an object.
_CLOSING = {"{": "}", "[": "]", "(": ")"}
_CUT_NUMBER = re.compile(r"[-+0-9.eE_xX]*$")
_CLOSED = "Closed the brackets that were open at the end of the text."
_DEEPEST = 150
_THOUSAND = 1_000
_LONGEST_NUMBER = 400


class _LenientReader:
    """A recursive descent; each method starts at the first character that it reads."""

    def __init__(self, text: str, *, is_guided: bool = False, is_partial: bool = False) -> None:
        self.text = text
        self.at = 0
        self.is_guided = is_guided
        self.is_partial = is_partial
        # Typed on some keyboards, both sides of a text have the opening mark; and German has its own.
        self.quotes = dict(_QUOTES)
        if "\u201d" not in text:
            self.quotes["\u201c"] = "\u201c"
        if "\u2019" not in text:
            self.quotes["\u2018"] = "\u2018"
        self.quotes["\u201e"] = "\u201c" if "\u201c" in text else "\u201d"
        self.liberties: dict[str, Confidence] = {}

    def note(self, liberty: str, confidence: Confidence) -> None:
        """Note a departure from JSON; each kind is noted once, at its lowest confidence."""
        self.liberties[liberty] = least((confidence, self.liberties.get(liberty, "high")))

    def peek(self) -> str:
        """Skip white space and comments; return the next character, empty at the end."""
        sign = self.text[self.at : self.at + 1]
        if sign == " ":
            self.at += 1
            sign = self.text[self.at : self.at + 1]
        if "!" <= sign <= "~" and sign not in "/#":
            return sign
        while True:
            found = _SPACE.match(self.text, self.at)
            if found is not None:
                self.at = found.end()
            start = self.text[self.at : self.at + 2]
            ending = _COMMENTS.get(start) or _COMMENTS.get(start[:1])
            if ending is None:
                sign = start[:1]
                if sign in _TO_ASCII:
                    self.note("Read full-width marks as those of ASCII.", "high")
                return _TO_ASCII.get(sign, sign)
            # On one line, the end of a comment cannot be known.
            end = self.text.find(ending, self.at + len(ending))
            if end < 0:
                if self.is_partial:
                    self.at = len(self.text)
                    return ""
                raise Unreadable
            self.at = end + len(ending)
            self.note("Left out comments.", "high")

    def read_value(self, depth: int) -> object:
        """The value at the next character."""
        if depth > _DEEPEST:
            raise Unreadable
        first = self.peek()
        if not first and self.is_partial:
            raise _Ended
        if first == "{":
            return self._read_object(depth)
        if first in ("[", "("):
            return self._read_array(first, depth)
        if first in self.quotes:
            return self._read_string(first)
        if first in ("u", "b") and self._skip_prefix():
            return self._read_string(self.text[self.at])
        if first and first in "+-.0123456789":
            return self._read_number()
        found = _WORD.match(self.text, self.at)
        if found is None:
            raise Unreadable
        word = found[0]
        if self.is_partial and found.end() == len(self.text) and word not in _LITERALS:
            raise _Ended
        if word in _LITERALS:
            self.at = found.end()
            return _LITERALS[word]
        if word in _FOREIGN:
            self.at = found.end()
            self.note("Read Python and JavaScript words for true, false and null.", "high")
            return _FOREIGN[word]
        text = _BARE_TEXT.match(self.text, self.at) if self.is_guided else None
        if text is None:
            raise Unreadable
        self.at = text.end()
        if text[1].lower() in _NOT_TEXTS:
            raise Unreadable
        self.note("Put quotation marks around texts.", "medium")
        return text[1].rstrip()

    def _skip_prefix(self) -> bool:
        """Skip the letter that Python writes before a text: `u'tea'`."""
        if self.text[self.at + 1 : self.at + 2] not in ("'", '"'):
            return False
        self.at += 1
        self.note("Left out Python's prefixes of texts.", "high")
        return True

    def _read_object(self, depth: int, closing: str = "}") -> object:
        found: dict[str, object] = {}
        try:
            return self._read_members(found, depth, closing)
        except _Ended:
            self._leave_out_rest()
            return found

    def _leave_out_rest(self) -> None:
        self.at = len(self.text)
        self.note("Left out what is not complete yet.", "low")

    def _read_members(self, found: dict[str, object], depth: int, closing: str) -> object:
        opened = self.at
        self.at += 1
        while True:
            here = self.peek()
            if here == closing:
                self.at += 1
                return found
            if here == ",":
                self._skip_extra_commas(closing)
                continue
            if not here:
                self._close_at_end()
                return found
            if here == "{" and not found:
                inner = self.read_value(depth + 1)
                if self.peek() != closing:
                    raise Unreadable
                self.at += 1
                self.note("Left out doubled braces.", "medium")
                return inner
            plain = _PLAIN_NAME.match(self.text, self.at)
            if plain is not None:
                name, self.at = _without_surrogates(plain[1]), plain.end()
            else:
                name = self._read_name(here)
                sign = self.peek()
                if not found and closing == "}" and here in self.quotes and sign in (",", "}"):
                    self.at = opened
                    self.note("Read a Python set as a list.", "medium")
                    return self._read_array("{", depth)
                self._read_colon(sign, may_lack=here in self.quotes and self.is_guided)
            value = self.read_value(depth + 1)
            groups = _GROUPS.match(self.text, self.at) if type(value) is int and 0 < abs(value) < _THOUSAND else None
            if groups is not None:
                value = int(f"{value}{groups[0].replace(',', '')}")
                self.at = groups.end()
                self.note("Left out separators of thousands.", "medium")
            is_next = isinstance(value, str) and value.rstrip()[-1:] == "," and _HALF_NEXT.match(self.text, self.at)
            if is_next:
                # What closed this text was to open the next name.
                value = str(value).rstrip()[:-1]
                self.at -= 1
                self.note("Closed the quotation marks of texts.", "medium")
            if name in found and found[name] != value:
                raise Unreadable
            found[name] = value
            if not is_next and not self._skip_comma(closing, depth):
                return found

    def _read_name(self, here: str) -> str:
        if here in ("u", "b") and self._skip_prefix():
            here = self.text[self.at]
        half = _HALF_NAME.match(self.text, self.at)
        if half is not None and not self.is_partial:
            self.at = half.end()
            self.note("Closed the quotation marks of names.", "medium")
            return half[1]
        if here in self.quotes:
            name = self._read_string(here, is_name=True)
            if "\n" in name:
                self.note("Kept the line break in a name.", "medium")
            if self.at >= len(self.text):
                raise _Ended if self.is_partial else Unreadable
            return name
        bare = _BARE_NAME.match(self.text, self.at)
        if bare is None:
            raise Unreadable
        self.at = bare.end()
        if self.is_partial and self.at == len(self.text):
            raise _Ended
        self.note("Put quotation marks around names.", "high")
        return bare[1]

    def _read_colon(self, sign: str, *, may_lack: bool) -> None:
        if sign == "=":
            self.at += 2 if self.text[self.at + 1 : self.at + 2] == ">" else 1
            self.note("Read an equals sign as a colon.", "medium")
        elif sign == ":":
            self.at += 1
        elif may_lack and self.text[self.at - 1].isspace() and (sign in self.quotes or sign.isalnum() or sign in "[{-"):
            self.note("Added a missing colon.", "low")
        else:
            raise Unreadable

    def _skip_extra_commas(self, closing: str) -> None:
        """Skip commas with nothing before them; in a list, a value may be what is missing."""
        while self.peek() == ",":
            self.at += 1
        self.note("Left out commas with nothing between them.", "low" if closing == "]" else "medium")

    def read_call(self) -> dict[str, object]:
        """The arguments of a call as Python writes it, after the opening parenthesis: `query="tea", limit=5)`."""
        found: dict[str, object] = {}
        while True:
            here = self.peek()
            if here == ")":
                self.at += 1
                return found
            name = _NAME.match(self.text, self.at)
            if name is None:
                # One object: `search({"query": "tea"})`.
                value = self.read_value(1) if not found and here == "{" else None
                if not is_object(value) or self.peek() != ")":
                    raise Unreadable
                self.at += 1
                return dict(value)
            self.at = name.end()
            if self.peek() not in ("=", ":") or name[0] in found:
                raise Unreadable
            self.at += 1
            found[name[0]] = self.read_value(1)
            if self.peek() == ",":
                self.at += 1
            elif self.peek() != ")":
                raise Unreadable

    def _read_array(self, opening: str, depth: int) -> object:
        closing = _CLOSING[opening]
        if opening == "(":
            self.note("Read a Python tuple as a list.", "high")
        found: list[object] = []
        opened = self.at
        self.at += 1
        while True:
            here = self.peek()
            if here == closing:
                self.at += 1
                break
            if here == "," and self.is_guided:
                self._skip_extra_commas(closing)
                continue
            if not here:
                self._close_at_end()
                break
            try:
                found.append(self.read_value(depth + 1))
            except _Ended:
                self._leave_out_rest()
                break
            if len(found) == 1 and here in self.quotes and opening == "[" and self.text.startswith("=>", self._next()):
                self.at = opened
                self.note("Read an array of PHP as an object.", "medium")
                return self._read_object(depth, "]")
            if not self._skip_comma(closing, depth):
                break
        if opening == "(" and len(found) == 1 and self.text[self.at - 2 : self.at - 1] != ",":
            # Parentheses around one value are not a tuple.
            raise Unreadable
        return found

    def _skip_comma(self, closing: str, depth: int) -> bool:
        """Skip a comma; False if the container ends here. A container that the end of the text cuts off is closed."""
        here = self.peek()
        if here == closing:
            self.at += 1
            return False
        if here == "}" and closing == "]" and depth:
            self.note("Closed a list that was open.", "medium")
            return False
        if not here:
            self._close_at_end()
            return False
        if here == ";":
            self.note("Read a semicolon as a comma.", "medium")
        elif here != "," and self._lacks_comma(closing, here):
            self.note("Added a missing comma.", "medium")
            return True
        if here in (",", ";"):
            self.at += 1
            after = self.peek()
            if after == closing:
                self.note("Left out a comma before a closing bracket.", "high")
            elif not after:
                self.note("Left out a comma at the end.", "low")
            return True
        raise Unreadable

    def _lacks_comma(self, closing: str, here: str) -> bool:
        """Whether the next item begins here: in an object a name and its colon, in a list a value like the last one."""
        before = self.text[self.at - 1]
        if closing == "}":
            return (before.isspace() or before in _ENDINGS) and _MEMBER.match(self.text, self.at) is not None
        end = self.at
        while self.text[end - 1].isspace():
            end -= 1
        last = self.text[end - 1]
        if last.isdigit() and (here.isdigit() or here == "-"):
            # "1 2" may be one number, and two lines hold two.
            return "\n" in self.text[end : self.at]
        return (last in "}]" and here == {"}": "{", "]": "["}[last]) or (
            before.isspace() and last == here and here in "\"'"
        )

    def _close_at_end(self) -> None:
        """The text ends inside a container: after a complete text or container only closing brackets are missing."""
        end = self.text.rstrip()[-1:]
        self.note(_CLOSED, "medium" if end in _ENDINGS else "low")

    def _read_string(self, opening: str, *, is_name: bool = False) -> str:
        closing = self.quotes[opening]
        plain = _PLAIN_STRING.match(self.text, self.at)
        is_ended = plain is not None and _AFTER_TEXT.match(self.text, plain.end()) is not None
        if plain is not None and (is_ended or (plain[1] and (is_name or not self.is_guided))):
            self.at = plain.end()
            return _without_surrogates(plain[1])
        end = self.text.find(opening * 3, self.at + 3) if self.text.startswith(opening * 3, self.at) else -1
        if end >= 0:
            held, self.at = self.text[self.at + 3 : end], end + 3
            self.note("Read triple quotation marks as single ones.", "medium")
            return _without_surrogates(held)
        doubled = _DOUBLED.match(self.text, self.at)
        if doubled is not None:
            self.at = doubled.end()
            self.note("Read doubled quotation marks as single ones.", "medium")
            return _without_surrogates(self._unescaped(doubled[2]))
        if opening != '"':
            self.note("Replaced other quotation marks by double ones.", "high")
        pieces: list[str] = []
        inner = 0
        stops = _STOPS[closing]
        self.at += 1
        while True:
            found = stops.search(self.text, self.at)
            if found is None:
                if inner or (not self.is_partial and self.text.rstrip()[-1:] in ("}", "]", "`")):
                    # Where the text was to end, before or after these, is a guess.
                    raise Unreadable
                so_far = "".join((*pieces, self.text[self.at :]))
                # Of a character in two halves, the second is lost.
                pieces = [so_far[:-1] if "\ud800" <= so_far[-1:] <= "\udbff" else so_far]
                self.at = len(self.text)
                self.note("Closed the text that was open at the end.", "low")
                break
            pieces.append(self.text[self.at : found.start()])
            self.at = found.end()
            if found[0] == closing:
                if self.is_guided and not is_name and _AFTER_TEXT.match(self.text, self.at) is None:
                    self.note("Escaped quotation marks inside a text.", "medium")
                    pieces.append(closing)
                    inner += 1
                    continue
                break
            if found[0] == "\\":
                pieces.append(self._read_escape())
            else:
                self.note("Escaped control characters inside a text.", "high")
                pieces.append(found[0])
        if inner % 2:
            # Those of a quotation come in pairs; of one alone, another mark is missing.
            raise Unreadable
        return _without_surrogates("".join(pieces))

    def _unescaped(self, inner: str) -> str:
        try:
            return str(_parse_json(f'"{inner}"'))
        except ValueError:
            return inner

    def _next(self) -> int:
        self.peek()
        return self.at

    def _read_escape(self) -> str:
        sign = self.text[self.at : self.at + 1]
        if not sign or (sign == "u" and len(self.text) < self.at + 5):
            # The text was cut in the middle of the escape.
            self.at = len(self.text)
            return ""
        if sign == "u":
            digits = self.text[self.at + 1 : self.at + 5]
            if len(digits) == 4 and all(digit in "0123456789abcdefABCDEF" for digit in digits):
                self.at += 5
                return chr(int(digits, 16))
            raise Unreadable
        if sign == "\n":
            raise Unreadable
        known = _ESCAPES.get(sign)
        if known is not None:
            self.at += 1
            if sign in "'`":
                self.note("Read escapes that JSON does not have.", "high")
            return known
        if sign in "\u201c\u201d\u201e":
            self.at += 1
            self.note("Read escapes that JSON does not have.", "medium")
            return '"'
        # A path or a regular expression whose backslashes were not doubled.
        self.note("Doubled backslashes that begin no escape of JSON.", "medium")
        return "\\"

    def _read_number(self) -> object:
        if self.text[self.at] in _TO_ASCII:
            # The digits, too; one sign stays one sign.
            end = self.at + _LONGEST_NUMBER
            self.text = f"{self.text[: self.at]}{self.text[self.at : end].translate(_WIDE)}{self.text[end:]}"
        found = _HEXADECIMAL.match(self.text, self.at)
        if found is not None:
            self.at = found.end()
            self.note("Wrote hexadecimal numbers as decimal ones.", "medium")
            return int(found[0], 16)
        found = _NUMBER.match(self.text, self.at)
        if self.is_partial and _CUT_NUMBER.match(self.text, self.at):
            raise _Ended
        if found is None or found.end() - found.start() > _LONGEST_NUMBER:
            raise Unreadable
        text = found[0]
        if not _JSON_NUMBER.fullmatch(text):
            if re.match(r"[+-]?0[0-9]", text):
                # A leading zero is octal in some languages, and part of a code in others.
                raise Unreadable
            self.note("Wrote numbers as JSON writes them.", "high")
            text = text.replace("_", "")
        self.at = found.end()
        if "." in text or "e" in text or "E" in text:
            value = float(text)
            if value in (float("inf"), float("-inf")):
                raise Unreadable
            return value
        return int(text)


_STOPS = {
    closing: re.compile(f"[{re.escape(closing)}\\\\\x00-\x1f]")
    for closing in sorted({*_QUOTES.values(), "\u201c", "\u2018"})
}


def _without_surrogates(text: str) -> str:
    if text.isascii() or _SURROGATES.search(text) is None:
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Recovered(msgspec.Struct, frozen=True, kw_only=True):
    """The value that a text was meant to contain; `steps` has a sentence for each departure from JSON."""

    value: object
    steps: tuple[str, ...]
    confidence: Confidence


def recover(text: str, *, is_guided: bool = False) -> Recovered | None:
    """Return the JSON value that `text` was meant to contain, or None if that is uncertain.

    For JSON itself, `steps` is empty. Beyond JSON, an object or an array is read in the notations of Python and
    JavaScript, in Markdown fences, inside prose, encoded twice, and cut off at the end where only closing marks are
    missing. NaN and Infinity are not JSON values, and are refused. Raises nothing, and takes linear time.

    With `is_guided`, for values that a schema confirms, texts may lack their quotation marks or contain them, names may
    lack their colons, and there may be nothing between two commas.

    Example:
        >>> recover("Here you are: {'limit': 10}").value
        {'limit': 10}
    """
    if len(text) > _LONGEST:
        return None
    bare = text.strip(_EDGES)
    found = _recovered(bare, is_guided=is_guided)
    if found is not None:
        return found
    for other, step in (
        (html.unescape(bare), "Decoded HTML entities."),
        (_without_margin(bare), "Left out the margin."),
    ):
        found = _recovered(other, is_guided=is_guided) if len(other) < len(bare) else None
        if found is not None and not isinstance(found.value, str):
            sure = least((found.confidence, "medium"))
            return Recovered(value=found.value, steps=(step, *found.steps), confidence=sure)
    return None


def _recovered(bare: str, *, is_guided: bool) -> Recovered | None:
    try:
        return _decode_nested(_parse_json(bare), (), "high")
    except (ValueError, RecursionError):
        pass
    call = _CALL.match(bare)
    if call is not None:
        reader = _LenientReader(bare)
        reader.at = call.end()
        try:
            arguments = reader.read_call()
        except Unreadable:
            arguments = None
        if arguments is not None and bare[reader.at :].strip() in ("", ";"):
            sure = least(("medium", *reader.liberties.values()))
            return Recovered(
                value=arguments, steps=("Read a call as Python writes it.", *reader.liberties), confidence=sure
            )
    if bare[:1] in ("{", "[") and '\\"' in bare[:_HEAD]:
        try:
            return _decode_nested(_parse_json(f'"{bare}"'), ("Removed the escapes.",), "medium")
        except (ValueError, RecursionError):
            pass
    if _NO_BRACES.match(bare):
        reading = _read_leniently(f"{{{bare.rstrip(',')}}}")
        if reading is not None and reading.end == len(bare.rstrip(",")) + 2:
            return _accept(reading, f"{{{bare}}}", "Put braces around the members.", "medium")
    for inner, step, confidence in _candidates(bare):
        reading = _read_leniently(inner)
        if reading is not None:
            return _accept(reading, inner, step, confidence)
    for inner, step, confidence in _candidates(bare) if is_guided else ():
        # In prose, brackets are around words.
        reading = None if step == AROUND else _read_leniently(inner, is_guided=True)
        if reading is not None:
            return _accept(reading, inner, step, confidence)
    return None


_LONGEST = 4_000_000
# What begins every line of a quotation, a listing or a comparison.
_MARGIN = re.compile(r"(?:[>+]|[ \t]{0,5}\d{1,5}[ \t]*[|:])[ \t]?")


def recover_beginning(text: str) -> Recovered | None:
    """Return what is certain so far of a text that is still being written; None if no object or array has begun."""
    bare = text[:_LONGEST].strip(_EDGES)
    whole = recover(bare)
    if whole is not None and not whole.steps:
        return whole if is_object(whole.value) or is_array(whole.value) else None
    for inner, step, confidence in _candidates(bare):
        reader = _LenientReader(inner, is_partial=True)
        try:
            value = reader.read_value(0)
        except (Unreadable, _Ended):
            continue
        if is_object(value) or is_array(value):
            steps = (*((step,) if step else ()), *reader.liberties)
            return Recovered(value=value, steps=steps, confidence=least((confidence, *reader.liberties.values())))
    return None


_EDGES = " \t\r\n\f\v\u00a0\ufeff\u200b\u2060"
_HEAD = 200
_NO_BRACES = re.compile(r'"[^"\\\n]{1,200}"[ \t]*:')
_CALL = re.compile(r"(?:await )?[A-Za-z_][\w.]{0,100}\(")


def _without_margin(text: str) -> str:
    lines = text.splitlines()
    return "\n".join(_MARGIN.sub("", line, count=1) for line in lines) if all(map(_MARGIN.match, lines)) else text


def _parse_json(text: str) -> object:
    """JSON and nothing else; whole numbers of any size stay exact."""
    return cast("object", _DECODER.decode(text))


def _parse_finite(digits: str) -> float:
    value = float(digits)
    return value if math.isfinite(value) else _refuse_constant(digits)


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON value")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_parse_finite)


_FENCE = re.compile(r"```[ \t]{0,9}[\w+-]{0,20}[ \t]{0,9}\r?\n(.*?)(?:\r?\n[ \t]*)?```", re.DOTALL)
_OPENING = re.compile("[{\\[\uff5b\uff3b]")
_BRACKET = re.compile(r"[{}\[\]]")
_PAIRS = (("{", "}"), ("[", "]"))
AROUND = "Left out the words around the JSON."
_MOST_OPENINGS = 8


def _candidates(text: str) -> Iterator[tuple[str, str, Confidence]]:
    """Parts of a text that may be the value: all of it, its one fenced block, then from each opening bracket on."""
    if text[:1] in "{[(\"'\uff5b\uff3b":
        yield text, "", "high"
    if "```" in text:
        blocks = [block[1] for block in _FENCE.finditer(text)]
        if len(blocks) > 1:
            return
        if blocks:
            yield blocks[0].strip(), "Took the JSON out of its Markdown fence.", "high"
        elif text.startswith("```"):
            # The fence was never closed: the text may have been cut.
            yield text.split("\n", 1)[-1].strip(), "Took the JSON out of its Markdown fence.", "medium"
        return
    for _, opening in zip(range(_MOST_OPENINGS), _OPENING.finditer(text), strict=False):
        start = opening.start()
        # A part of a value that could not be read is not the value.
        if start and all(text.count(left, 0, start) == text.count(right, 0, start) for left, right in _PAIRS):
            yield text[start:], AROUND, "medium"


def _accept(reading: LenientValue, text: str, step: str, confidence: Confidence) -> Recovered | None:
    """The value that was read, or None if the text after it makes it doubtful."""
    steps = ((step,) if step else ()) + reading.steps
    sure = least((confidence, reading.confidence))
    rest = text[reading.end :].strip()
    if rest:
        if set(rest) <= set("}])"):
            steps, sure = (*steps, "Left out closing brackets that close nothing."), least((sure, "medium"))
        elif rest in (";", ","):
            steps = (*steps, "Left out what follows the JSON.")
        elif not (is_object(reading.value) or is_array(reading.value)) or _has_rival(rest, reading.value):
            # Another value follows: which of them holds the arguments is a guess.
            return None
        else:
            steps, sure = (steps if AROUND in steps else (*steps, AROUND)), least((sure, "medium"))
    return _decode_nested(reading.value, steps, sure)


def _has_rival(rest: str, value: object) -> bool:
    """Whether the text after a value has another one, which is not the same and not a word in brackets."""
    if any(rest.count(right) > rest.count(left) for left, right in _PAIRS):
        # More members follow a bracket that closed too early.
        return True
    for number, opening in enumerate(_OPENING.finditer(rest)):
        other = _read_leniently(rest[opening.start() :]) if number < _MOST_OPENINGS else None
        if other is not None and same(other.value, value):
            return bool(rest[opening.start() + other.end :].strip("}]); \n`"))
        is_member = _MEMBER.match(rest[opening.end() : opening.end() + _HEAD].lstrip()) is not None
        is_like = other is not None and bool(other.value) and is_array(value) is is_array(other.value)
        is_next = not rest[: opening.start()].strip(" \t\n,;")
        if (
            number >= _MOST_OPENINGS
            or is_member
            or is_like
            or (is_next and other is not None)
            or (other is not None and _CLOSED in other.steps)
        ):
            return True
    return False


def _read_leniently(text: str, *, is_guided: bool = False) -> LenientValue | None:
    try:
        return read(text, is_guided=is_guided)
    except Unreadable:
        return None


_DEEPEST_ENCODING = 3


def _decode_nested(value: object, steps: tuple[str, ...], confidence: Confidence) -> Recovered | None:
    """The value; a text that is JSON in itself is decoded again."""
    for _ in range(_DEEPEST_ENCODING):
        if not isinstance(value, str) or value.strip()[:1] not in ("{", "[", '"'):
            break
        text = value.strip()
        try:
            value = _parse_json(text)
        except (ValueError, RecursionError):
            reading = _read_leniently(text)
            if reading is None or text[reading.end :].strip():
                break
            value, confidence, steps = reading.value, least((confidence, reading.confidence)), (*steps, *reading.steps)
        steps = (*steps, "Decoded JSON that was encoded twice.")
    if steps and not (is_object(value) or is_array(value)):
        return None
    return Recovered(value=value, steps=steps, confidence=confidence)
