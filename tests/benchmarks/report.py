"""What was measured, for the terminal and for a file."""

import json
import platform
from pathlib import Path

from attrs import define, field

__all__ = ["Report"]


@define
class Report:
    """Collects tables in the order in which they were measured."""

    tables: list[tuple[str, list[tuple[str, str, str]]]] = field(factory=list)
    numbers: dict[str, float] = field(factory=dict)

    def table(self, title: str, rows: list[tuple[str, str, str]]) -> None:
        """Add a table: a name, a number and a remark in each row."""
        self.tables.append((title, rows))

    def render(self) -> list[str]:
        """Return the lines for the terminal."""
        names = max((len(row[0]) for _, rows in self.tables for row in rows), default=0)
        lines = []
        for title, rows in self.tables:
            lines += ["", title]
            lines += [f"  {name:<{names}}  {number:>14}  {note}" for name, number, note in rows]
        return lines

    def save(self, path: Path) -> None:
        """Write the numbers as JSON, with what they were measured on."""
        path.parent.mkdir(parents=True, exist_ok=True)
        found = {
            "python": platform.python_version(),
            "machine": f"{platform.system()} {platform.machine()}",
            "numbers": {name: round(value, 4) for name, value in self.numbers.items()},
        }
        path.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
