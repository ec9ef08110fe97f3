"""Real servers, each in an environment of its own under `.live` (kept between runs, removed by `make clean`)."""

import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from toolvet.mcp.transport import StdioTarget

ROOT = Path(__file__).parents[2]
LIVE = ROOT / ".live"


@cache
def time_server() -> StdioTarget:
    return StdioTarget(command=str(_python("time", "mcp-server-time==2026.10.19") / "mcp-server-time"))


@cache
def git_server() -> StdioTarget:
    return StdioTarget(command=str(_python("git", "mcp-server-git==2026.10.19") / "mcp-server-git"))


@cache
def sqlite_server() -> Path:
    # It was written for the SDK's first version and breaks under the second.
    return _python("sqlite", "mcp-server-sqlite==2025.4.25", "mcp<2") / "mcp-server-sqlite"


@cache
def everything_server() -> StdioTarget:
    modules = _npm("npm", "@modelcontextprotocol/server-everything@2026.8.31")
    return StdioTarget(command=str(modules / ".bin" / "mcp-server-everything"))


@cache
def filesystem_server() -> StdioTarget:
    modules = _npm("filesystem", "@modelcontextprotocol/server-filesystem@2026.8.31")
    return StdioTarget(command=str(modules / ".bin" / "mcp-server-filesystem"))


@cache
def inspector() -> tuple[str, ...]:
    """The Inspector's command line, under the Node that it needs (22), which npm has as a package."""
    modules = _npm("inspector", "@modelcontextprotocol/inspector@2.12.0", "node@22")
    return (str(modules / ".bin" / "node"), str((modules / ".bin" / "mcp-inspector").resolve()))


@cache
def oidc_provider() -> tuple[str, str]:
    """Node 22 and the modules of an identity provider for OpenID Connect."""
    modules = _npm("oidc-provider", "oidc-provider@9.13.3", "node@22")
    return (str(modules / ".bin" / "node"), str(modules))


@cache
def typescript_sdk() -> Path:
    """The modules of the official TypeScript SDK, its first version: it speaks the legacy era."""
    return _npm("typescript-sdk", "@modelcontextprotocol/sdk@1.32.2")


@cache
def typescript_client() -> Path:
    """The modules of the official TypeScript SDK, its second version: it speaks both eras."""
    return _npm("typescript-client", "@modelcontextprotocol/client@2.4.0")


@cache
def python_programs(name: str, *requirements: str) -> Path:
    """The folder with the programs of packages that strangers published."""
    return _python(f"wild-{name}", *requirements)


@cache
def npm_modules(name: str, *packages: str) -> Path:
    """The modules of packages that strangers published; their install scripts do not run."""
    return _npm(f"wild-{name}", "--ignore-scripts", *packages)


def _python(name: str, *requirements: str) -> Path:
    folder = LIVE / name
    marker = folder / "installed"
    if not marker.exists():
        _run(sys.executable, "-m", "venv", "--clear", str(folder))
        _run(str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", *requirements)
        marker.touch()
    return folder / "bin"


def _npm(name: str, *packages: str) -> Path:
    modules = LIVE / name / "node_modules"
    if not modules.exists():
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip(f"npm is not installed, and {packages[-1]} needs it")
        _run(npm, "install", "--silent", "--prefix", str(LIVE / name), *packages)
    return modules


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"cannot install: {' '.join(command)}: {done.stderr.strip()[-300:]}")
