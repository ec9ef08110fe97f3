"""One folder per command. `toolvet --help` imports them all, so a command imports its work only when it is run."""
