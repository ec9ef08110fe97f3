"""`toolvet proxy --listen ADDRESS URL`: a server at a URL, offered over Streamable HTTP."""
