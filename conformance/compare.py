"""`make conformance`: run the official suite on a server and on the proxy before it, and compare the lists of checks.

Installs the suite and a Node that it runs on under .conformance, and fetches the everything server of the Python SDK
(`SDK=folder` takes a checkout that is there). Prints the checks that differ, and ends with 1 when there are any.
"""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(".conformance").absolute()
PACKAGES = ["node@22", "@modelcontextprotocol/conformance@0.2.0-alpha.12"]
SDK = ("https://github.com/modelcontextprotocol/python-sdk", "v2.3.0")
REVISIONS = ["2025-11-25", "2026-07-28"]


def main() -> int:
    suite, server = install_suite(), fetch_everything_server()
    direct_port, proxy_port = free_port(), free_port()
    direct = [sys.executable, "-m", "mcp_everything_server", "--port", str(direct_port), "--log-level", "ERROR"]
    toolvet = [sys.executable, "-m", "toolvet", "proxy", "--listen", f"127.0.0.1:{proxy_port}"]
    processes = [
        subprocess.Popen(direct, cwd=server, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL),
        subprocess.Popen([*toolvet, f"http://127.0.0.1:{direct_port}/mcp"], stderr=subprocess.DEVNULL),
    ]
    try:
        wait_for(direct_port)
        wait_for(proxy_port)
        return max(compare_revision(suite, revision, direct_port, proxy_port) for revision in REVISIONS)
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()


def compare_revision(suite: list[str], revision: str, direct_port: int, proxy_port: int) -> int:
    """Print the differences for one revision of MCP. Returns 1 when there are any, else 0."""
    direct, proxied = run_checks(suite, revision, direct_port), run_checks(suite, revision, proxy_port)
    if not direct:
        print(f"{revision}: the suite checked nothing")
        return 1
    passed = sum(check[2] == "SUCCESS" for check in direct)
    scenarios = len({check[0] for check in direct})
    print(f"{revision}: {scenarios} scenarios, {len(direct)} checks direct, {passed} of them passed")
    differences = [f"  direct only: {check}" for check in surplus(direct, proxied)]
    differences += [f"  proxied only: {check}" for check in surplus(proxied, direct)]
    print("\n".join(differences) if differences else "  through the proxy: the identical list")
    return 1 if differences else 0


def run_checks(suite: list[str], revision: str, port: int) -> list[tuple[str, str, str]]:
    """Run the suite against a port of this machine. Returns scenario, check and status of all checks."""
    out = HERE / "results" / f"{revision}-{port}"
    url = f"http://127.0.0.1:{port}/mcp"
    # The exit code says whether all passed; here only the difference counts.
    subprocess.run(
        [*suite, "server", "--url", url, "--requirements", revision, "--output-dir", str(out)],
        check=False,
        stdout=subprocess.DEVNULL,
    )
    found: list[tuple[str, str, str]] = []
    for file in out.glob("*/checks.json"):
        scenario = file.parent.name.rpartition(f"-{time.strftime('%Y')}")[0]
        found += [(scenario, check["id"], check["status"]) for check in json.loads(file.read_text())]
    return sorted(found)


def surplus(left: list[tuple[str, str, str]], right: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Return what `left` has and `right` has not, counting duplicates."""
    rest = list(right)
    return [check for check in left if check not in rest or rest.remove(check)]  # type: ignore[func-returns-value]


def install_suite() -> list[str]:
    """Install the suite unless that was done before. Returns the command that runs it."""
    modules = HERE / "node_modules"
    if not (modules / "@modelcontextprotocol" / "conformance").is_dir():
        HERE.mkdir(exist_ok=True)
        (HERE / "package.json").write_text('{"private": true}')
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", *PACKAGES], cwd=HERE, check=True)
    return [str(modules / "node" / "bin" / "node"), str(modules / ".bin" / "conformance")]


def fetch_everything_server() -> Path:
    """Fetch the server unless that was done before. Returns the folder of its package."""
    given = os.environ.get("SDK")
    checkout = Path(given) if given else HERE / "python-sdk"
    if not checkout.is_dir():
        url, tag = SDK
        subprocess.run(["git", "clone", "--quiet", "--depth", "1", "--branch", tag, url, str(checkout)], check=True)
    return checkout / "examples" / "servers" / "everything-server"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def wait_for(port: int) -> None:
    deadline = time.monotonic() + 30
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return


if __name__ == "__main__":
    sys.exit(main())
