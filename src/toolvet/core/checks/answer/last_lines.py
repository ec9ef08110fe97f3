"""The last lines of a text that does not end with the mark of a sentence, and whether it may end there.

The last line is held against its neighbours: a title, a verse, a signature and an item of a list end without a mark
because all of their kind do.
"""

import re
import unicodedata
from collections.abc import Sequence

from toolvet.core.checks.answer.ending_marks import EndingMarks

_FENCE = "```"
_PROSE = 80  # A line of this many characters is a sentence, not a title or a verse.
_SHORT_LINE = 40

_RULE = re.compile(r"(?:\n[ \t]*(?:-[ \t]?){3,}|\n[ \t]*(?:\*[ \t]?){3,}|\n[ \t]*_{3,})\s*\Z")
_RULE_MARKS = frozenset("-*_")
_ITEM = re.compile(
    r"[ \t>]*(?:[-*\u2022\u2013+\u25aa\u25e6\u00b7]|\(?\d{1,3}[.)\u3001]|\(?[a-zA-Z][.)]|[\u2460-\u2473])(?:[ \t]+|\Z)"
)
_BARE_ITEM = re.compile(r"\n[ \t>|]*(?:[-*•+▪◦]|\*{0,2}\d{1,3}[.)])[ \t]*\Z")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+\S")
_LINK = re.compile(
    r"(?:https?://|www\.)\S*\Z|\S+@\S+\.\w+\Z|(?:^|\s)[#@][\w/.-]+\Z|\b[\w-]+\.(?:com|org|net|gov|edu|io)\Z"
)
_CODE = re.compile(
    r"[;{}]\Z|\A\s*(?:(?:print|end\w*|import|echo|\$|>>>)\b[ \t]*\S{0,40}|return\b.{0,60})\Z"
    r"|\A\s*(?:def|class|from|if|elif|else|for|while|var|let|const|SELECT|INSERT|UPDATE)\b.*[(){}=;*]"
    r"|[\w\])][ \t]*(?:[-+*/]?=|=>|->|:=)[ \t]*\S|\w\(.*\)\Z|\A\s*</?\w|\#\s*[Oo]utput"
)
_FIGURE = re.compile(r"(?:\A|[\s(:=$€£¥])[-+$€£¥]?\d[\d.,:/%°+-]*\s?[\w%°]{0,8}\Z")
_INNER_END = re.compile(r"[.!?\u2026]['\"\u201d\u2019)*_]*\s+\S|[\u3002\uff01\uff1f\u0964\u06d4\u061f]\S")
# A source after the end of a sentence: (OECD, 2021), [3].
_SOURCE = re.compile(r"(?<=[.!?…。])\s*(?:\([^()]*\)|\[[^\[\]]*\])\Z")
# Marks after which a sentence goes on: commas, colons, dashes and opening brackets of all scripts.
_GOES_ON = frozenset(
    ",;:-/(=<[{&+\u2013\u2014\u060c\u061b\u3001\uff0c\uff1b\uff1a\uff08\u300c\u300e\u201c\u201e\u00bf\u00a1"
)
# A remark in italics after the last sentence: "Good night! *waves*".
_STAGE = re.compile(r"[.!?\u2026]\s+\*[^*\n]+\*\Z")
# A fence, a formula or a row above the last line belongs to no address.
_NO_ADDRESS = (_FENCE, "\\", "$$", "|", "<")
# Words of a sentence: a line with this many of them is prose, even if some of it looks like code.
_WORDS = re.compile(r"(?<![\w.(=/$\\<])[^\W\d_]{2,}(?=[ ,])")
_MOST_WORDS_OF_CODE = 7
# "adds memoization to `my_expe"
_OPEN_SPAN = re.compile(r"\A(?:[^`]*`[^`]*`)*[^`]*(?<![^\s(])`[^`\s][^`]*\Z")
_SPAN = re.compile(r"`[^`]*`|\$[^$]*\$|\\\(.*?\\\)")
_VERSE_ENDS = frozenset(".,;:!?-\u2026\u2014\u2013")
_SUFFIXES = re.compile(r"(?:'?s|e[sdr]|d|r|ly|ing|er|n|y|al|ic|en|e)\Z")
_SHORT_WORD = re.compile(r"[^b-df-hj-np-tv-xz]")
_LAST_WORD = re.compile(r"[^\W_][\w'\u2019.-]*\Z")


