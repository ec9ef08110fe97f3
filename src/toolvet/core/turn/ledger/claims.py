"""The actions that an answer claims to have done.

    answer   Thanks. Your return request for order #W12 has been submitted, and I've added the lamp to your cart.

1. Phrases hit: "has been submitted" (the frame `passive`) and "I've added" (the frame `active`).
2. Its clause before a passive is its subject, "Your return request for order #W12"; what follows an active verb is its
   object, "the lamp to your cart". "Submitted" says little, so the noun "return" decides: the claim is of the family
   `delete`. "Added" may be text work ("I've added a paragraph"), but a cart is a thing that tools change.
3. Conditions, questions and negations in the clause, agents and days after it ("by the airline", "on May 3") claim
   nothing of the assistant's own.

`support` then looks for the calls that did it.
"""

import re
from collections.abc import Callable
from functools import cache, lru_cache, partial, reduce
from typing import TypeAlias

import msgspec

from toolvet.core.matching import Hit
from toolvet.core.schema.naming import words_of
from toolvet.core.turn.ledger.clause import QUESTION_MARKS, WORD, Clause
from toolvet.core.turn.ledger.outcome import NO_VOCABULARY, TurnVocabulary, past_forms
from toolvet.core.turn.ledger.phrases import (
    ADMITS,
    ANYTHING,
    ASKS,
    Claim,
    ClaimGrammar,
    ClaimPhrases,
    Voice,
    phrases,
)
from toolvet.core.turn.ledger.request import NO_REQUEST, PersonRequest
from toolvet.core.turn.ledger.tokens import QUOTATION, spoken

_MOST_CLAIMS = 200
_MOST_TRIED = 1_000
_LONGEST_BRIEF = 300
_AND = frozenset({"and", "then", "und", "dann", "et", "puis", "y", "luego", "e", "depois", "poi", "en", "i", "и"})
_QUOTES = '"\u201c\u00ab\u201e\u300c'
_DAY = re.compile(r" \w{2} (?:\d|[A-Z][a-z]{2,8} \d)")
_QUOTE_ENDS = tuple("'\"\u201d\u00bb")
_NAMED = re.compile(r"\s*(?:[A-Z0-9]|[\w.-]*[@/])")
_ID = re.compile(r"#?(?=[A-Za-z-]{0,20}\d)[A-Za-z0-9][A-Za-z0-9_-]{2,39}\b")
_NAME_AS_CODE = re.compile(r"`([\w./~@#-]{1,120})`")
_MOST_NAMED_WORDS = 4
_AMOUNT = re.compile(r" of [$€£]?[\d.,]{1,12}\s*$")
_NEXT_WORD = re.compile(r"\s([A-Za-z'-]{1,40})")
# "A 5-piece set" has no identifier.
_NUMERAL = re.compile(r"\d{1,3}-[a-z]{1,40}")
_FENCE = "```"
# A path in the place of an object ("created /scripts/start.sh"); code blocks may show what only a relative one names.
_RELATIVE = re.compile(r"(?:[a-z]{1,12} ){0,3}[\w-]{1,60}(?:/[\w.-]{1,60}){1,12}(?![\w/])")
_ABSOLUTE = re.compile(r"(?:[a-z]{1,12} ){0,3}~?(?:/[\w.-]{1,60}){2,12}(?![\w/])")
_AT_PATH = re.compile(
    r" (?:successfully )?(?:to|at|in|into|under|as) (?:the (?:file|directory|folder) )?"
    r"~?(?:/[\w.-]{1,60}){2,12}(?![\w/])"
)
_QUANTITIES = frozenset({"all", "both", "each", "one", "some", "two", "three", "four", "five"})
# "… has been successfully cancelled": whatever it is, it is what the person asked for.
_ON_REQUEST = frozenset({"send", "delete", "update", "exchange", "book", "pay"})
_PLACED = frozenset({"create", "update", "save", "book"})
_NO_TEXT_WORK = frozenset({"send", "book", "pay"})


