"""The servers that `make conformance` compares, each over HTTP and over stdio from one program; how to get them."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

HERE: Final = Path(".conformance").absolute()
SERVERS: Final = Path(__file__).with_name("servers")
SUITE: Final = ["node@22", "@modelcontextprotocol/conformance@0.2.0-alpha.12"]
TYPESCRIPT: Final = ["@modelcontextprotocol/server", "@modelcontextprotocol/node", "@modelcontextprotocol/express"]
TYPESCRIPT_WITH: Final = ["express", "cors", "zod", "esbuild"]
PYTHON_SDK: Final = ("https://github.com/modelcontextprotocol/python-sdk", "v2.3.0")
TYPESCRIPT_SDK: Final = ("https://github.com/modelcontextprotocol/typescript-sdk", "main")
# What follows in the TypeScript server is its HTTP side, and runs when the module is loaded.
HTTP_PART: Final = "// ===== EXPRESS APP ====="
STDIO_PART: Final = """
import { serveStdio } from '@modelcontextprotocol/server/stdio';
if (process.argv[2] === 'stdio') {
    // Its tools announce changes on the bus of the HTTP handler.
    let current: McpServer;
    modernHandler.notify.toolsChanged = () => current.sendToolListChanged();
    modernHandler.notify.promptsChanged = () => current.sendPromptListChanged();
    serveStdio(() => (current = createMcpServer()));
} else {
"""


@dataclass(frozen=True)
class ComparedServer:
    """One server program: `over_http` gets the port as its last argument or as PORT."""

    name: str
    over_http: list[str]
    over_stdio: list[str]
    cwd: Path = HERE
    env: Mapping[str, str] = field(default_factory=dict)


def prepare_servers() -> list[ComparedServer]:
    """Install what is missing. Returns the servers."""
    python = sys.executable
    everything = fetch("SDK", "python-sdk", PYTHON_SDK) / "examples" / "servers" / "everything-server"
    from_python = "from mcp_everything_server.server import mcp; mcp.run('stdio')"
    node, typescript = str(node_path()), str(build_typescript_server())
    lowlevel, fast = str(SERVERS / "lowlevel.py"), str(SERVERS / "fastmcp_server.py")
    return [
        ComparedServer(
            "python",
            [python, "-m", "mcp_everything_server", "--log-level", "ERROR", "--port"],
            [python, "-c", from_python],
            everything,
        ),
        ComparedServer("typescript", [node, typescript, "http"], [node, typescript, "stdio"]),
        ComparedServer("fastmcp", [python, fast], [python, fast, "stdio"]),
        ComparedServer("lowlevel", [python, lowlevel], [python, lowlevel, "stdio"]),
    ]


def install_suite() -> list[str]:
    """Install the suite unless that was done before. Returns the command that runs it."""
    install(SUITE, "conformance")
    return [str(node_path()), str(HERE / "node_modules" / ".bin" / "conformance")]


def build_typescript_server() -> Path:
    """Make a JavaScript file of the TypeScript SDK's server that can serve stdio as well."""
    install([*TYPESCRIPT, *TYPESCRIPT_WITH], "express")
    checkout = fetch("TYPESCRIPT_SDK", "typescript-sdk", TYPESCRIPT_SDK)
    program = (checkout / "test" / "conformance" / "src" / "everythingServer.ts").read_text()
    shared, mark, http = program.partition(HTTP_PART)
    if not mark:
        raise SystemExit(f"everythingServer.ts has no line `{HTTP_PART}` any more")
    source, built = HERE / "everything.ts", HERE / "everything.mjs"
    source.write_text(f"{shared}{STDIO_PART}{http}\n}}\n")
    esbuild = HERE / "node_modules" / ".bin" / "esbuild"
    subprocess.run([esbuild, source, "--format=esm", f"--outfile={built}", "--log-level=error"], check=True)
    return built


def install(packages: list[str], proof: str) -> None:
    """Install packages of npm, unless `@modelcontextprotocol/<proof>` is there."""
    if not (HERE / "node_modules" / "@modelcontextprotocol" / proof).is_dir():
        HERE.mkdir(exist_ok=True)
        if not (HERE / "package.json").is_file():
            (HERE / "package.json").write_text('{"private": true}')
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", *packages], cwd=HERE, check=True)


def node_path() -> Path:
    """Return the Node that was installed for the suite."""
    return HERE / "node_modules" / "node" / "bin" / "node"


def fetch(variable: str, folder: str, source: tuple[str, str]) -> Path:
    """Return the checkout that an environment variable names, else clone it unless that was done before."""
    given = os.environ.get(variable)
    checkout = Path(given) if given else HERE / folder
    if not checkout.is_dir():
        url, branch = source
        subprocess.run(["git", "clone", "--quiet", "--depth", "1", "--branch", branch, url, checkout], check=True)
    return checkout
