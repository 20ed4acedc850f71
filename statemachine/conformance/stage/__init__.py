"""The stage: a deterministic loop, its gates, and the search of its schedules."""

__all__: list[str] = []
