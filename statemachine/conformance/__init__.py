"""Proves the lifecycle of any runtime that is handed over as a subject."""

__all__: list[str] = []
