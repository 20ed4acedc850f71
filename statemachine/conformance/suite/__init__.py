"""The suites: random programs on the stage, watched by oracles and by the machine."""

__all__: list[str] = []
