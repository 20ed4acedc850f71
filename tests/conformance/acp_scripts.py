"""Short conversations with the bridge, each with a race that a bridge can get wrong."""

from collections.abc import Callable
from typing import Final

from tests.conformance.acp_followed import FollowedWorld

__all__ = ["RACES", "SCRIPTS", "Act", "make_conversation"]

Act = Callable[[FollowedWorld], None]


def make_conversation(
    world: FollowedWorld, *, sessions: int = 1, is_stored: bool = False
) -> FollowedWorld:
    """Open the runtime and a client's sessions; stored, the only one was prompted and closed."""
    world.open()
    for _ in range(sessions):
        world.connection.wire.say(world.new())
        world.rest()
    if is_stored:
        (session,) = world.connection.sessions
        world.connection.wire.say(world.prompt(session))
        world.rest()
        world.connection.wire.say(world.close(session))
        world.rest()
    return world


def _quiet(world: FollowedWorld) -> None:
    """Run every callback there is; models and the disk wait."""
    world.stage.run_until_quiet()


# -- What a client says ----------------------------------------------------------------------------


def prompt(world: FollowedWorld) -> None:
    """Prompt the first session."""
    world.connection.wire.say(world.prompt(world.known[0]))


def cancel(world: FollowedWorld) -> None:
    """Cancel in the first session."""
    world.connection.wire.say(world.cancel(world.known[0]))


def close(world: FollowedWorld) -> None:
    """Close the first session."""
    world.connection.wire.say(world.close(world.known[0]))


def load(world: FollowedWorld) -> None:
    """Load the first session."""
    world.connection.wire.say(world.load(world.known[0]))


def new(world: FollowedWorld) -> None:
    """Ask for another session."""
    world.connection.wire.say(world.new())


def leave(world: FollowedWorld) -> None:
    """Go."""
    world.disconnect()


SCRIPTS: Final[dict[str, tuple[bool, tuple[tuple[Act, ...], ...]]]] = {
    "prompt-and-cancel": (False, ((prompt,), (cancel, prompt))),
    "prompts-and-cancel": (False, ((prompt, prompt), (cancel,))),
    "prompts-and-close": (False, ((prompt, prompt), (close,))),
    "prompt-and-leave": (False, ((prompt,), (leave,))),
    "close-and-leave": (False, ((prompt, close), (leave,))),
    "close-and-load": (False, ((close, load), (prompt,))),
    "load-and-leave": (True, ((load,), (leave,))),
    "load-and-prompt": (True, ((load, close), (prompt,))),
    "load-beside-new": (True, ((load,), (new, load))),
}
"""Whether the session was stored before, and what actors do at the same time."""


# -- Races, each in one order ----------------------------------------------------------------------


def a_cancel_of_a_turn(world: FollowedWorld) -> None:
    """Cancel what runs, and prompt again right behind it."""
    make_conversation(world)
    prompt(world)
    _quiet(world)
    cancel(world)
    prompt(world)
    world.rest()


def a_cancel_in_one_write(world: FollowedWorld) -> None:
    """Prompt, cancel and prompt before anything has run."""
    make_conversation(world)
    (session,) = world.known
    first, stop = world.prompt(session), world.cancel(session)
    world.connection.wire.say(first, stop, world.prompt(session))
    world.rest()


def a_cancel_of_one_session(world: FollowedWorld) -> None:
    """Cancel in one session while another one runs."""
    make_conversation(world, sessions=2)
    world.connection.wire.say(*map(world.prompt, world.known), world.prompt(world.known[1]))
    _quiet(world)
    cancel(world)
    world.rest()


def a_cancel_that_comes_too_late(world: FollowedWorld) -> None:
    """Cancel when the turn has ended and is being flushed."""
    make_conversation(world)
    prompt(world)
    _quiet(world)
    (gate,) = (each for each in world.stage.gates.open_gates if each.name == "model")
    world.stage.gates.open(gate, "ok")
    _quiet(world)
    cancel(world)
    world.rest()


def a_turn_right_behind_another(world: FollowedWorld) -> None:
    """Let a turn that asks nobody follow on one that waits."""
    make_conversation(world)
    prompt(world)
    _quiet(world)
    prompt(world)
    world.rest()


def a_close_of_a_busy_session(world: FollowedWorld) -> None:
    """Close while one prompt runs and another one waits."""
    make_conversation(world)
    prompt(world)
    _quiet(world)
    prompt(world)
    close(world)
    world.rest()


def a_prompt_to_a_session_that_is_loaded(world: FollowedWorld) -> None:
    """Prompt when the agent is there and the load may not be answered."""
    make_conversation(world, is_stored=True)
    load(world)
    while world.runtime.agents.get(world.known[0]) is None:
        world.stage.move()
    world.stage.tick(8)
    prompt(world)
    world.rest()


def a_session_that_is_resumed(world: FollowedWorld) -> None:
    """Go on with a session, and ask for nothing that was said in it."""
    make_conversation(world, is_stored=True)
    world.connection.wire.say(world.load(world.known[0], is_shown=False))
    world.rest()
    prompt(world)
    world.rest()


def a_client_that_goes_while_it_loads(world: FollowedWorld) -> None:
    """Go while the store is still reading."""
    make_conversation(world, is_stored=True)
    load(world)
    _quiet(world)
    leave(world)
    world.rest()


def a_client_that_goes_while_a_turn_runs(world: FollowedWorld) -> None:
    """Go in the middle of a turn, with a prompt behind it."""
    make_conversation(world)
    prompt(world)
    _quiet(world)
    prompt(world)
    _quiet(world)
    leave(world)
    world.rest()


def requests_for_what_is_not_there(world: FollowedWorld) -> None:
    """Ask for a session that nobody knows, and load one that is open."""
    make_conversation(world)
    nobody = "nobody"
    first, again = world.load(nobody), world.load(world.known[0])
    asked = (world.prompt(nobody), world.cancel(nobody), world.close(nobody))
    world.connection.wire.say(first, *asked, again)
    world.rest()


def a_load_that_comes_back_late(world: FollowedWorld) -> None:
    """End the bridge when the store has answered and the load has not gone on."""
    make_conversation(world, is_stored=True)
    load(world)
    while world.runtime.agents.get(world.known[0]) is None:
        world.stage.move()
    world.following.bridge.aclose()
    world.rest()


def requests_behind_the_end(world: FollowedWorld) -> None:
    """End the bridge in the middle of a turn, and go on asking."""
    make_conversation(world)
    prompt(world)
    _quiet(world)
    world.following.bridge.aclose()
    (session,) = world.known
    world.connection.wire.say(world.prompt(session), world.close(session), world.load("nobody"))
    new(world)
    world.rest()


RACES: Final[tuple[Act, ...]] = (
    a_cancel_of_a_turn,
    a_cancel_in_one_write,
    a_cancel_of_one_session,
    a_cancel_that_comes_too_late,
    a_turn_right_behind_another,
    a_close_of_a_busy_session,
    a_prompt_to_a_session_that_is_loaded,
    a_session_that_is_resumed,
    a_client_that_goes_while_it_loads,
    a_client_that_goes_while_a_turn_runs,
    requests_for_what_is_not_there,
    a_load_that_comes_back_late,
    requests_behind_the_end,
)
