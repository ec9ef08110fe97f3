"""core/tool_rules."""
