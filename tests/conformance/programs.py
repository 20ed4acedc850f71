"""How many random programs a suite runs, and how long they are."""

from hypothesis import HealthCheck, Phase, settings

__all__ = ["program_settings"]


def program_settings(
    *, examples: int | None = None, steps: int | None = None, is_canary: bool = False
) -> settings:
    """Return the settings of one run, as the Hypothesis profile says unless told otherwise.

    Args:
        examples: how many programs; None for as many as the profile says.
        steps: how many steps a state machine makes at most; None for the profile's number.
        is_canary: the programs are to find a planted fault: always the same ones, none shortened.
    """
    default = settings()
    return settings(
        max_examples=default.max_examples if examples is None else examples,
        stateful_step_count=default.stateful_step_count if steps is None else steps,
        phases=[Phase.generate] if is_canary else default.phases,
        derandomize=is_canary or default.derandomize,
        database=None if is_canary else default.database,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
