"""The bridge as a table: what a client says, what happens to it, and what it is told.

Theory. What a client is told is written in one stretch with what it tells, so every answer and
every update is an event here. A prompt is decided by the first of its turn's end, a cancel and the
end of its session, and answered when it is over. What later turns show waits until the prompts of
the turns before are answered: they stand in one line with it.
"""

from typing import Final

from statemachine.worlds.rows import Actor, Event, Guard, Move, Row

from . import guards as g
from . import moves as m
from .state import Client, Phase, Stage, State

__all__ = [
    "ANSWER", "BEGIN", "CANCEL", "CLOSE", "CLOSED", "COMPLETE", "DISCONNECT", "FLUSHED", "FREE",
    "HOLD", "LEAVE", "LOAD", "NEW", "OF_PROMPTS", "OF_SESSIONS", "OF_THE_CLIENT", "OPENED", "OVER",
    "PROMPT", "REFUSED", "REPLAY", "SHOW", "SHOW_LATE", "STORE_ANSWERS", "STORE_FAILS", "TABLE",
    "UNWIND", "WRITTEN",
]  # fmt: skip

_A = Actor
NEW: Final = Event("new", _A.OUTSIDE)
LOAD: Final = Event("load", _A.OUTSIDE)
PROMPT: Final = Event("prompt", _A.OUTSIDE)
CANCEL: Final = Event("cancel", _A.OUTSIDE)
CLOSE: Final = Event("close", _A.OUTSIDE)
DISCONNECT: Final = Event("disconnect", _A.OUTSIDE)

STORE_ANSWERS: Final = Event("the store answers", _A.STORE)
STORE_FAILS: Final = Event("the load fails", _A.STORE)
REPLAY: Final = Event("a record is shown anew", _A.REQUEST)
OPENED: Final = Event("the load is answered", _A.REQUEST)
REFUSED: Final = Event("the load is refused at last", _A.REQUEST)

BEGIN: Final = Event("a turn begins", _A.DRIVER)
SHOW: Final = Event("an update is shown", _A.MODEL)
SHOW_LATE: Final = Event("an update of a turn that has ended is shown", _A.REQUEST)
HOLD: Final = Event("an update waits", _A.MODEL)
COMPLETE: Final = Event("the turn is over by itself", _A.MODEL)
UNWIND: Final = Event("the turn unwinds", _A.DRIVER)
FLUSHED: Final = Event("the turn is flushed", _A.STORE)
ANSWER: Final = Event("the prompt is answered", _A.REQUEST)

LEAVE: Final = Event("agent and session are gone", _A.TEARDOWN)
FREE: Final = Event("the session has ended", _A.TEARDOWN)
CLOSED: Final = Event("the close is answered", _A.REQUEST)
OVER: Final = Event("nothing of the client is left", _A.TEARDOWN)

OF_SESSIONS: Final = (
    NEW, LOAD, CANCEL, CLOSE, STORE_ANSWERS, STORE_FAILS, REPLAY, OPENED, REFUSED,
    BEGIN, SHOW, SHOW_LATE, HOLD, COMPLETE, UNWIND, FLUSHED, LEAVE, FREE, CLOSED,
)  # fmt: skip
OF_PROMPTS: Final = (ANSWER,)
OF_THE_CLIENT: Final = (DISCONNECT, OVER)
WRITTEN: Final = (STORE_FAILS, REPLAY, OPENED, REFUSED, SHOW, SHOW_LATE, ANSWER, CLOSED)
"""What the client reads."""

_Guards = tuple[Guard[State], ...]
_Moves = tuple[Move[State], ...]


def _row(on: Event, when: _Guards, does: _Moves, clauses: str) -> Row[State]:
    return Row(on, when, does, None, tuple(clauses.split()))


def _refused(on: Event, guard: Guard[State], why: str, clauses: str) -> Row[State]:
    return Row(on, (guard,), (), why, tuple(clauses.split()))


_S, _P, _C = Stage, Phase, Client
_LEAVES: Final = "the client has gone"

