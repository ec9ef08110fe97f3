"""FastMCP's proxy, without sessions, so that any client may call. `through_fastmcp.py PORT UPSTREAM_PORT`."""

import logging
import sys

from fastmcp.server import create_proxy

logging.disable(logging.CRITICAL)
create_proxy(f"http://127.0.0.1:{sys.argv[2]}/mcp").run(
    transport="http",
    host="127.0.0.1",
    port=int(sys.argv[1]),
    show_banner=False,
    log_level="critical",
    stateless_http=True,
    json_response=True,
)
