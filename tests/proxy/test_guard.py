"""Which requests a listening proxy lets in: the host they name, the page they come from, the token they carry."""

import pytest

from toolvet.errors import UsageError
from toolvet.proxy.http.message import RequestHead
from toolvet.proxy.http.request_filter import Listen, RequestFilter, read_listen

TOKEN = "0123456789abcdef"
HERE = Listen("127.0.0.1", 8080)
EVERYWHERE = Listen("0.0.0.0", 8080)  # noqa: S104 - Nothing listens there.


def status(guard: RequestFilter, *fields: tuple[bytes, bytes]) -> int | None:
    """Why a request with these fields is denied; None where it may pass."""
    denied = guard.denies(RequestHead(b"POST", b"/mcp", list(fields)))
    return None if denied is None else denied.status


@pytest.mark.parametrize(
    ("text", "listen"),
    [
        ("8080", Listen("127.0.0.1", 8080)),
        (":8080", Listen("127.0.0.1", 8080)),
        ("0", Listen("127.0.0.1", 0)),
        ("65535", Listen("127.0.0.1", 65535)),
        ("localhost:1", Listen("localhost", 1)),
        ("[::1]:8080", Listen("::1", 8080)),
        ("::1:8080", Listen("::1", 8080)),
        ("0.0.0.0:80", Listen("0.0.0.0", 80)),  # noqa: S104 - Nothing listens there.
    ],
)
def test_an_address_to_listen_on_is_read(text: str, listen: Listen) -> None:
    assert read_listen(text) == listen


@pytest.mark.parametrize("text", ["", "localhost", "localhost:", "1:x", "65536", "-1", "+1", "٣", "²", "80 "])
def test_an_address_without_a_port_that_can_be_listened_on_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="the port must be a number up to 65535"):
        read_listen(text)


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        *((host, True) for host in ("127.0.0.1", "127.9.9.9", "::1", "localhost", "app.localhost")),
        *((host, False) for host in ("0.0.0.0", "::", "10.0.0.1", "example.com", "localhost.evil", "xlocalhost")),  # noqa: S104
    ],
)
def test_an_address_beyond_this_machine_needs_a_token(host: str, loopback: bool) -> None:  # noqa: FBT001 - a column of the table.
    assert Listen(host, 80).is_loopback is loopback
    RequestFilter(Listen(host, 80), TOKEN)
    if loopback:
        RequestFilter(Listen(host, 80))
    else:
        for nothing in (None, ""):
            with pytest.raises(UsageError, match="needs a --token"):
                RequestFilter(Listen(host, 80), nothing)


@pytest.mark.parametrize("token", ["", TOKEN[:15], f"{TOKEN}é", f"{TOKEN}\n", f"{TOKEN}\x7f"])
def test_a_weak_token_is_refused(token: str) -> None:
    with pytest.raises(UsageError, match="at least 16 characters, all of them printable ASCII"):
        RequestFilter(HERE, token)


@pytest.mark.parametrize(
    ("host", "here", "everywhere"),
    [
        (b"127.0.0.1:8080", True, True),
        (b"127.0.0.1", True, True),
        (b"[::1]:8080", True, True),
        (b"localhost", True, True),
        (b"LocalHost:1", True, True),
        (b"app.localhost", True, True),
        (b"tools.example", True, True),
        (b"TOOLS.Example:443", True, True),
        # DNS rebinding needs a name; an address of another machine is only reached from outside.
        (b"10.0.0.7:8080", False, True),
        (b"[fe80::7]", False, True),
        (b"evil.example", False, False),
        (b"tools.example.evil", False, False),
        (b"localhost.evil", False, False),
        (b"xlocalhost", False, False),
        (b"127.0.0.1.evil", False, False),
        (b"", False, False),
        (b"127.0.0.1:port", False, False),
        (b"[::1", False, False),
        (b"user@127.0.0.1", False, False),
        *((b"127.0.0.1" + mark, False, False) for mark in (b"/", b"?", b"#", b"/x")),
    ],
)
def test_only_names_of_this_proxy_are_served(host: bytes, here: bool, everywhere: bool) -> None:  # noqa: FBT001 - columns of the table.
    token = (b"x-toolvet-token", TOKEN.encode())
    for listen, served in ((HERE, here), (EVERYWHERE, everywhere)):
        guard = RequestFilter(listen, TOKEN, hosts=["Tools.Example"])
        # A second time, because decisions are remembered.
        assert [status(guard, (b"Host", host), token) for _ in range(2)] == [None if served else 421] * 2


