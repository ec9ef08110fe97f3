"""`toolvet proxy URL`: a server at a URL, offered on our stdin and stdout."""
