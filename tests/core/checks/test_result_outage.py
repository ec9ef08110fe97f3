"""Things that an error reports as missing around the server, in the words of real programs."""

import pytest

from toolvet.core.checks.result import Outage, OutageKind, outage_of

HOST, PROGRAM, FOLDER = OutageKind.HOST, OutageKind.PROGRAM, OutageKind.FOLDER
VARIABLE, CREDENTIAL = OutageKind.VARIABLE, OutageKind.CREDENTIAL
OUTAGES = [
    ("connect ECONNREFUSED 127.0.0.1:5432", HOST, "127.0.0.1:5432"),
    ("Error: connect ECONNREFUSED ::1:6379", HOST, ""),
    ("getaddrinfo ENOTFOUND api.example.com", HOST, "api.example.com"),
    ("request to https://x failed, reason: getaddrinfo EAI_AGAIN api.firecrawl.dev", HOST, "api.firecrawl.dev"),
    ("[Errno -2] Name or service not known", HOST, ""),
    ("[Errno -3] Temporary failure in name resolution", HOST, ""),
    ("Error 111 connecting to localhost:6379. Connection refused.", HOST, "localhost:6379"),
    ("dial tcp 10.0.0.1:443: connect: connection refused", HOST, "10.0.0.1:443"),
    ("dial tcp: lookup api.example.com: no such host", HOST, "api.example.com"),
    ("dial tcp: lookup api.example.com on 127.0.0.11:53: no such host", HOST, "api.example.com"),
    ("HTTPSConnectionPool(host='api.x.org', port=443): Max retries exceeded with url: /v1", HOST, "api.x.org"),
    ("curl: (6) Could not resolve host: api.example.com", HOST, "api.example.com"),
    ("Failed to resolve 'api.example.com' ([Errno -3] Temporary failure)", HOST, "api.example.com"),
    ("net::ERR_NAME_NOT_RESOLVED at https://nope.example/a", HOST, "nope.example"),
    ("Could not connect to http://localhost:8080/api", HOST, "localhost:8080"),
    ("TypeError: fetch failed", HOST, ""),
    ("All connection attempts failed", HOST, ""),
    ("EROFS: read-only file system, mkdir '/opt/shop/data'", FOLDER, "/opt/shop/data"),
    ("ENOENT: no such file or directory, mkdir '/opt/shop/data/'", FOLDER, "/opt/shop/data"),
    ("Error: EACCES: permission denied, open '/var/lib/shop/a.db'", FOLDER, "/var/lib/shop/a.db"),
    ("ENOSPC: no space left on device, write", FOLDER, ""),
    ("[Errno 30] Read-only file system: '/opt/shop/cache'", FOLDER, "/opt/shop/cache"),
    ("OSError: [Errno 28] No space left on device", FOLDER, ""),
    ("mkdir /data/shop: permission denied", FOLDER, "/data/shop"),
    ("Read-only file system (os error 30)", FOLDER, ""),
    ("spawn uv ENOENT", PROGRAM, "uv"),
    ("Failed to launch the browser process! spawn /usr/bin/chrome ENOENT", PROGRAM, "chrome"),
    ("Error: Command failed with exit code 127\n/bin/sh: 1: rg: not found\n", PROGRAM, "rg"),
    ("bash: foo: command not found", PROGRAM, "foo"),
    ("No pandoc was found: either install pandoc and add it to your PATH", PROGRAM, "pandoc"),
    ("zsh: command not found: pandoc", PROGRAM, "pandoc"),
    ("'git' is not recognized as an internal or external command", PROGRAM, "git"),
    ('exec: "docker": executable file not found in $PATH', PROGRAM, "docker"),
    ("ffmpeg is not installed", PROGRAM, "ffmpeg"),
    ("TAVILY_API_KEY is not set", VARIABLE, "TAVILY_API_KEY"),
    ("X_API_KEY environment variable is required", VARIABLE, "X_API_KEY"),
    ("Missing environment variable: GITHUB_TOKEN", VARIABLE, "GITHUB_TOKEN"),
    ("Set KANBAN_PROJECT_DIR to a folder, or call set_current_project first", VARIABLE, "KANBAN_PROJECT_DIR"),
    ("Please set the OPENAI_API_KEY environment variable", VARIABLE, "OPENAI_API_KEY"),
    ("API key not set", CREDENTIAL, "API key"),
    ("No API key was provided", CREDENTIAL, "API key"),
    ("Unable to locate credentials. You can configure credentials by running aws configure", CREDENTIAL, "credentials"),
]
OTHERS = [
    "",
    "Error: boom",
    "ENOENT: no such file or directory, open 'a.txt'",
    "[Errno 2] No such file or directory: '/data/a.txt'",
    "EACCES: permission denied, open 'notes/a.txt'",
    "Permission denied: you may not read order 7",
    "User not found",
    "City not found: Atlantis",
    "notes.txt: not found in the archive",
    "INVALID_ARGUMENT: limit must be between 1 and 50",
    'Could not resolve country ""',
    "The connection between the two words is missing",
    "Connected to db.example.com",
    "The station was set up in 1999",
    "'NoneType' object has no attribute 'x'",
    "NOT_FOUND",
    "FIELD_REQUIRED missing city",
    "INVALID_INPUT: a city is required",
    "ORDER_ID found in 3 lines",
]


@pytest.mark.parametrize(("text", "kind", "subject"), OUTAGES, ids=[text[:40] for text, _, _ in OUTAGES])
def test_an_outage_is_named(text: str, kind: OutageKind, subject: str) -> None:
    assert outage_of(text) == Outage(kind, subject)


@pytest.mark.parametrize("text", OTHERS)
def test_an_error_of_another_cause_is_no_outage(text: str) -> None:
    assert outage_of(text) is None


def test_only_the_beginning_of_a_text_is_read() -> None:
    assert outage_of("connect to " * 400 + "ECONNREFUSED 127.0.0.1:5432") is None


def test_every_kind_has_a_state() -> None:
    assert {kind.state.value for kind in OutageKind} == {
        "unreachable",
        "unavailable",
        "unauthorized",
        "misconfigured",
    }
