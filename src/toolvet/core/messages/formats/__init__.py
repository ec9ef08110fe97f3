"""One file for each family of formats, with a `FORMAT`; the folder is the list."""
