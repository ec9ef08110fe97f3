"""Archives of content that responses left out: what an archive is, one in memory, and the answers of a retrieval tool.

`toolvet.store.SQLiteArchive` is the archive on disk.
"""
