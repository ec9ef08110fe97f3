"""A file for each platform, with `DESTINATION`. It is imported only where that platform is asked for."""
