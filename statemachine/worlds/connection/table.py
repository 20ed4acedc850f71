"""The connection world as a table: what can happen, in which circumstance, and what it does.

Theory. A request is a call, then waiting, then looking again, then telling, then an answer; and a
teardown may begin before, between and behind any two of them. So each step looks at the world as it
is then, and nothing that it learned before it waited is believed afterwards. What a request took it
gives back by object on every way out. An agent is owned before anybody hears of it, and a request
whose caller has gone disposes what it got before it is answered.

Code that was called and has not returned - the listener of an announcement - may call again, but no
task runs before it returns. Tasks are the store's answer, the request going on, the driver and the
teardown.
"""

from typing import Final

from statemachine.worlds.driver import Driver
from statemachine.worlds.rows import Actor, Event, Guard, Move, Row

from . import guards as g
from . import moves as m
from .state import Connection, End, Fiber, Phase, State

__all__ = [
    "CALLS", "CANCEL_DRIVER", "CLOSE", "CLOSED", "CREATE", "DISCONNECT", "DISPOSE", "EVENTS",
    "FAIL", "GIVE_UP", "GO_ON", "LEAVE", "LOAD", "OPENED", "OVER", "RETURNS", "SEND", "SETTLE",
    "SLOTTED", "STORE_ANSWERS", "STORE_FAILS", "TABLE", "UNLOAD_OWNER", "UNLOAD_PROVIDER",
    "UNREGISTER", "UNWIND_OWNER", "UNWIND_PROVIDER", "WHOLE",
]  # fmt: skip

_A = Actor
CREATE: Final = Event("create", _A.OUTSIDE)
LOAD: Final = Event("load", _A.OUTSIDE)
GIVE_UP: Final = Event("the caller gives up", _A.OUTSIDE, needs_loop=True)
STORE_ANSWERS: Final = Event("the store answers", _A.STORE, needs_loop=True)
STORE_FAILS: Final = Event("the store fails", _A.STORE, needs_loop=True)
GO_ON: Final = Event("the load goes on", _A.REQUEST, needs_loop=True)
OPENED: Final = Event("the session was announced", _A.STRETCH)
RETURNS: Final = Event("the agent was announced", _A.STRETCH)
SETTLE: Final = Event("the request is settled", _A.REQUEST, needs_loop=True)
FAIL: Final = Event("the request fails at last", _A.REQUEST, needs_loop=True)
CLOSE: Final = Event("close", _A.OUTSIDE)
CLOSED: Final = Event("the close is answered", _A.REQUEST, needs_loop=True)
DISPOSE: Final = Event("dispose", _A.OUTSIDE)
SEND: Final = Event("send", _A.OUTSIDE)
CANCEL_DRIVER: Final = Event("a stranger cancels the driver", _A.OUTSIDE, needs_loop=True)
# Of the outside, because nobody promises that a model stops asking for steps.
REST: Final = Event("the driver parks", _A.OUTSIDE, needs_loop=True)
EXIT: Final = Event("the driver exits", _A.DRIVER, needs_loop=True)
UNREGISTER: Final = Event("the agent is unregistered", _A.TEARDOWN, needs_loop=True)
LEAVE: Final = Event("the session is detached", _A.TEARDOWN, needs_loop=True)
RELEASE: Final = Event("the lease is given back", _A.STORE, needs_loop=True)
RESOLVE: Final = Event("the teardown resolves", _A.TEARDOWN, needs_loop=True)
DISCONNECT: Final = Event("disconnect", _A.OUTSIDE)
OVER: Final = Event("the connection is over", _A.TEARDOWN, needs_loop=True)
UNLOAD_OWNER: Final = Event("unload the owner", _A.OUTSIDE)
UNWIND_OWNER: Final = Event("the owner unwinds", _A.TEARDOWN, needs_loop=True)
OWNER_GONE: Final = Event("the owner is gone", _A.TEARDOWN, needs_loop=True)
UNLOAD_PROVIDER: Final = Event("unload the provider", _A.OUTSIDE)
UNWIND_PROVIDER: Final = Event("the provider unwinds", _A.TEARDOWN, needs_loop=True)
PROVIDER_GONE: Final = Event("the provider is gone", _A.TEARDOWN, needs_loop=True)

