"""Faults planted in the runtime, each with the one invariant that it must die of.

A fault is killed twice: by a directed program that is as short as it gets, and by the random suite,
without shrinking. Dying of anything else is not a kill, except that a random program may meet a
consequence of the fault first; what that may be is listed too.
"""

from collections.abc import Callable

from attrs import frozen

from runtime.agent import LiveAgent
from runtime.handle import AgentHandle
from runtime.turn import Turn
from statemachine import Command, Input, Queues, Window
from statemachine.conformance.suite.examination import Examination

from . import programs as program
from . import runtime_faults as fault
from . import seam_faults as seam
from .planting import also_ask, ask, chain, change, only_in, remove, rows, silence
from .runtime_faults import Planted

__all__ = ["RUNTIME_MUTANTS", "RuntimeMutant"]


@frozen(kw_only=True)
class RuntimeMutant:
    """One planted fault."""

    id: str
    fault: str
    """The fault in one line."""
    invariant: str
    """What the directed program must die of."""
    plant: Planted
    program: Callable[[Examination], None]
    machine: str = "cancel"
    """The random machine that is to find it."""
    also: frozenset[str] = frozenset()
    """What else a random program may meet first."""


# -- The faults ------------------------------------------------------------------------------------

_CANCEL_OF_A_TURN = rows(Input.CANCEL, Window.STREAM, "running")
_DISPOSE_OF_A_TURN = rows(Input.DISPOSE, Window.STREAM, "running")
_SIGNAL_BEFORE_CONTENTS = (Command.ANNOUNCE, Command.ABORT, Command.DISCARD)
_DISCARDS_FIRST = (Command.DISCARD, Command.ANNOUNCE, Command.ABORT)


def _mutant(  # noqa: PLR0913, PLR0917  # the columns of a table
    name: str,
    text: str,
    invariant: str,
    plant: Planted,
    program: Callable[[Examination], None],
    machine: str = "cancel",
    also: str = "",
) -> RuntimeMutant:
    return RuntimeMutant(
        id=name, fault=text, invariant=invariant, plant=plant, program=program, machine=machine,
        also=frozenset(also.split()),
    )  # fmt: skip


