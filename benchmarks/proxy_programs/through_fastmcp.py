"""A peer: FastMCP's proxy, with the option that makes it find the tools of servers of the older era."""

import sys

from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy

create_proxy(StdioTransport(sys.argv[1], sys.argv[2:]), mode="auto").run(show_banner=False, log_level="ERROR")
