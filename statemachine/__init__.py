"""The agent lifecycle as a state machine: what must happen, decided without waiting.

The import name is a common word, and at least one other distribution installs a folder of that
name. Both in one environment means that files of one overwrite files of the other, or that the
order of the search path decides which is imported. So the package looks around once, when it is
imported, and refuses. It only asks whether a few paths exist; reading the metadata of every
distribution would cost more than the rest of the import.
"""

import sys
from pathlib import Path
from typing import Final

DISTRIBUTION: Final = "quiesce"
"""The distribution this package belongs to; a package without it is not ours."""


def _is_foreign(home: Path) -> bool:
    """Say whether a folder is an importable package without the part that only ours has."""
    return (home / "__init__.py").exists() and not (home / "conformance").is_dir()


def _refuse_foreign_packages() -> None:
    """Raise ImportError when another distribution owns our import name in this environment."""
    own_home = Path(__file__).resolve().parent
    homes = {Path(entry).resolve() / own_home.name for entry in sys.path} - {own_home}
    found = sorted(str(home) for home in homes if _is_foreign(home))
    # No module of ours is named like the package, and the well-known stranger has one: its files
    # were written into our folder.
    if (own_home / f"{own_home.name}.py").exists():
        found.append(str(own_home))
    if found:
        raise ImportError(
            f"another distribution also installs `{own_home.name}` ({', '.join(found)}) and cannot "
            f"share an environment with {DISTRIBUTION}: "
            "uninstall one of the two, or use separate virtual environments"
        )


_refuse_foreign_packages()

from .commands import OUTCOMES, OUTSIDE_INPUTS, Command, Input
from .inbox import Queues
from .machine import MACHINE, Decision, IllegalMoveError, Machine, Refusal, RefusedInputError
from .shape import Ending, Inbox, Marker, Shape, Status
from .windows import OPEN_WINDOWS, REST_WINDOWS, TURN_WINDOWS, WINDOWS, Patience, Window

__all__ = [
    "DISTRIBUTION",
    "MACHINE",
    "OPEN_WINDOWS",
    "OUTCOMES",
    "OUTSIDE_INPUTS",
    "REST_WINDOWS",
    "TURN_WINDOWS",
    "WINDOWS",
    "Command",
    "Decision",
    "Ending",
    "IllegalMoveError",
    "Inbox",
    "Input",
    "Machine",
    "Marker",
    "Patience",
    "Queues",
    "Refusal",
    "RefusedInputError",
    "Shape",
    "Status",
    "Window",
]
