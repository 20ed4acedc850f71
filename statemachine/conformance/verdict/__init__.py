"""The verdict: what was examined, what it says of each row, and how that is told."""

__all__: list[str] = []
