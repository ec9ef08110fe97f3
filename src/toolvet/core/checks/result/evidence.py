"""What one error says and what its call was: the evidence that the decision is made from."""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from toolvet.core.causes import State
from toolvet.core.checks.result.phrases import CallerText, ResultPhrases, Strength
from toolvet.core.checks.result.plain import object_of, readable
from toolvet.core.checks.result.program import is_callers_crash
from toolvet.core.checks.result.sentence import plain_sentence
from toolvet.core.checks.result.tool import caller_texts
from toolvet.core.matching import Hit
from toolvet.core.tools import ToolView

_MOST_QUOTED: Final = 80
_MOST_SENT: Final = 10
_STATUS: Final = re.compile(r"[45]\d\d")
_PRINTS: Final = re.compile(r"\s*(?:print|console\.\w{3,5}|logg?er?\.\w{4,9}|echo|puts|printf|return)\b\s*\(?f?[\"'`]")
_SAME_NOUN: Final = re.compile(r"[\w -]{1,24}")
# A crash names where it was noticed, an internal error not even that; a refused connection is what happened.
_VAGUER: Final = (State.CRASH, State.INTERNAL)


class CallFacts(msgspec.Struct, frozen=True, gc=False):
    """What is known of the call whose error is judged.

    `sent` are the strings of the arguments, of which `quoted` is one that the error quotes. `structured` and
    `name_word` quote what makes these factors present. All strings are empty where there is nothing.
    """

    view: ToolView
    arguments: object = None
    sent: tuple[str, ...] = ()
    quoted: str = ""
    structured: str = ""
    name_word: str = ""

    @property
    def runs(self) -> frozenset[CallerText]:
        """The texts of its caller that the tool runs. Most errors are decided without knowing it."""
        return caller_texts(self.view, self.arguments)

    @property
    def arguments_known(self) -> bool:
        """Whether any argument was given."""
        return bool(object_of(self.arguments))


class FirstHits:
    """The first hit of each strength in one text, and what the caller's own patterns found.

    `callers` is the first error of a text that the caller wrote and the tool ran. `veto` is the hit that says most
    about a failure, of the state `veto_state`. `refusal` are the words by which a validation library refused the
    arguments; a stack trace makes them those of a crash.
    """

    __slots__ = (
        "_alone_state",
        "_runs",
        "call",
        "callers",
        "first",
        "overriding",
        "own",
        "own_failure",
        "own_strong",
        "rate",
        "refusal",
        "status",
        "text",
        "veto",
        "veto_state",
    )  # fmt: skip

    def __init__(self, text: str, hits: Sequence[Hit], known: ResultPhrases, call: CallFacts) -> None:
        self.text = text
        self.call = call
        self.first: dict[Strength, Hit] = {}
        self.callers: Hit | None = None
        self.veto: Hit | None = None
        self.veto_state = State.UNKNOWN
        self.overriding: Hit | None = None
        self.rate: Hit | None = None
        self.own: Hit | None = None
        self.own_strong: Hit | None = None
        self.own_failure: Hit | None = None
        self._alone_state: State | None = None
        self._runs: frozenset[CallerText] | None = None
        self._sort(hits, known)
        self.refusal = None if Strength.TRACE in self.first else self.first.get(Strength.REFUSAL)
        stated = self.first.get(Strength.HTTP)
        self.status = 0 if stated is None else self._status(stated)

    def _sort(self, hits: Sequence[Hit], known: ResultPhrases) -> None:
        rank = len(_VAGUER)
        call = self.call
        for hit in hits:
            phrase = known.by_id[hit.id]
            strength, state = phrase.strength, phrase.state
            if phrase.caller_text is not None:
                runs = self.runs
                if phrase.caller_text in runs:
                    if phrase.caller_text.explains_crashes:
                        self.callers = self.callers or hit
                elif phrase.otherwise is None:
                    continue
                elif CallerText.PROGRAM not in runs and not (
                    phrase.unless_sent and (call.quoted or not call.arguments_known or CallerText.PART in runs)
                ):
                    strength, state = Strength.VETO, phrase.otherwise
            if strength is Strength.VETO and state is State.INTERNAL and self._is_in_code(hit):
                continue
            self._count(strength, hit, state)
            if strength is Strength.VETO:
                # Of several signs of failure, the first of those that say most: what broke, before who noticed.
                if phrase.decides:
                    self.overriding = self.overriding or hit
                own_rank = _VAGUER.index(state) if state in _VAGUER else -1
                if own_rank < rank:
                    self.veto, self.veto_state, rank = hit, state or State.UNKNOWN, own_rank
            elif state is State.RATE_LIMITED and strength is Strength.ALONE:
                self.rate = self.rate or hit

    def _count(self, strength: Strength, hit: Hit, state: State | None) -> None:
        """The first hit of each strength counts: "Invalid API" ends before "Invalid API key", which says more."""
        first = self.first.setdefault(strength, hit)
        if (
            first is not hit
            and strength is Strength.ALONE
            and state not in (None, State.INVALID_INPUT)
            and self._alone_state is State.INVALID_INPUT
            and _SAME_NOUN.fullmatch(self.text, first.end, hit.end) is not None
        ):
            self.first[strength] = first = hit
        if first is hit and strength is Strength.ALONE:
            self._alone_state = state

    def _is_in_code(self, hit: Hit) -> bool:
        """Whether the words are in a line of code that would print them: nobody has said them yet."""
        return _PRINTS.match(self.text, self.text.rfind("\n", 0, hit.end - 1) + 1, hit.end) is not None

    def _status(self, hit: Hit) -> int:
        """The HTTP status that ends a hit or opens it; 0 without one."""
        found = _STATUS.findall(self.text, max(0, hit.end - _MOST_QUOTED), hit.end)
        return int(found[-1]) if found else 0

    @property
    def runs(self) -> frozenset[CallerText]:
        """The texts of its caller that the tool runs, looked for once."""
        if self._runs is None:
            self._runs = self.call.runs
        return self._runs

    @property
    def is_callers_crash(self) -> bool:
        """Whether a program that the caller sent crashed, and not the tool that ran it."""
        if self.veto is None or CallerText.PROGRAM not in self.runs:
            return False
        return is_callers_crash(self.text, [readable(program) for program in self.call.sent[:_MOST_SENT]])

    def sentence(self) -> str:
        """The error as a plain sentence to the caller, if it is one and contains no word of a failure."""
        return "" if self.veto is not None or Strength.DOUBT in self.first else plain_sentence(self.text)

    def words(self, hit: Hit) -> str:
        """The words around a hit, from its line, cut to what is good to read."""
        text = self.text
        if len(text) <= _MOST_QUOTED and "\n" not in text:
            # Most errors are quoted whole.
            return text.strip()
        start = max(text.rfind("\n", 0, hit.end - 1) + 1, hit.end - _MOST_QUOTED)
        if start and not text[start - 1].isspace():
            start = max(start, text.find(" ", start, hit.end - 1) + 1)
        line_end = text.find("\n", hit.end)
        return text[start : min(line_end if line_end >= 0 else len(text), hit.end + _MOST_QUOTED)].strip()
