"""What browsers send to the dashboard: queries of lists, names in paths, words to search for, hosts and cookies."""

from urllib.parse import parse_qsl, unquote

from fuzz.draw import Draw
from fuzz.holds import holds
from starlette.datastructures import Headers

from toolvet.server.access.guard import BrowserGuard
from toolvet.server.access.login import _inside as inside
from toolvet.server.access.session import LoginSession, Sessions
from toolvet.server.dashboard.pages.verdicts import read_chosen
from toolvet.server.dashboard.view.formats import queried, read_segment, segment
from toolvet.server.dashboard.view.period import read_period
from toolvet.server.failures import ApiError
from toolvet.store import VerdictFilter
from toolvet.store.database import memory_engine
from toolvet.store.verdict_page import find_page

NOW = 1_795_000_000.0
NAMES = ("kind", "server", "tool", "order", "failed", "escalated", "min_score", "max_score", "q", "period", "signal")
VALUES = {
    "kind": ("call", "answer", "own"),
    "order": ("newest", "oldest", "lowest_score", "slowest", "own"),
    "failed": ("1", "0", "yes", "own"),
    "period": ("1h", "90d", "all", "own"),
    "min_score": ("0", "0.5", "nan", "1e999", "-1", "0x1"),
}
TIMES = (
    *("2026-11-22", "2026-11-22T10:00:00Z", "0001-01-01", "9999-12-31", "0001-01-01T00:00+14:00", "1795000000", "1e9"),
    *("253402300799", "253402300800", "0", "0.5", "\u0662", "\u00b2", "9999-12-31T23:59:59.999999-14:00", "2026-W47"),
)
HOSTS = ("127.0.0.1:8741", "localhost", "evil.example", "[::1]:80", "LOCALHOST.", "127.0.0.1", "a@127.0.0.1", "", ":80")
SITES = ("same-origin", "none", "cross-site", "same-site", "")
_ENGINE = memory_engine()
_SESSIONS = Sessions(b"k" * 32, clock=lambda: NOW)
_SESSION, _COOKIE = _SESSIONS.begin("anna", "reviewer")
_GUARD = BrowserGuard(lambda *_: None, None, "127.0.0.1", ("Dashboard.example",))  # type: ignore[arg-type,return-value]


def check(draw: Draw) -> None:
    """One of five kinds."""
    match draw.byte() % 5:
        case 0:
            _list(draw)
        case 1:
            _search(draw)
        case 2:
            _paths(draw)
        case 3:
            _guarded(draw)
        case _:
            _cookies(draw)


def _list(draw: Draw) -> None:
    query: dict[str, str] = {}
    for name in draw.several(lambda: draw.one(NAMES), 5):
        query[name] = draw.one(VALUES[name]) if name in VALUES and draw.byte() < 220 else _whole(draw.text())
    for name in ("since", "until"):
        if draw.flag():
            query[name] = draw.one(TIMES) if draw.byte() < 200 else _whole(draw.text())
    try:
        chosen = read_chosen(query, NOW)
        period = read_period(query, NOW)
    except ApiError as error:
        holds(error.status == 422 and error.envelope.error, "a query is refused with another status")
        return
    again = read_chosen(dict(parse_qsl(queried("/", chosen.query).partition("?")[2])), NOW)
    holds(again.wanted == chosen.wanted, "a link leads to another list")
    holds(period.since < period.until and period.step > 0, "a period has no length")
    holds(period.words and period.before.until == period.since, "a period has no name")
    period.figures(server="a")
    with _ENGINE.connect() as connection:
        find_page(connection, chosen.wanted, order=chosen.order)


def _whole(text: str) -> str:
    """The text as a server decodes it: without half characters."""
    return text.encode("utf-8", "replace").decode()


def _search(draw: Draw) -> None:
    with _ENGINE.connect() as connection:
        words = draw.text() + draw.one((" ", '"', "*", "'", "")) + draw.text()
        find_page(connection, VerdictFilter(text=_whole(words)))


def _paths(draw: Draw) -> None:
    name = draw.text()
    written = segment(name)
    holds(written and "/" not in written and written.isascii() and written not in (".", ".."), "it is not a segment")
    if not any(0xD800 <= ord(character) < 0xE000 for character in name):
        holds(read_segment(unquote(written)) == name, "a name is another after its path")
    read_segment(name)
    led = inside(draw.one(("/", "//", "/\\", "http://", "/\t/", "")) + name)
    holds(led.startswith("/") and led[1:2] not in ("/", "\\"), "a login leads elsewhere")


def _guarded(draw: Draw) -> None:
    fields = [("host", draw.one(HOSTS) if draw.byte() < 200 else draw.text())]
    fields += [("host", draw.one(HOSTS)) for _ in range(draw.byte() % 8 == 7)]
    if draw.flag():
        fields.append(("origin", draw.one(("http://", "https://", "null", "")) + draw.one(HOSTS)))
    if draw.flag():
        fields += [("sec-fetch-site", draw.one(SITES)), ("sec-fetch-mode", draw.one(("navigate", "cors", "no-cors")))]
    raw = [(name.encode(), value.encode("latin-1", "replace")) for name, value in fields]
    why = _GUARD.denies(Headers(raw=raw))
    holds(why is None or why, "a refusal says nothing")
    if why is None:
        holds("evil.example" not in str(fields), "a foreign host or page is let in")
        site = dict(fields).get("sec-fetch-site")
        navigates = dict(fields).get("sec-fetch-mode") == "navigate"
        holds(site in (None, "same-origin", "none") or navigates, "a foreign page is let in")


def _cookies(draw: Draw) -> None:
    holds(_SESSIONS.read(_COOKIE) == _SESSION, "a session is not known")
    at, piece = draw.byte() % (len(_COOKIE) + 1), draw.piece(6).decode("latin-1")
    forged = _COOKIE[:at] + piece + _COOKIE[at + draw.byte() % 4 :] if draw.byte() < 200 else draw.text()
    found = _SESSIONS.read(forged)
    holds(found is None or forged == _COOKIE, "a forged cookie is taken")
    holds(_SESSIONS.unseal("oidc", _COOKIE, LoginSession) is None, "a cookie serves another purpose")
    offered = draw.text()
    holds(not _SESSIONS.is_form_token(_SESSION, offered), "a made-up token is taken")