_KnownVerbs: TypeAlias = dict[tuple[str, str], tuple[str, str, bool]]
"""The claims of one answer by phrase and words: the verb, its family, and whether it may be text work."""


class MadeClaim(msgspec.Struct, frozen=True):
    """A claim that an answer makes, and what it is about.

    `family` is the kind of action, `verb` the word that claims it. `things` are the nouns of its object in the
    singular, `ids` the identifiers in its clause. `passive` and `text_work` are as in `Claim`; `emphatic` is whether
    the answer says that it had its effect ("I have successfully created …") and names no text.
    """

    family: str
    hit: Hit
    verb: str = ""
    things: tuple[str, ...] = ()
    ids: frozenset[str] = frozenset()
    passive: bool = False
    text_work: bool = False
    emphatic: bool = False
    asked: bool = False
    """Whether the request asks for it: then no state is meant that came about without the calls of the turn."""
    echo: bool = False
    """Whether it is a claim only because the request asks for it."""


class AnswerClaims(msgspec.Struct, frozen=True):
    """The statements of an answer about itself: its claims of action, whether it reports a failure or asks back."""

    claims: list[MadeClaim]
    admits: bool
    asks: bool


def said(
    text: str,
    known: ClaimPhrases | None = None,
    words: TurnVocabulary = NO_VOCABULARY,
    moot: frozenset[str] = frozenset(),
    request: PersonRequest = NO_REQUEST,
) -> AnswerClaims:
    """Return the statements of `text` about itself.

    `known` are the claims to look for, by default all of toolvet's. `words` are the words learned from the calls of the
    turn. Claims of the families `moot` are left out. An action of the `request` counts as claimed in any form.
    """
    prose = _with_names(text, spoken(text), request).replace("**", "\u200b\u200b").replace("__", "\u200b\u200b")
    known = known or phrases()
    claims: list[MadeClaim] = []
    admits = False
    tried = 0
    asks = any(mark in prose for mark in QUESTION_MARKS)
    verbs: _KnownVerbs = {}
    hits = known.scan(prose, _MOST_TRIED)
    asking = any(hit.id.startswith(ASKS) for hit in hits)
    asks = asks or asking

    # An answer that asks back is not the end: it repeats the request as a plan.
    is_plan = cache(partial(_asks_back, prose, known, asking)) if asks else _never
    for hit in hits:
        claim = known.claims.get(hit.id)
        if claim is None:
            admits |= hit.id.startswith(ADMITS)
        elif claim.family not in moot and len(claims) < _MOST_CLAIMS and tried < _MOST_TRIED:
            tried += 1
            grammar = known.grammar[hit.id.partition(":")[0]]
            reading = _ClaimReading(prose, hit, grammar, words, verbs, request=request, is_plan=is_plan)
            made = reading.made(claim, shows_files=_FENCE in text)
            if made is not None:
                claims.append(made)
    return AnswerClaims(claims, admits, asks)


def _asks_back(prose: str, known: ClaimPhrases, asking: bool) -> bool:  # noqa: FBT001 - bound by `partial`
    grammars = known.grammar.values()
    # No pattern reaches over the end of a line.
    for words in prose.replace("\u2019", "'").split("\n"):
        if asking or any(mark in words for mark in QUESTION_MARKS):
            courtesies = (grammar.courtesies for grammar in grammars if grammar.file.courtesies)
            left = reduce(lambda text, pattern: pattern.sub(" ", text), courtesies, words)
            if any(mark in left for mark in QUESTION_MARKS) or any(
                grammar.asks.search(left) is not None for grammar in grammars if grammar.file.asks
            ):
                return True
    return False


def _never() -> bool:
    return False


def _with_names(text: str, prose: str, request: PersonRequest) -> str:
    """`prose` with the names that are written as code or, of the request, in quotation marks."""
    names = list(_NAME_AS_CODE.finditer(text)) if "`" in text else []
    if any(mark in text for mark in _QUOTES):
        names += [match for match in QUOTATION.finditer(text) if match[0][1:-1].lower() in request.lower]
    parts: list[str] = []
    end = 0
    for match in sorted(names, key=re.Match[str].start):
        if match.start() >= end and not prose[match.start() : match.end()].strip():
            parts += (prose[end : match.start()], "\u200b", match[0][1:-1], "\u200b")
            end = match.end()
    return "".join((*parts, prose[end:]))