CALLS: Final = (CREATE, LOAD)
SLOTTED: Final = (
    GIVE_UP, STORE_ANSWERS, STORE_FAILS, GO_ON, OPENED, RETURNS, SETTLE, FAIL, CLOSE, CLOSED,
    DISPOSE, SEND, CANCEL_DRIVER, REST, EXIT, UNREGISTER,
    LEAVE, RELEASE, RESOLVE,
)  # fmt: skip
WHOLE: Final = (
    DISCONNECT, OVER, UNLOAD_OWNER, UNWIND_OWNER, OWNER_GONE, UNLOAD_PROVIDER, UNWIND_PROVIDER,
    PROVIDER_GONE,
)  # fmt: skip
EVENTS: Final = (*CALLS, *SLOTTED, *WHOLE)

_Guards = tuple[Guard[State], ...]
_Moves = tuple[Move[State], ...]


def _row(on: Event, when: _Guards, does: _Moves, clauses: str) -> Row[State]:
    return Row(on, when, does, None, tuple(clauses.split()))


def _refusals(on: Event) -> tuple[Row[State], ...]:
    """Return the rows that both kinds of call begin with: what is refused at the call."""
    rows = (
        (g.of_a_connection_that_ends, "the connection ends", "F-55"),
        (g.an_owner_unloads, "a fiber that would own the agent unloads", "F-24"),
        (g.the_agent_id_is_registered, "an agent with this id lives", "F-05"),
        (g.the_agent_id_is_reserved, "an agent with this id is being made", "F-05"),
        (g.the_session_is_live, "the session is live", "F-06 E-22"),
        (g.the_session_is_reserved, "the session is being loaded", "E-23"),
    )
    return tuple(Row(on, (guard,), (), why, tuple(cited.split())) for guard, why, cited in rows)


_P = Phase
_gives_back: Final[_Moves] = (m.give_up_reservation, m.give_up_name, m.refuse)
_opens: Final[_Moves] = (m.make_agent, m.own, m.stand)
_opening: Final[_Guards] = (g.in_phase(_P.OPENING), g.the_stretch_is_innermost)