RUNTIME_MUTANTS = (
    _mutant(
        "cancel-keeps-what-waits", "a cancel before the turn leaves the queue as it was", "INV-01",
        fault.in_table(remove(rows(Input.CANCEL, None, "has_work"))), program.queued_then_cancelled,
    ),
    _mutant(
        "discard-untold", "what a cancel drops is not announced", "INV-01",
        fault.obeying(Command.DISCARD, fault.discard_silently), program.queued_then_cancelled,
    ),
    _mutant(
        "reason-lost", "a discard has the default reason", "INV-01",
        fault.obeying(Command.DISCARD, fault.discard_with_default_reason),
        program.queued_then_cancelled,
    ),
    _mutant(
        "discard-twice", "each discard is announced twice", "INV-21",
        fault.obeying(Command.DISCARD, fault.discard_twice), program.queued_then_cancelled,
    ),
    _mutant(
        "joins-cancelled-turn", "what comes after a cancel joins the turn that unwinds", "INV-02",
        fault.obeying(Command.QUEUE, fault.queue_into_the_cancelled_turn),
        program.steered_after_cancel,
    ),
    _mutant(
        "batch-mixes", "prompts that came after `turn/start` share its turn", "INV-02",
        fault.visiting(Window.PROMPTS, fault.drain_once_more), program.resent_inside_turn_start,
        "turning",
    ),
    _mutant(
        "signal-before-contents", "a cancel calls out before it takes the contents", "INV-03",
        fault.in_table(change(_CANCEL_OF_A_TURN, ask(*_SIGNAL_BEFORE_CONTENTS))),
        program.sent_inside_abort,
        "turning", "INV-01",
    ),
    _mutant(
        "sticky-marker", "a cancel of an idle agent strikes its next turn", "INV-04",
        fault.remembering_idle_cancels(), program.idle_cancel_then_turn,
    ),
    _mutant(
        "marker-cleared-early", "the cancel is forgotten before its turn is closed", "INV-05",
        fault.visiting(Window.CLOSING, fault.forget_the_cancel), program.cancelled_while_streaming,
    ),
    _mutant(
        "no-signal", "a cancel of a turn does not fire its signal", "INV-05",
        fault.in_table(change(_CANCEL_OF_A_TURN, silence(Command.ABORT))),
        program.cancelled_while_streaming,
        "turning", "INV-06 INV-08 INV-21",
    ),
    _mutant(
        "last-reason-wins", "a further cancel overwrites the first reason", "INV-05",
        fault.last_reason_wins(), program.cancelled_twice,
    ),
    _mutant(
        "late-chunk", "what a stopped stream still says is recorded", "INV-05",
        fault.obeying(Command.CLOSE_CALLS, fault.close_with_a_chunk),
        program.cancelled_while_streaming,
    ),
    _mutant(
        "asked-although-stopped", "the model is asked for a turn that was stopped", "INV-05",
        seam.ask_although_stopped(), program.disposed_before_the_stream,
    ),
    _mutant(
        "turn-left-open", "`turn/end` is missing", "INV-06",
        fault.obeying(Command.RECORD, fault.leave_the_turn_open), program.cancelled_twice,
        also="A-20 INV-05 INV-07",
    ),
    _mutant(
        "released-at-cancel", "a cancel releases those who wait", "INV-07",
        fault.obeying(Command.ABORT, fault.abort_and_release), program.cancelled_while_streaming,
    ),
    _mutant(
        "released-before-the-flush", "those who wait are released at `turn/end`", "INV-07",
        fault.in_table(change(rows(Input.DONE, Window.TURN_END), also_ask(Command.RELEASE))),
        program.cancelled_while_streaming,
    ),
    _mutant(
        "stranded-at-park", "a driver that parks without a turn releases nobody", "INV-08",
        fault.in_table(change(rows(Input.DONE, Window.WOKEN, "always"), silence(Command.RELEASE))),
        program.waiter_of_cancelled_prompt, "waiting",
    ),
    _mutant(
        "stranded-at-idle", "no decision that leads to rest releases anybody", "INV-08",
        fault.in_table(
            chain(
                change(rows(Input.DONE, Window.FLUSH, "always"), silence(Command.RELEASE)),
                change(rows(Input.DONE, Window.ANNOUNCE_IDLE, "always"), silence(Command.RELEASE)),
            )
        ),
        program.cancelled_while_streaming,
    ),
    _mutant(
        "steer-is-send", "steering waits for the next turn", "INV-09",
        fault.replacing(LiveAgent, "steer", LiveAgent.send), program.steered,
    ),
    _mutant(
        "takes-siblings-along", "a dispose ends every agent", "INV-10",
        fault.taking_siblings_along(), program.two_agents, "teardown",
    ),
    _mutant(
        "unregistered-early", "the agent is unregistered before its driver has exited", "INV-11",
        fault.links("unregister", "driver", "last flush", "announce", "detach"),
        program.disposed_while_streaming, "teardown",
    ),
    _mutant(
        "detached-early", "the session is detached before the closing records", "INV-11",
        fault.links("detach", "driver", "last flush", "unregister", "announce"),
        program.disposed_while_streaming, "teardown",
    ),
    _mutant(
        "status-before-callbacks", "the status is announced before the abort callbacks", "INV-11",
        fault.aborting_late(), program.disposed_while_streaming,
        "teardown",
    ),
    _mutant(
        "discards-before-status", "a dispose announces the discards before the status", "INV-11",
        fault.in_table(change(_DISPOSE_OF_A_TURN, ask(*_DISCARDS_FIRST))),
        program.disposed_while_streaming, "teardown",
    ),
    _mutant(
        "dispose-anew", "every dispose makes an end of its own", "INV-12",
        fault.replacing(AgentHandle, "dispose", fault.dispose_anew),
        program.disposed_while_streaming,
        "teardown",
    ),
    _mutant(
        "exit-unnoticed", "nobody learns that the driver has exited", "INV-12",
        fault.in_table(
            change(rows(Input.DONE, Window.FLUSH, "disposed"), silence(Command.RELEASE))
        ),
        program.disposed_while_streaming, "teardown", "INV-08",
    ),
    _mutant(
        "never-unregistered", "a teardown leaves the agent in the registry", "INV-11",
        fault.links("driver", "last flush", "announce", "detach"), program.disposed_while_streaming,
        "teardown",
    ),
    _mutant(
        "wake-lost", "a message sent while `idle` is announced wakes nobody", "INV-21",
        fault.in_table(
            change(rows(Input.DONE, Window.ANNOUNCE_IDLE, "has_queued"), only_in(Window.WOKEN))
        ),
        program.sent_inside_idle,
        "turning", "INV-07 INV-08",
    ),
    _mutant(
        "failure-drops-the-queue", "a failed turn takes what waits with it", "INV-21",
        fault.obeying(Command.REPORT, fault.report_and_drop), program.failed_with_a_prompt_behind,
        # The driver may die of the batch that is not there; then `send` raises what it died of.
        also="crash A-20 INV-07 INV-08",
    ),
    _mutant(
        "context-dropped", "context that comes while the turn unwinds is dropped", "INV-21",
        fault.obeying(Command.JOIN, fault.join_unless_stopped), program.injected_after_cancel,
    ),
    _mutant(
        "fifo-turned", "the queue is last in, first out", "A-13",
        fault.replacing(Queues, "queue", fault.queue_at_the_head), program.two_prompts,
    ),
    _mutant(
        "bound-given-back", "a second cancel gives the bound of the flush back", "INV-06",
        fault.replacing(Turn, "settle", fault.settle_and_unbind),
        program.cancelled_again_in_silence,
        also="INV-08 INV-21",
    ),
    _mutant(
        "no-abort-grace", "the abort grace never starts", "INV-06",
        fault.patient(fault.obeying(Command.ABORT, fault.abort_without_grace)),
        program.cancelled_in_silence,
        also="INV-08 INV-12 INV-21",
    ),
    _mutant(
        "cancelled-flush-unbounded", "the flush after a cancelled turn has no bound", "INV-08",
        fault.in_table(
            change(rows(Input.DONE, Window.TURN_END, "stopped"), silence(Command.BOUND))
        ),
        program.waited_for_in_silence, "cancel", "INV-06 INV-21",
    ),
    _mutant(
        "last-flush-unbounded", "a dispose does not bound the flush it finds", "INV-12",
        fault.in_table(change(rows(Input.DISPOSE, Window.FLUSH), silence(Command.BOUND))),
        program.disposed_in_the_flush, "teardown", "INV-08",
    ),
    _mutant(
        "id-given-twice", "an agent may have the id of one that lives", "INV-16",
        fault.taking_any_id(), program.same_id, "teardown",
    ),
    _mutant(
        "body-entered-although-stopped", "a tool is entered in a stopped turn", "INV-05",
        seam.enter_although_stopped(), program.stopped_before_the_body, "seams",
    ),
    _mutant(
        "asked-after-the-stop", "what is left of a stopped batch is asked about", "INV-05",
        seam.ask_about_every_prompt(), program.stopped_between_prompts, "seams", also="A-20",
    ),
    _mutant(
        "call-unanswered", "a step closes over a call without a result", "INV-06",
        seam.leave_calls_unanswered(), program.tool_cut, "seams",
    ),
    _mutant(
        "call-answered-twice", "a call gets its result twice", "INV-06",
        seam.answer_calls_twice(), program.tool_called, "seams",
    ),
    _mutant(
        "overruled-reason-runs", "the reason of an overruled vote becomes a message", "INV-21",
        fault.visiting(Window.CLOSING, seam.run_the_overruled_reason),
        program.continued_although_stopped, "seams", "INV-05 INV-06 INV-11 INV-12",
    ),
    _mutant(
        "blocked-and-discarded", "a blocked prompt is discarded as well", "INV-21",
        seam.discard_what_is_blocked(), program.blocked_prompt, "seams",
    ),
    _mutant(
        "lost-behind-a-broken-one", "what lies behind a prompt that broke is forgotten", "INV-21",
        fault.visiting(Window.PROMPTS, seam.lose_what_lies_behind),
        program.broken_prompt, "seams",
    ),
    _mutant(
        "flush-not-awaited", "nobody waits for the flush of a turn", "B-86",
        fault.visiting(Window.FLUSH, fault.skip_the_flush), program.two_prompts,
    ),
)  # fmt: skip
"""Every fault, by what it breaks."""
