"""A validating proxy before any MCP server: drives a `toolvet.proxy.session` with pipes and sockets, and keeps a record.

    client's side        server's side     folder
    stdin and stdout     a command         stdio
    stdin and stdout     a URL             remote
    HTTP                 a URL             http
    HTTP                 a command         bridge

All four feed `record`. `install` puts the servers of a client's configuration file behind the proxy.
"""