# fmt: off
TABLE: Final = (
    *_refusals(CREATE),
    _row(CREATE, (), (m.reserve_name, m.enter, m.take_free_lease, *_opens), "F-05 F-06"),

    # A load takes both ids before it waits, so that nobody else can have them meanwhile.
    *_refusals(LOAD),
    _row(LOAD,          (),                                           (m.reserve_name, m.reserve, m.phase(_P.PENDING)),  "E-23"),
    _row(GIVE_UP,       (g.in_phase(_P.PENDING, _P.READ),),           _gives_back,                                       "F-52"),
    _row(STORE_ANSWERS, (g.in_phase(_P.PENDING), g.the_lease_is_free), (m.take_lease, m.phase(_P.READ)),                 "E-23"),
    _row(STORE_FAILS,   (g.in_phase(_P.PENDING),),                    _gives_back,                                       "F-09"),
    # It waited, so it looks again at who would own the agent.
    _row(GO_ON,         (g.in_phase(_P.READ), g.an_owner_unloads),    _gives_back,                                       "F-07 F-52"),
    _row(GO_ON,         (g.in_phase(_P.READ),),                       (m.give_up_reservation, m.enter, *_opens),         "F-07"),

    # Listeners of the session ran, and may have unloaded who would own the agent.
    _row(OPENED,  (*_opening, g.an_owner_unloads),                   (m.return_, m.detach, m.give_up_name, m.refuse),    "F-24 F-53"),
    _row(OPENED,  _opening,                                          (m.register, m.give_up_name, m.phase(_P.TOLD)),     "F-05"),
    _row(RETURNS, (g.in_phase(_P.TOLD), g.the_stretch_is_innermost), (m.return_, m.phase(_P.RETURNED)),                  "F-01"),

    # Whoever asked looks at what came back, and at itself.
    _row(SETTLE, (g.in_phase(_P.RETURNED), g.by_program),                (m.answer,),                       "F-01"),
    _row(SETTLE, (g.in_phase(_P.RETURNED), g.of_a_connection_that_ends), (m.dispose, m.phase(_P.FAILING)), "F-56"),
    _row(SETTLE, (g.in_phase(_P.RETURNED), g.stopped),                   (m.phase(_P.FAILING),),            "F-56"),
    _row(SETTLE, (g.in_phase(_P.RETURNED),),                             (m.answer,),                       "F-01"),
    _row(FAIL,   (g.in_phase(_P.FAILING), g.the_end(End.RESOLVED)),      (m.free,),                         "F-56"),

    # The agent, as far as its machine goes.
    _row(SEND,          (g.announced, g.the_driver(Driver.PARKED)), (m.wake,),          "A-02"),
    _row(REST,          (g.the_driver(Driver.BUSY),),               (m.go_on_driving,), "A-36"),
    _row(CANCEL_DRIVER, (g.the_driver(Driver.BUSY),),               (m.dispose,),       "F-40"),
    _row(EXIT,          (g.the_driver(Driver.UNWINDING),),          (m.go_on_driving,), "A-67"),

    # Its end: whoever began it, one order.
    _row(DISPOSE,    (g.held_by_program,),                                       (m.dispose,),                             "F-17 F-32"),
    _row(CLOSE,      (g.recorded, g.the_connection(Connection.OPEN)),            (m.dispose, m.phase(_P.CLOSING)),         "F-32"),
    _row(UNREGISTER, (g.the_end(End.STARTED), g.the_driver(Driver.EXITED)),      (m.unregister, m.unregistered),           "F-15"),
    _row(LEAVE,      (g.the_end(End.UNREGISTERED),),                             (m.detach, m.detached),                   "F-15"),
    _row(RELEASE,    (g.the_end(End.DETACHED), g.leased),                        (m.pass_lease_on,),                       "E-33"),
    _row(RESOLVE,    (g.the_end(End.DETACHED), g.unleased),                      (m.resolve,),                             "F-15"),
    _row(CLOSED,     (g.in_phase(_P.CLOSING), g.the_end(End.RESOLVED)),          (m.free,),                                "F-22"),

    # The client goes, or a plugin.
    _row(DISCONNECT,      (g.the_connection(Connection.OPEN),),                   (m.close_connection, m.dispose_records),                  "F-55"),
    _row(OVER,            (g.the_connection(Connection.CLOSING), g.no_request_is_served, g.no_close_waits, g.no_record_ends),
                                                                                  (m.connection_closed,),                                   "F-55"),
    _row(UNLOAD_OWNER,    (g.the_owner(Fiber.OPEN),),                             (m.owner_called,),                                        "F-23"),
    _row(UNWIND_OWNER,    (g.the_owner(Fiber.CALLED),),                           (m.close_connection, m.break_off_owned, m.dispose_owned, m.owner_unwound),  "F-23"),
    _row(OWNER_GONE,      (g.the_owner(Fiber.UNWOUND), g.the_connection(Connection.CLOSED)),
                                                                                  (m.owner_gone,),                                          "F-18 F-23"),
    _row(UNLOAD_PROVIDER, (g.the_provider(Fiber.OPEN),),                          (m.provider_called,),                                     "F-24"),
    _row(UNWIND_PROVIDER, (g.the_provider(Fiber.CALLED),),                        (m.break_off_all, m.dispose_driven, m.provider_unwound),                "F-24"),
    _row(PROVIDER_GONE,   (g.the_provider(Fiber.UNWOUND), g.nothing_driven_ends), (m.provider_gone,),                                       "F-18 F-24"),
)
# fmt: on
"""What can happen. Of the rows of one event the first that holds answers."""
