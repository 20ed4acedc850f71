"""What no text of the project may say: places that exist on one machine only."""

import re
from typing import Final

import pytest

from .tree import project_files, text_of

# Spelt so that this file does not contain what it looks for.
FOREIGN_PLACE: Final = re.compile(
    r"(?<![\w.~-])/(?:work|farm|root)/|/(?:home|Users)/\w|\.\./" + "shared"
)


@pytest.mark.parametrize("name", project_files())
def test_no_text_names_a_place_of_one_machine(name: str) -> None:
    """Whoever clones the project has every file it speaks of."""
    lines = text_of(name).splitlines()
    assert [line for line in lines if FOREIGN_PLACE.search(line)] == []


@pytest.mark.parametrize(
    "parts",
    [
        ("", "work", "a"),
        ("", "root", "a"),
        ("", "home", "someone"),
        ("", "Users", "a"),
        ("..", "shared"),
    ],
)
def test_a_place_of_one_machine_is_seen(parts: tuple[str, ...]) -> None:
    """The pattern finds each kind of place that it is there for."""
    assert FOREIGN_PLACE.search(f"see {'/'.join(parts)} for more")
