"""What a gate says when a corpus breaks its contract."""

from pathlib import Path

from attrs import frozen

__all__ = ["Violation"]


@frozen(kw_only=True)
class Violation:
    """One thing that is wrong, with the place that has to change."""

    path: Path
    message: str
    clause: str
    line: int = 1
    """Counted from one; the first line if it is the whole file or folder that is wrong."""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message} ({self.clause})"