class _ClaimReading:
    """One hit in its clause."""

    def __init__(
        self,
        prose: str,
        hit: Hit,
        grammar: ClaimGrammar,
        words: TurnVocabulary,
        verbs: _KnownVerbs,
        *,
        request: PersonRequest,
        is_plan: Callable[[], bool],
    ) -> None:
        self._hit = hit
        self._grammar = grammar
        self._words = words
        self._verbs = verbs
        self._request = request
        self._is_plan = is_plan
        # A text that an answer was asked for takes more than a line.
        self._is_brief = len(prose) <= _LONGEST_BRIEF and "\n" not in prose.strip()
        self._shows_files = False
        self._clause = Clause(prose, hit, grammar)

    def made(self, claim: Claim, *, shows_files: bool = False) -> MadeClaim | None:
        self._shows_files = shows_files
        clause = self._clause
        verb, family, is_text = "", claim.family, False
        if claim.frame:
            # "I've found" is found again and again.
            key = (self._hit.id, clause.matched)
            if key not in self._verbs:
                self._verbs[key] = self._verb(claim.frame)
            verb, family, is_text = self._verbs[key]
            # Most hits of a frame have no verb that claims anything, and need no clause.
            if not verb:
                return None
        if claim.echo and not self._request.wants(family, self._grammar):
            return None
        if clause.is_taken_back():
            is_claim = clause.is_hedged() and not clause.is_taken_back(hedged=True)
            return self._echo(verb, family, claim) if is_claim else None
        rest = clause.rest()
        if claim.echo:
            return self._echo(verb, family, claim)
        if claim.frame is None:
            return self._of_request(
                MadeClaim(
                    claim.family,
                    self._hit,
                    things=self._things(rest),
                    ids=ids_in(f"{clause.before} {clause.matched} {rest}"),
                    passive=claim.passive,
                    text_work=claim.text_work,
                )
            )
        if self._grammar.rest_unless.search(f"{clause.matched}{rest}"):
            return None
        made = self._framed(claim.frame, rest, verb, family, is_text=is_text)
        if made is not None and not made.text_work:
            return self._of_request(made)
        # "I completed the checks you asked for": whatever it was, it may be in the answer.
        if (made is not None and not self._is_brief) or (is_text and family == ANYTHING):
            return made
        return self._echo(verb, family, claim) or made

    def _of_request(self, made: MadeClaim) -> MadeClaim:
        clause = self._clause
        request = self._request
        asked = (
            request.wants(made.family, self._grammar)
            and request.names(f"{clause.before} {clause.matched} {clause.rest()}", self._grammar)
            and not self._is_plan()
        )
        return msgspec.structs.replace(made, asked=True) if asked else made

    def _echo(self, verb: str, family: str, claim: Claim) -> MadeClaim | None:
        """Return a claim of something that the request asks for, in any form: "and the invite sent to Ann"."""
        clause, grammar, request = self._clause, self._grammar, self._request
        if not request.wants(family, grammar) or self._is_plan():
            return None
        before, rest = grammar.hedges.sub("", clause.before), clause.rest()
        if rest[:1] in _QUOTE_ENDS or grammar.pending.search(before):
            return None
        if not claim.echo and grammar.adjectival.search(before):
            return None
        if grammar.rest_unless.search(f"{before}{clause.matched}{rest}"):
            return None
        named = f"{before} {clause.matched} {rest}"
        # In a series ("added the note, moved the deal"), the object of a participle follows it.
        series = before.rstrip().endswith(",")
        words = [] if series else [word.lower() for word in WORD.findall(before)]
        is_it = all(grammar.openers.fullmatch(word) or grammar.pronouns.fullmatch(word) for word in words)
        if not claim.echo and not self._says_done(words, rest, verb, is_it=is_it):
            return None
        if not request.names(named, grammar) and not (words and (is_it or words[-1] in _AND)):
            return None
        if not claim.echo and self._is_text(before if words and words[-1] not in _AND else rest, tools=True):
            return None
        return MadeClaim(
            family,
            Hit(self._hit.id, clause.begin, self._hit.end),
            verb=verb,
            things=self._things(named),
            ids=ids_in(named),
            passive=True,
            asked=True,
            echo=True,
        )

    def _says_done(self, words: list[str], rest: str, verb: str, *, is_it: bool) -> bool:
        """Whether a verb is a participle of the request, and neither another's action nor an adjective."""
        grammar = self._grammar
        follows = _NEXT_WORD.match(rest)
        if not words or words[-1] in _AND:
            # "Booked Ann Lee" and "sent the invite", but not "Requested changes", "Set the address", "Booked on May 3".
            if not words and (
                verb in past_forms(verb)
                or grammar.states.fullmatch(verb)
                or (follows is not None and grammar.is_cut(follows[1]))
            ):
                return False
            return not rest.strip() or grammar.objects.match(rest) is not None or _NAMED.match(rest) is not None
        if is_it or grammar.pronouns.fullmatch(words[-1]):
            return verb not in past_forms(verb) or words[-1] != "all"
        # "The table, booked on May 3" only identifies the table.
        return follows is None or (grammar.is_cut(follows[1]) and not _DAY.match(rest))

    def _framed(self, frame: Voice, rest: str, verb: str, family: str, *, is_text: bool) -> MadeClaim | None:
        clause = self._clause
        if frame is Voice.ACTIVE:
            return self._active(rest, verb, family, is_text=is_text)
        if frame is Voice.SAID:
            return self._active(self._up_to(verb), verb, family, is_text=is_text)
        if frame is not Voice.BARE:
            named = self._up_to(verb) if frame is Voice.WHOLE else clause.before
            return self._passive(frame, named, verb, family, is_text=is_text)
        if not clause.opens or (clause.is_label() and not self._grammar.emphatic.search(f"{clause.matched}{rest}")):
            return None
        if all(map(self._grammar.openers.fullmatch, WORD.findall(clause.before))):
            return self._elided(rest, verb, family, is_text=is_text)
        return self._noun(rest, verb, family)

    def _up_to(self, verb: str) -> str:
        matched = self._clause.matched
        return matched[: matched.lower().rfind(verb)]

    def _active(self, named: str, verb: str, family: str, *, is_text: bool) -> MadeClaim:
        # Put into a thing that tools change: "the articles to your file".
        put = family in ("create", "save") and any(
            self._grammar.things.fullmatch(phrase[-1])
            or (family == "save" and self._grammar.files.fullmatch(phrase[-1]))
            for phrase in self._phrases(named)[1:2]
        )
        text_work = is_text and not (put or self._is_file(named) or self._is_thing(named))
        if family not in _NO_TEXT_WORK and self._is_text(named) and not put:
            text_work = True
        return self._claim(named, verb, family, text_work=text_work)

    def _passive(self, frame: Voice, named: str, verb: str, family: str, *, is_text: bool) -> MadeClaim | None:
        grammar = self._grammar
        own = grammar.subjects.search(named) is not None
        nominal, thing = bool(self._nominals(named)), self._is_thing(named) or self._is_file(named)
        if not WORD.search(named) or grammar.no_subjects.search(named):
            return None
        if not (nominal or own or thing):
            if frame is not Voice.PASSIVE:
                return None
            on_request = family in _ON_REQUEST and not is_text and grammar.emphatic.search(self._clause.matched)
            if not on_request and not self._is_placed(family):
                return None
        if frame is Voice.STATE:
            follows = _NEXT_WORD.match(self._clause.rest())
            if follows is not None and not grammar.is_cut(follows[1]):
                # The participle belongs to what follows: "are confirmed valid options".
                return None
            head = " ".join(word for phrase in self._phrases(named)[:1] for word in phrase)
            is_final = grammar.definite.search(named) is not None and not self._clause.rest().strip()
            if own or ids_in(named):
                is_action = bool(self._nominals(head)) or self._is_thing(head.rpartition(" ")[2])
            else:
                # "Returns are refunded" is a rule; "the exchange is submitted." is not.
                is_action = is_final and bool(self._nominals(head))
            if not is_action:
                return None
        placed = not thing and self._is_placed(family)
        text_work = is_text and not (thing or placed) and (not own or self._is_text(named))
        return self._claim(named, verb, family, text_work=text_work, passive=True, begin=frame is not Voice.WHOLE)

    def _is_placed(self, family: str) -> bool:
        """Whether something, whatever it is, was put into a thing that tools change: "as a new lead in the CRM"."""
        rest = self._clause.rest()
        if family in ("save", "create") and _AT_PATH.match(rest):
            return True
        word = WORD.match(rest.lstrip())
        if family not in _PLACED or word is None or not self._grammar.is_cut(word[0]):
            return False
        return any(self._is_thing_word(phrase[-1]) for phrase in self._phrases(rest)[:2])

    def _elided(self, rest: str, verb: str, family: str, *, is_text: bool) -> MadeClaim | None:
        """A verb that opens its sentence, with its object: "Cancelled flight HAT7"."""
        grammar = self._grammar
        word = WORD.search(rest)
        if not grammar.objects.match(rest) or word is None or grammar.states.fullmatch(verb):
            return None
        if grammar.is_cut(word[0]) and not grammar.openers.fullmatch(word[0]):
            # An adjective: "Booked on Monday".
            return None
        text_work = self._active(rest, verb, family, is_text=is_text).text_work
        return None if text_work else self._claim(rest, verb, family, passive=True)

    def _noun(self, rest: str, verb: str, family: str) -> MadeClaim | None:
        """A noun and its participle: "Return submitted."."""
        grammar = self._grammar
        words = [
            word
            for word in WORD.findall(_AMOUNT.sub("", self._clause.before).lower())
            if not any(each.fullmatch(word) for each in (grammar.definite, grammar.subjects, grammar.openers))
        ]
        if not grammar.noun_rests.fullmatch(rest) or not grammar.closings.fullmatch(verb):
            return None
        cut = next((place for place, word in enumerate(words) if grammar.is_cut(word)), len(words))
        if cut < len(words) and not grammar.emphatic.search(f"{self._clause.matched}{rest}"):
            return None
        words = words[:cut]
        if not 0 < len(words) <= _MOST_NAMED_WORDS:
            return None
        named = " ".join(words)
        if any(map(grammar.no_nouns.fullmatch, words)) or grammar.no_subjects.search(named):
            return None
        if not (self._nominals(named) or self._is_thing(words[-1])):
            return None
        return self._claim(named, verb, family, passive=True, begin=True)

    def _claim(
        self, named: str, verb: str, family: str, *, text_work: bool = False, passive: bool = False, begin: bool = False
    ) -> MadeClaim:
        if family == ANYTHING:
            family = self._nominals(named) or family
        clause = self._clause
        # The quotation begins with the subject.
        hit = Hit(self._hit.id, clause.begin, self._hit.end) if begin else self._hit
        return MadeClaim(
            family,
            hit,
            verb=verb,
            things=self._things(named),
            ids=ids_in(f"{clause.before} {clause.matched} {clause.rest()}"),
            passive=passive,
            text_work=text_work,
            emphatic=family != ANYTHING
            and (self._grammar.emphatic.search(self._clause.matched) is not None and not self._is_text(named)),
        )

    def _verb(self, frame: Voice) -> tuple[str, str, bool]:
        matched = self._clause.matched
        known = _known_verb(self._grammar, matched, may_be_state=frame in (Voice.STATE, Voice.BARE))
        if known is not None:
            return known
        words = WORD.findall(matched.lower())
        for word in reversed(words):
            if word in self._words.verbs:
                return word, ANYTHING, False
        # "I was able to update": the verb of the match is an infinitive.
        for past in sorted(past_forms(words[-1])) if words else ():
            for verbs in (self._grammar.verbs, self._grammar.text_verbs):
                match = verbs.fullmatch(past)
                if match is not None:
                    return past, match.lastgroup or ANYTHING, verbs is self._grammar.text_verbs
            if past in self._words.verbs:
                return past, ANYTHING, False
        return "", "", False

    def _nominals(self, named: str) -> str:
        families = [match.lastgroup or ANYTHING for match in self._grammar.nominals.finditer(named)]
        # The head of a noun phrase is its last word; that of "return request" decides nothing.
        return next((family for family in reversed(families) if family != ANYTHING), families[0] if families else "")

    def _things(self, named: str) -> tuple[str, ...]:
        return tuple(word for phrase in self._phrases(named) if phrase[-1].isalpha() for word in words_of(phrase[-1]))

    def _phrases(self, named: str) -> list[list[str]]:
        """The words of a noun phrase and of those that hang on it, each up to the preposition that ends it."""
        found: list[list[str]] = [[]]
        for match in WORD.finditer(named):
            if self._grammar.is_cut(match[0]):
                found.append([])
            else:
                found[-1].append(match[0].lower())
        return [phrase for phrase in found[:3] if phrase]

    def _is_thing(self, named: str) -> bool:
        phrases_of = self._phrases(named)
        if len(phrases_of) > 1 and len(phrases_of[0]) == 1 and phrases_of[0][0] in _QUANTITIES:
            # "All of Raj's leads": the leads.
            del phrases_of[0]
        if not phrases_of or self._heads_text(phrases_of[0]):
            return False
        if self._nominals(named):
            return True
        words = [*phrases_of[0], *(phrase[-1] for phrase in phrases_of[1:2])]
        if len(phrases_of[0]) > 1 and self._grammar.things.fullmatch(" ".join(phrases_of[0][-2:])):
            return True
        return any(self._is_thing_word(word) for word in words) or any(
            _NUMERAL.fullmatch(each) is None for each in ids_in(" ".join(phrases_of[0]))
        )

    def _is_file(self, named: str) -> bool:
        named = named.strip()
        if _ABSOLUTE.match(named) is not None or _AT_PATH.search(named) is not None:
            return True
        return not self._shows_files and _RELATIVE.match(named) is not None

    def _is_thing_word(self, word: str) -> bool:
        things, singular = self._grammar.things, words_of(word)
        return not self._grammar.texts.fullmatch(word) and (
            things.fullmatch(word) is not None
            or any(things.fullmatch(each) for each in singular)
            or not self._words.things.isdisjoint(singular)
        )

    def _is_text(self, named: str, *, tools: bool = False) -> bool:
        """Whether the head of `named` is a text; with `tools`, a note is none if a tool of the turn makes notes."""
        return any(
            self._heads_text(phrase) and not (tools and not self._words.things.isdisjoint(words_of(phrase[-1])))
            for phrase in self._phrases(named)[:1]
        )

    def _heads_text(self, phrase: list[str]) -> bool:
        """Whether the last word of a noun phrase is a text: "method" is, a "payment method" is not."""
        return (
            self._grammar.texts.fullmatch(phrase[-1]) is not None
            and self._grammar.things.fullmatch(" ".join(phrase[-2:])) is None
        )


@lru_cache(maxsize=4096)
def _known_verb(grammar: ClaimGrammar, matched: str, *, may_be_state: bool) -> tuple[str, str, bool] | None:
    """The last verb of the language in a match, its family, and whether it may be text work."""
    last: re.Match[str] | None = None
    for verbs in (grammar.verbs, grammar.text_verbs, *((grammar.states,) if may_be_state else ())):
        for match in verbs.finditer(matched):
            if last is None or match.end() > last.end():
                last = match
    return None if last is None else (last[0].lower(), last.lastgroup or ANYTHING, last.re is grammar.text_verbs)


def ids_in(text: str) -> frozenset[str]:
    """The identifiers in a text: words with a digit, in lower case."""
    return frozenset(match[0].lstrip("#").lower() for match in _ID.finditer(text))
