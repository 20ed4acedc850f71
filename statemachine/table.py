"""The total table: what the declaration says, spelled out into rows.

`windows` says of a plain window where its outcomes lead and where it falls to; one rule makes rows
of that. In this order, because the first row that holds fires:

1. the turn has to stop: every outcome leads down, `CUT` too where foreign code is awaited and the
   visit need not be whole, a failure is only logged, and what interceptors attached to the results
   of the step goes with it;
2. the visit failed: the step is closed and the failure is told behind it, or told at once where no
   step is open;
3. the step ends while steering waits: it is recorded inside the step, which then wants another;
4. each outcome leads where the window says.

Whatever leads into a window also does what entering it does (`lifecycle.ENTERING`).
"""

from .commands import Command, Input
from .lifecycle import (
    ENTERING,
    MEANS,
    OUTSIDE,
    WEIGHED,
    Guard,
    Row,
    always,
    has_steering,
    stopped,
    take,
)
from .shape import Ending
from .windows import WINDOWS, Window

__all__ = ["TABLE", "expand"]


def expand() -> tuple[Row, ...]:
    """Return the total table: outside, plain windows in time order, weighed windows.

    Clauses: B-132
    """
    plain = [row for window in Window for row in _expand_window(window)]
    return (*OUTSIDE, *plain, *WEIGHED)


def _expand_window(window: Window) -> list[Row]:
    record = WINDOWS[window]
    rows: list[Row] = []
    if record.falls_to is not None:
        outcomes = list(record.leads)
        if record.patience is not None and not record.is_whole:
            outcomes.append(Input.CUT)
        rows += [_stop_arrow(outcome, window, record.falls_to) for outcome in outcomes]
        rows += _failures(window, record.falls_to)
    for outcome, target in record.leads.items():
        if target is Window.STEP_END:
            rows.append(_steering_arrow(outcome, window))
        rows.append(_arrow(outcome, window, always, target, (), **MEANS.get(outcome, {})))
    return rows


def _failures(window: Window, fall: Window) -> list[Row]:
    report = (Command.REPORT,)
    after_stop = _stop_arrow(Input.FAILED, window, fall, Command.LOG)
    if fall is Window.STEP_END:
        # Told when the step is closed: `step/end`, then `agent/error`, then `turn/end` (B-75).
        return [after_stop, _arrow(Input.FAILED, window, always, fall, failed=True)]
    return [after_stop, _arrow(Input.FAILED, window, always, fall, report, ending=Ending.ERROR)]


def _stop_arrow(on: Input, where: Window, fall: Window, *commands: Command) -> Row:
    # Context for a turn that goes on is none for one that ends; only a step has any (B-142).
    drop = (Command.DROP_ATTACHED,) if fall is Window.STEP_END else ()
    return _arrow(on, where, stopped, fall, commands + drop)


def _arrow(
    on: Input,
    where: Window,
    when: Guard,
    to: Window,
    commands: tuple[Command, ...] = (),
    **sets: object,
) -> Row:
    moves, entering, flags = ENTERING.get(to, ((), (), {}))
    effects = (*flags.items(), *sets.items())
    return Row(on, (where,), when, to, moves, commands + entering, effects, WINDOWS[where].clauses)


def _steering_arrow(on: Input, where: Window) -> Row:
    # Behind the context that waited for the last result, and still inside the step (B-56).
    close, record = ENTERING[Window.STEP_END][1]
    commands = (close, Command.TAKE, record)
    effects = (("wants_step", True),)
    clauses = ("A-10", "B-56")
    return Row(on, (where,), has_steering, Window.STEP_END, (take,), commands, effects, clauses)


TABLE = expand()
"""Every row there is. For an input in a window the first row whose guard holds fires."""
