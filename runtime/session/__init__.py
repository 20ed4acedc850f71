"""What a session is made of: JSON content, records, the log, and the history derived from it."""

__all__: list[str] = []
