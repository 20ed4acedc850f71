"""Processes that are killed while they work, and what is left of their sessions."""
