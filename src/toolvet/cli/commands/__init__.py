"""One command a folder, light to import: `toolvet --help` imports them all, and each loads its work when it is run."""
