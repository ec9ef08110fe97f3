"""Tests of an MCP server with pytest: a server to start → assertions about it.

The plugin is found by pytest once toolvet is installed, and imports nothing until a test asks for a fixture of it.
docs/testing.md shows the fixtures: `toolvet_server`, `assert_assessment`, `assert_definitions`.
"""
