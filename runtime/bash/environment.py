"""What a command finds in its environment."""

from collections.abc import Mapping
from typing import Final

__all__ = ["command_environment"]

_SECRET_WORDS: Final = ("KEY", "SECRET", "TOKEN")
_PLAIN: Final = {
    "CLICOLOR": "0",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "TERM": "dumb",
}
"""Nobody looks at a terminal: no colours, and nothing that waits for a key."""


def command_environment(ambient: Mapping[str, str], explicit: Mapping[str, str]) -> dict[str, str]:
    """Return the ambient environment without secrets, plain, and with what was asked for.

    A name that contains one of the secret words in any case is left out, whatever it means.

    Clauses: H-45
    """
    kept = {
        name: value
        for name, value in ambient.items()
        if not any(word in name.upper() for word in _SECRET_WORDS)
    }
    return {**kept, **_PLAIN, **explicit}