def test_the_name_that_it_listens_on_is_its_own_and_one_host_is_enough() -> None:
    guard = RequestFilter(Listen("MyMachine", 80), TOKEN)
    own = (b"host", b"mymachine"), (b"x-toolvet-token", TOKEN.encode())
    assert status(guard, *own) is None
    assert status(guard, (b"host", b"mymachine"), *own) == 421
    assert status(guard, *own[1:]) == 421


@pytest.mark.parametrize(
    ("origin", "welcome"),
    [
        (b"http://localhost:3000", True),
        (b"https://app.localhost", True),
        (b"http://127.0.0.1", True),
        (b"http://[::1]:5", True),
        (b"https://tools.example", True),
        (b"http://TOOLS.example:81", True),
        (b"https://app.example", True),
        (b"HTTPS://App.Example", True),
        (b"app://desktop", True),
        (b"http://app.example", False),
        (b"https://app.example.evil", False),
        (b"https://app.example:444", False),
        (b"https://evil.example", False),
        (b"app://other", False),
        (b"app://localhost", False),
        (b"ftp://127.0.0.1", False),
        (b"http://", False),
        (b"http://[::1", False),
        (b"null", False),
        (b"", False),
    ],
)
def test_only_pages_of_this_machine_and_those_admitted_may_use_it(origin: bytes, welcome: bool) -> None:  # noqa: FBT001 - a column of the table.
    guard = RequestFilter(HERE, hosts=["tools.example"], origins=["https://App.example/", "app://desktop"])
    own = (b"host", b"localhost")
    assert [status(guard, own, (b"Origin", origin)) for _ in range(2)] == [None if welcome else 403] * 2
    assert status(guard, own, (b"origin", origin), (b"origin", origin)) == 403


@pytest.mark.parametrize(
    ("fields", "passes"),
    [
        ([(b"X-Toolvet-Token", b"0123456789abcdef")], True),
        ([(b"Authorization", b"Bearer 0123456789abcdef")], True),
        ([(b"authorization", b"bEARER  0123456789abcdef ")], True),
        ([(b"Proxy-Authorization", b"Bearer 0123456789abcdef")], True),
        ([(b"Proxy-Authorization", b"Bearer other"), (b"Authorization", b"Bearer 0123456789abcdef")], True),
        ([(b"Proxy-Authorization", b"Bearer 0123456789abcdef"), (b"Authorization", b"Bearer other")], True),
        ([], False),
        ([(b"X-Toolvet-Token", b"")], False),
        ([(b"X-Toolvet-Token", b"0123456789abcde")], False),
        ([(b"X-Toolvet-Token", b"0123456789abcdeF")], False),
        ([(b"X-Toolvet-Token", b"Bearer 0123456789abcdef")], False),
        # The proxy's own field decides if it is given.
        ([(b"X-Toolvet-Token", b"other"), (b"Authorization", b"Bearer 0123456789abcdef")], False),
        ([(b"Authorization", b"0123456789abcdef")], False),
        ([(b"Authorization", b"Basic 0123456789abcdef")], False),
        ([(b"Authorization", b"Bearer")], False),
    ],
)
def test_a_request_without_the_token_is_denied(fields: list[tuple[bytes, bytes]], passes: bool) -> None:  # noqa: FBT001 - a column of the table.
    own = (b"host", b"localhost")
    assert status(RequestFilter(HERE, TOKEN), own, *fields) == (None if passes else 401)
    assert status(RequestFilter(HERE), own, *fields) is None


def test_the_proxys_token_is_told_from_the_servers_credentials() -> None:
    guard = RequestFilter(HERE, TOKEN)
    assert guard.is_token(b"Authorization", b"Bearer 0123456789abcdef")
    assert not guard.is_token(b"Authorization", b"Bearer of another")
    assert not guard.is_token(b"Authorization", b"0123456789abcdef")
    assert not guard.is_token(b"X-Other", b"Bearer 0123456789abcdef")
    assert not RequestFilter(HERE).is_token(b"Authorization", b"Bearer 0123456789abcdef")


def test_the_memory_of_decisions_is_bounded() -> None:
    guard = RequestFilter(HERE)
    sizes = []
    for number in range(600):
        assert status(guard, (b"host", b"h%d.evil" % number)) == 421
        sizes.append(len(guard._known_hosts))
    assert max(sizes) == 256
