"""A list of an MCP registry → targets, without a look into our own environment."""

import json
from pathlib import Path
from typing import Any

import pytest

from toolvet.errors import ConfigError
from toolvet.mcp.transport import HttpTarget, StdioTarget, Target, read_server_list

_OFFICIAL = "io.modelcontextprotocol.registry/official"


def npm(**more: Any) -> dict[str, Any]:
    return {
        "registryType": "npm",
        "identifier": "@me/weather",
        "version": "1.2.0",
        "transport": {"type": "stdio"},
        **more,
    }


def pypi(**more: Any) -> dict[str, Any]:
    return {
        "registryType": "pypi",
        "identifier": "weather-mcp",
        "version": "0.5.0",
        "transport": {"type": "stdio"},
        **more,
    }


def read(tmp_path: Path, *servers: Any, **given: str) -> tuple[dict[str, Target], dict[str, str]]:
    file = tmp_path / "registry.json"
    file.write_text(json.dumps({"servers": servers, "metadata": {"count": len(servers)}}))
    found = read_server_list(file, given)
    return {each.name: each.target for each in found.targets}, dict(found.left_out)


def server(name: str = "io.github.me/weather", **more: Any) -> dict[str, Any]:
    return {"server": {"name": name, "description": "Weather", "version": "1.2.0", **more}}


@pytest.mark.parametrize(
    ("parts", "target"),
    [
        ({"packages": [npm()]}, StdioTarget("npx", ("-y", "@me/weather@1.2.0"))),
        ({"packages": [pypi()]}, StdioTarget("uvx", ("weather-mcp@0.5.0",))),
        (
            {
                "packages": [
                    npm(
                        runtimeArguments=[{"type": "named", "name": "--registry", "value": "https://npm.example"}],
                        packageArguments=[
                            {"type": "positional", "value": "serve"},
                            {"type": "named", "name": "--units", "default": "metric"},
                            {"type": "named", "name": "--verbose"},
                            {"type": "positional", "valueHint": "folder", "default": "."},
                        ],
                        environmentVariables=[
                            {"name": "LOG_LEVEL", "default": "info"},
                            {"name": "CACHE"},
                            {"name": "REGION", "value": "{where}-1", "variables": {"where": {"default": "eu"}}},
                        ],
                    )
                ]
            },
            StdioTarget(
                "npx",
                ("-y", "--registry", "https://npm.example", "@me/weather@1.2.0", "serve", "--units", "metric", "."),
                {"LOG_LEVEL": "info", "REGION": "eu-1"},
            ),
        ),
        (
            {"remotes": [{"type": "sse", "url": "https://weather.example/sse"}]},
            HttpTarget("https://weather.example/sse", None, "sse"),
        ),
        # A package that we cannot start gives way to a URL.
        (
            {
                "packages": [{"registryType": "oci", "identifier": "me/weather", "transport": {"type": "stdio"}}],
                "remotes": [
                    {
                        "type": "streamable-http",
                        "url": "https://weather.example/mcp",
                        "headers": [{"name": "X-Region", "default": "eu"}],
                    }
                ],
            },
            HttpTarget("https://weather.example/mcp", {"X-Region": "eu"}),
        ),
    ],
)
def test_a_server_becomes_a_command_or_a_url(tmp_path: Path, parts: dict[str, Any], target: Target) -> None:
    assert read(tmp_path, server(**parts)) == ({"io.github.me/weather": target}, {})


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (server(), "it names neither a package nor a URL"),
        (server(packages=[{"registryType": "mcpb", "identifier": "https://x"}]), "does not start packages of mcpb"),
        (server(packages=[npm(transport={"type": "streamable-http", "url": "http://x"})]), "started by hand"),
        (server(packages=[npm(environmentVariables=[{"name": "KEY", "isRequired": True}])]), "needs KEY"),
        (
            server(packages=[npm(packageArguments=[{"type": "positional", "valueHint": "dir", "isRequired": True}])]),
            "dir",
        ),
        (server(remotes=[{"type": "streamable-http", "url": "file:///etc/passwd"}]), "no URL that toolvet can reach"),
        (server() | {"_meta": {_OFFICIAL: {"status": "deleted"}}}, "deleted"),
        (server(packages=[npm()]) | {"_meta": {_OFFICIAL: {"isLatest": False}}}, "1.2.0 is not its latest version"),
        ({"server": {"name": "io.github.me/weather", "packages": "npm"}}, "not a server.json"),
    ],
)
def test_what_cannot_be_assessed_says_why(tmp_path: Path, entry: dict[str, Any], reason: str) -> None:
    targets, left_out = read(tmp_path, entry)
    assert targets == {}
    assert reason in left_out["io.github.me/weather"]


def test_an_entry_that_is_nothing_has_a_name_all_the_same(tmp_path: Path) -> None:
    assert list(read(tmp_path, 7, {"name": ""})[1]) == ["server 1", ""]


def test_a_value_comes_from_what_was_given_and_never_from_our_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "ours")
    entry = server(packages=[npm(environmentVariables=[{"name": "AWS_SECRET_ACCESS_KEY", "isRequired": True}])])
    targets, left_out = read(tmp_path, entry)
    assert targets == {}
    assert "--env AWS_SECRET_ACCESS_KEY=VALUE" in left_out["io.github.me/weather"]
    given = {"AWS_SECRET_ACCESS_KEY": "theirs"}
    targets, _ = read(tmp_path, entry, **given)
    assert targets["io.github.me/weather"] == StdioTarget("npx", ("-y", "@me/weather@1.2.0"), given)


@pytest.mark.parametrize("wrap", [lambda one: [one], lambda one: one, lambda one: {"servers": [one]}])
def test_documents_without_the_wrapping_of_the_api_are_read(tmp_path: Path, wrap: Any) -> None:
    file = tmp_path / "server.json"
    file.write_text(json.dumps(wrap(server(packages=[pypi()])["server"])))
    assert [each.name for each in read_server_list(file).targets] == ["io.github.me/weather"]


def test_a_clients_configuration_is_read_as_before(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text('{"servers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}} // VS Code')
    assert [(each.name, each.target) for each in read_server_list(file).targets] == [
        ("time", StdioTarget("uvx", ("mcp-server-time",)))
    ]


def test_a_file_that_is_neither_is_told_so(tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_text('{"tools": []}')
    with pytest.raises(ConfigError, match="names no servers"):
        read_server_list(file)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_server_list(tmp_path / "missing.json")