# fmt: off
TABLE: Final = (
    _refused(NEW,  g.the_client_leaves, _LEAVES, "J-35"),
    _row(NEW,      (g.at_stage(_S.AWAY),), (m.stage(_S.OPEN),),     "J-04 J-05"),

    # A load is answered when everything has been shown, and nothing is accepted until then.
    _refused(LOAD, g.the_client_leaves, _LEAVES, "J-35"),
    _refused(LOAD, g.taken,             "the session is live, or being loaded or closed", "J-28"),
    _row(LOAD,          (),                                                  (m.stage(_S.LOADING),), "J-28"),
    _row(STORE_ANSWERS, (g.at_stage(_S.LOADING),),                           (m.stage(_S.LOADED),),  "J-31"),
    _row(STORE_FAILS,   (g.at_stage(_S.LOADING),),                           (m.stage(_S.AWAY),),    "J-29 J-32"),
    _row(REPLAY,        (g.at_stage(_S.LOADED), g.the_client(_C.HERE)),      (),                     "J-33"),
    _row(OPENED,        (g.at_stage(_S.LOADED), g.the_client(_C.HERE)),      (m.stage(_S.OPEN),),    "J-33 J-54"),
    _row(REFUSED,       (g.at_stage(_S.LOADED), g.the_client_leaves),        (m.end_session,),       "J-34"),

    # Prompts wait for the turn that is open, and the next one takes all of them.
    _refused(PROMPT, g.the_client_leaves,             _LEAVES,                         "J-35"),
    _refused(PROMPT, g.of_a_session_that_is_not_open, "there is no such session here", "J-06 J-54"),
    _row(PROMPT,   (),                                                       (m.queue,),         "J-57"),
    _row(BEGIN,    (g.at_stage(_S.OPEN), g.prompts_wait, g.no_turn_is_open), (m.begin_turn,),    "J-57"),
    _row(COMPLETE, (g.a_turn_is_open, g.not_stopped),                        (m.complete_turn,), "J-14 J-15"),
    _row(UNWIND,   (g.a_turn_is_open, g.stopped),                            (m.stop_turn,),     "J-14 J-19"),
    _row(FLUSHED,  (g.a_turn_has_ended,),                                    (m.settle_turn,),   "J-13"),
    _row(CANCEL,   (g.at_stage(_S.OPEN),),                                   (m.cancel,),        "J-19 J-21 J-22"),
    _row(CANCEL,   (),                                                       (),                 "J-20"),

    # Updates, then the answers that they belong to, then the updates of later turns.
    _row(SHOW,      (g.a_turn_is_open, g.nothing_is_due),                   (),               "J-25"),
    _row(SHOW_LATE, (g.something_is_due,),                                  (),               "J-57"),
    _row(HOLD,      (g.a_turn_is_open, g.no_update_is_due_last),            (m.hold_update,), "J-57"),
    _row(ANSWER,    (g.in_phase(_P.DROPPED),),                              (m.answer,),      "J-13 J-21"),
    _row(ANSWER,    (g.in_phase(_P.SETTLED), g.no_update_is_due_before_it), (m.answer,),      "J-13 J-57"),

    # An end, whoever began it: what is queued is dropped, what runs unwinds, then it is gone.
    _refused(CLOSE, g.the_client_leaves, _LEAVES,                         "J-35"),
    _refused(CLOSE, g.not_open,          "there is no such session here", "J-54 J-58"),
    _row(CLOSE,      (g.no_close_waits,),                                      (m.end_session, m.close_waits), "J-58"),
    _row(LEAVE,      (g.at_stage(_S.ENDING), g.no_turn_is_open),               (m.stage(_S.LEFT),),            "J-38 J-58"),
    _row(FREE,       (g.at_stage(_S.LEFT), g.no_prompt_of_it_is_unanswered),   (m.stage(_S.AWAY),),            "J-58"),
    _row(CLOSED,     (g.a_close_waits, g.over),                                (m.close_answered,),            "J-58"),
    _row(DISCONNECT, (g.the_client(_C.HERE),),                                 (m.end_every_session, m.client_leaving), "J-36"),
    _row(OVER,       (g.the_client(_C.LEAVING), g.every_session_is_away, g.nobody_waits_for_an_answer),
                                                                               (m.client_gone,),               "J-36 J-38"),
)
# fmt: on
"""What can happen. Of the rows of one event the first that holds answers."""
