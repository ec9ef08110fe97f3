"""The policies of `toolvet proxy` inside a server, for teams that prefer code to a process in front of the server.

`vetting` holds the decisions, `fastmcp` and `sdk` a middleware for each framework. The session of the proxy itself
decides, so the same settings mean the same.
"""
