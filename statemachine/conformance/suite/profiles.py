"""How hard a suite tries."""

from enum import StrEnum
from typing import Final

from attrs import field, frozen, validators

__all__ = ["PROFILES", "Profile", "ProfileName"]


class ProfileName(StrEnum):
    """The four ways in which suites are run."""

    FAST = "fast"
    CI = "ci"
    HUNT = "hunt"
    NIGHT = "night"


@frozen(kw_only=True)
class Profile:
    """How many runs of what length, and from where.

    Attributes:
        examples: Runs for each machine; for a profile with a time, of each round.
        steps: The greatest length of a run.
        derandomize: Whether every run of the suite makes the same runs.
        remembers: Whether failures are kept in the database of Hypothesis and tried first.
        shrinks: Whether a failure is made as short as possible.
        within_s: Go on with fresh seeds until this many seconds are over; None for one round.
    """

    name: ProfileName
    examples: int = field(validator=validators.gt(0))
    steps: int = field(default=30, validator=validators.gt(0))
    derandomize: bool = True
    remembers: bool = False
    shrinks: bool = True
    within_s: float | None = None


PROFILES: Final = {
    profile.name: profile
    for profile in (
        Profile(name=ProfileName.FAST, examples=20),
        Profile(name=ProfileName.CI, examples=100),
        Profile(
            name=ProfileName.HUNT,
            examples=200,
            derandomize=False,
            remembers=True,
            within_s=60.0,
        ),
        Profile(
            name=ProfileName.NIGHT,
            examples=1_000,
            steps=50,
            derandomize=False,
            remembers=True,
            within_s=1_800.0,
        ),
    )
}
"""Every profile by its name."""