class LastLines:
    """A text's last 6000 characters at most, line by line."""

    def __init__(self, tail: str, known: EndingMarks, *, is_all: bool = True) -> None:
        self._known = known
        self._is_all = is_all
        # Every line break of the text would be looked at for a rule after it.
        without_rule = _RULE.sub("", tail).rstrip() if tail[-1:] in _RULE_MARKS else tail
        self._had_rule = without_rule != tail
        self._tail = without_rule or tail
        self._lines = [line.rstrip() for line in self._tail.split("\n")]
        self._line = self._lines[-1]
        self._bare = self._tail.rstrip(known.closers + " ")
        match = _LAST_WORD.search(self._bare[-60:])
        self._word = match.group() if match is not None else ""

    def are_whole(self) -> bool:
        """Whether the text may end here: with a mark after a quote, without one as its neighbours do, or with code."""
        if self._lacks_a_part():
            return False
        return self._needs_no_mark() or (not self._is_open() and self._stands_like_its_neighbours())

    def _lacks_a_part(self) -> bool:
        """Whether a row, a label, an item, a formula, a quotation or a document was begun and nothing fills it."""
        return (
            is_short_row(self._lines)
            if self._line.lstrip().startswith("|")
            else (
                is_empty_label(self._lines)
                or is_bare_ordinal(self._lines)
                or opens_formula(self._tail, self._line)
                or (opens_quotation(self._tail, self._line) and not self._looks_like_code())
                or opens_document(self._tail, whole=self._is_all)
            )
        )

    def must_go_on(self) -> bool:
        """Whether something stays open. A label with nothing after it may wait for the reader: "Your move:"."""
        if self._lacks_a_part():
            return True
        return self._is_open() and not (self._tail[-1] == ":" and len(self._line.split()) < 3)

    def _needs_no_mark(self) -> bool:
        """Whether the end needs no mark: it has one after a quote, or is a picture, link, table, tag or code."""
        last = self._tail[-1]
        if self._line.lstrip().startswith("|"):
            return last == "|"
        if _BARE_ITEM.search(self._tail[-20:]) is not None and len(self._lines) > 1:
            return False
        if not self._bare:
            return True
        return (
            self._bare[-1] in self._known.sentence_ends
            or unicodedata.category(self._tail.rstrip("\"'\u201d\u2019*_) ")[-1:] or last) in ("So", "Sk", "Cf")
            or last == "\ufe0f"
            or self._closes(last)
            or (last == ";" and "\u0370" <= self._bare[-2:-1] <= "\u03ff")
            or self._tail.endswith((_FENCE, "|", "</", "/>", "\\]", "$$"))
            or re.search(r"</?\w[^<>]*>\Z", self._line[-200:]) is not None
            or _LINK.search(self._line[-200:].rstrip(")]>*_`\"'")) is not None
            or self._known.without_marks.search(self._bare[-1]) is not None
            or self._bare.endswith(self._known.complete_endings)
            or (last in "}]" and self._tail.lstrip()[:1] in "{[")
        )

    def _closes(self, last: str) -> bool:
        """Whether the end is a quotation, a figure or source in brackets, or a remark that is bracketed as a whole."""
        line = self._line.strip("*_ ")
        if last in "\"'\u201d\u2019\u00bb\u300d\u300f" and self._tail[-2] not in ",;:":
            return True
        if last == "]" and "[" in line:
            return True
        if last == "*" and _STAGE.search(self._line[-200:]) is not None:
            return True
        inner = line[line.rfind("(") + 1 : -1]
        return last in ")*_" and line[-1:] == ")" and (line[:1] == "(" or any(map(str.isdigit, inner)))

    def _is_open(self) -> bool:
        """Whether something was begun that must go on: a bracket, emphasis, a heading's text, a sentence."""
        line = self._line
        known = self._known
        goes_on = self._tail[-1] in _GOES_ON or (self._bare != self._tail and self._bare[-1] in ",;(&")
        if _HEADING.match(line) and len(self._lines) > 1:
            return True
        if line.lstrip().startswith("|"):
            return True
        if goes_on and not self._looks_like_code() and not self._siblings_end_alike():
            return True
        paragraph = self._tail[self._tail.rfind("\n\n") + 1 :]
        if (
            line.count("(") > line.count(")")
            or line.count("[") > line.count("]")
            or paragraph.count("“") > paragraph.count("”")
        ):
            return not self._looks_like_code()
        if line.count("**") % 2 or _OPEN_SPAN.search(line) is not None:
            return True
        if self._tail[-1] == self._bare[-1]:
            if self._word.casefold() in known.dangling and " " in self._bare:
                return not self._looks_like_code() and not self._is_title()
            return self._bare.endswith(known.dangling_endings) and len(self._bare) > 1
        return False

    def _stands_like_its_neighbours(self) -> bool:
        """Whether this line may end without a mark because lines of its kind do here."""
        if self._looks_like_code() or (not self._tail[-1].isalnum() and self._siblings_end_alike()):
            return True
        item = _ITEM.match(self._line)
        if item is not None:
            return not self._is_odd_item(item.end())
        line = self._line.strip("*_ ")
        if len(line) > _PROSE or _INNER_END.search(line):
            return self._is_verse()
        if len(self._lines) == 1:
            return True
        if self._is_among_marked_verses():
            return False
        if is_filled_label(self._lines):
            return True
        if not any(self._ends(each) for each in self._lines[:-1]):
            return True
        # A closing line that is set in bold or italics as a whole, such as **End of report**.
        whole = self._line.strip()
        is_emphasised = len(whole) > 2 and whole[0] in "*_" and whole[-1] == whole[0]
        return is_emphasised or self._is_signed() or self._is_verse() or _FIGURE.search(line) is not None

    def _is_odd_item(self, begin: int) -> bool:
        """Whether an item of a list lacks the mark that most items have."""
        alike = self._siblings()
        if not alike:
            return len(self._line) > _PROSE or _INNER_END.search(self._line[begin:]) is not None
        ended = sum(self._ends(each) for each in alike)
        if 2 * ended >= len(alike):
            # An answer key has items of one letter.
            said = len(self._line) - begin > 1 or not self._line[-1].isascii()
            return said and not (_FIGURE.search(self._line) and 3 * ended < 2 * len(alike))
        # Else only one that stops within a word: the text has longer words with this beginning, and not this word.
        word = self._word
        # Of two letters, only what no word consists of: "sl", but neither "up" nor "AI".
        if len(word) < 2 or not word.isalpha() or (len(word) == 2 and _SHORT_WORD.search(word)):
            return False
        longer = re.findall(rf"\b{word}(\w*)", self._tail.removesuffix(word), re.IGNORECASE)
        return bool(longer) and all(rest and not _SUFFIXES.fullmatch(rest) for rest in longer)

    def _siblings(self) -> list[str]:
        """The earlier items at the level of the last one: from its own list if that has two, else from any list."""
        own: list[str] = []
        for each in reversed(self._lines[:-1]):
            if _ITEM.match(each):
                own.append(each)
            elif each.strip() and not each.startswith(" "):
                break
        every = [each for each in self._lines[:-1] if _ITEM.match(each)][-12:]
        level = _indent(self._line)
        for siblings in (own, every):
            alike = [each for each in siblings if _indent(each) == level]
            if len(alike) > 1:
                return alike
        return every

    def _is_signed(self) -> bool:
        """Whether the last lines are a name, an address or a colophon."""
        above = next((each.strip() for each in reversed(self._lines[:-1]) if each.strip()), "")
        beside = self._lines[-2].strip()
        words = re.sub(r"[,!.*_]", "", above).casefold().strip()
        line = self._line.strip("*_\u2014\u2013- ")
        names = line.split(" ")
        first = names[0].casefold()
        return (
            words in self._known.sign_off
            or (first in self._known.sign_off and len(names) > 1 and (len(names) < 5 or names[-1][:1].isupper()))
            or (
                0 < len(beside) <= _SHORT_LINE
                and not beside.startswith(_NO_ADDRESS)
                and not self._ends(beside)
                and not _is_heading(beside)
            )
            or self._line.lstrip().startswith(("\u2014", "\u2013", "-", "\u00a9", "~"))
            or (self._had_rule and self._is_title())
            or (line.isupper() and (len(line) > 1 or above[-1:] == ":"))
        )

    def _is_verse(self) -> bool:
        """Whether the last lines are verses: short lines of one block, most of which end without a stop."""
        block: list[str] = []
        for line in reversed(self._lines):
            if not line.strip():
                break
            block.append(line)
        verses = block[1:7]
        if len(verses) < 2 or any(
            len(each) > _PROSE or "\\" in each or _ITEM.match(each) or _is_heading(each) for each in block[:7]
        ):
            return False
        unended = sum(not self._ends(each) for each in verses)
        lengths = sorted(len(each) for each in verses)
        return 2 * unended >= len(verses) and 2 * len(self._line) >= lengths[len(lengths) // 2]

    def _is_among_marked_verses(self) -> bool:
        """Whether this is a line of verse without a mark while nearly all lines before it end with one, if a comma."""
        if len(self._line.split()) < 3 or self._is_title():
            return False
        block = [line for line in self._lines[-30:-1] if line.strip() and not _is_heading(line)]
        if len(block) < 6 or any(len(line) > _PROSE or _ITEM.match(line) for line in block):
            return False
        marked = sum(line.rstrip("*_ \"'\u201d\u2019)")[-1:] in _VERSE_ENDS for line in block)
        return 5 * marked >= 4 * len(block)

    def _is_title(self) -> bool:
        item = _ITEM.match(self._line)
        words = self._line[item.end() if item is not None else 0 :].strip("*_# ").split()
        return 2 <= len(words) <= 8 and all(not word[:1].islower() for word in words)

    def _looks_like_code(self) -> bool:
        line = self._line[-300:]
        return _CODE.search(line) is not None and (
            line[-1] in ";{}" or len(_WORDS.findall(_SPAN.sub(" ", line))) <= _MOST_WORDS_OF_CODE
        )

    def _siblings_end_alike(self) -> bool:
        """Whether other lines of the same kind end with the same character: a form with fields left blank."""
        if _ITEM.match(self._line) is None:
            return False
        others = [each for each in self._lines[:-1] if _ITEM.match(each)][-6:]
        return len(others) >= 2 and sum(each[-1:] == self._line[-1:] for each in others) * 2 > len(others)

    def _ends(self, line: str) -> bool:
        stripped = _SOURCE.sub("", line.rstrip(" *_")).rstrip(self._known.closers + " ")
        return bool(stripped) and (stripped[-1] in self._known.sentence_ends or stripped[-1] in ";:")


def _is_heading(line: str) -> bool:
    """Whether a line is a heading, or set in bold as one."""
    line = line.strip()
    return _HEADING.match(line) is not None or (line.startswith("**") and line.endswith(("**", "**:", ":**")))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


# "Name: Ada", "- **Born:** 1815": a label, and what it is filled with.
_LABEL = re.compile(
    r"[ \t>]*(?:[-*\u2022+][ \t]+|\d{1,3}[.)][ \t]+)?(\*{0,2})[^\W\d_][\w '/()-]{0,40}(?:\1:|:\1)[ \t]*(\S?)"
)
_RULED = re.compile(r"[ \t]*\|?[ \t:|-]*-[ \t:|-]*\Z")
_ORDINAL = re.compile(r"[ \t>*]*(\d{1,3})\Z")
_ORDERED = re.compile(r"[ \t>*]*(\d{1,3})[.)、][ \t*]")
_CONTRACTED = re.compile(r"[^\W\d_]['\u2019]\Z")
_INCHES = re.compile(r"\d\"")
_POWER = re.compile(r"\$[^$]*[\^{}\\][^$]*\Z")
_LABELS_LOOKED_AT = 12
_ROWS_LOOKED_AT = 60
_SHORT_ROW = 80


def is_short_row(lines: Sequence[str]) -> bool:
    """Whether the last line is a row with fewer cells than the rows above it, or a table's head without a body."""
    above = 0
    first = len(lines) - 1
    while first and above < _ROWS_LOOKED_AT and lines[first - 1].lstrip().startswith("|"):
        first -= 1
        above += 1
    if not above:
        return False
    cells = [each.count("|") - each.count("\\|") for each in lines[first:]]
    if _RULED.match(lines[-1]):
        return above == 1
    return min(cells[:-1]) > cells[-1]


def is_empty_label(lines: Sequence[str]) -> bool:
    """Whether the last line is a label with nothing after it, while most labels before it have something."""
    last = _LABEL.match(lines[-1])
    if last is None or last[2]:
        return False
    before = [found for line in lines[-40:-1] if (found := _LABEL.match(line)) is not None][-_LABELS_LOOKED_AT:]
    return len(before) > 1 and 2 * sum(bool(found[2]) for found in before) > len(before)


def is_filled_label(lines: Sequence[str]) -> bool:
    """Whether the last line is a label followed by a few words, like the lines before it: "Priority: High".

    Lines of a dialogue end with punctuation, so they are not labels.
    """
    if len(lines[-1]) > _SHORT_ROW or _LABEL.match(lines[-1]) is None:
        return False
    before = [line for line in lines[-40:-1] if _LABEL.match(line)][-_LABELS_LOOKED_AT:]
    return len(before) > 1 and 2 * sum(line[-1] not in ".!?…" for line in before) > len(before)


def is_bare_ordinal(lines: Sequence[str]) -> bool:
    """Whether the last line is the number that the next item of a list would have."""
    last = _ORDINAL.match(lines[-1])
    if last is None:
        return False
    for line in reversed(lines[:-1]):
        before = _ORDERED.match(line)
        if before is not None:
            return int(before[1]) + 1 == int(last[1])
    return False


def opens_formula(tail: str, line: str) -> bool:
    """Whether a formula of TeX stays open."""
    if "$" not in tail and "\\" not in tail:
        return False
    if tail.count("$$") % 2 or tail.count("\\[") > tail.count("\\]") or tail.count("\\(") > tail.count("\\)"):
        return True
    if line.endswith("\\") and line[-2:-1] in (" ", "", "("):
        return True
    odd = line.count("$") % 2 == 1
    return (odd and _POWER.search(line) is not None) or ("\\" in line and (odd or line.count("{") > line.count("}")))


def opens_quotation(tail: str, line: str) -> bool:
    """Whether a straight quotation mark in the line stays open, or a word is broken at its apostrophe."""
    if line.endswith('"'):
        return line[-2:-1] in ("", " ", "(")
    if line[-1:] in "'\u2019":
        # "customers'" is whole, and so is a quotation in single marks.
        opened = any(mark in line for mark in (" '", " \u2018", "('")) or line.lstrip()[:1] in "'\u2018"
        return not opened and _CONTRACTED.search(line) is not None and line[-2] not in "sxzSXZ"
    # A quotation may have begun some paragraphs before.
    return line.count('"') % 2 == 1 and tail.count('"') % 2 == 1 and _INCHES.search(line) is None


def opens_document(tail: str, *, whole: bool) -> bool:
    """Whether the text is JSON or HTML from its first character and never closes; `whole` is whether all is there."""
    text = tail.lstrip()
    if not whole:
        return False
    if text.startswith(('{"', '[{"', "{\n")):
        return text[-1] not in "}]"
    head = text[:200].lower()
    return head.startswith(("<html", "<!doctype html")) and "</html>" not in text.lower()
