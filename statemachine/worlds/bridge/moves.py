"""What a row of this world may do: small changes, each to a session, to its prompts or to one."""

from collections.abc import Callable

from statemachine.worlds.rows import Move

from .state import UPDATE, Client, Outcome, Phase, Prompt, Stage, State

__all__ = ["stage"]


def _move(make: Callable[[State, int], State]) -> Move[State]:
    return Move(make.__name__.strip("_"), make)


def stage(to: Stage) -> Move[State]:
    """Return the move of a session to another stage."""
    return Move(
        f"session {to}",
        lambda state, at: state.put_session(at, state.sessions[at]._replace(stage=to)),
    )


def _each(state: State, session: int, change: Callable[[Prompt], Prompt]) -> State:
    """Return the state in which all prompts of a session have changed."""
    prompts = (
        change(prompt) if prompt is not None and prompt.session == session else prompt
        for prompt in state.prompts
    )
    return state._replace(prompts=tuple(prompts))


# -- Sessions --------------------------------------------------------------------------------------


@_move
def close_waits(state: State, at: int) -> State:
    return state.put_session(at, state.sessions[at]._replace(is_closing=True))


@_move
def close_answered(state: State, at: int) -> State:
    return state.put_session(at, state.sessions[at]._replace(is_closing=False))


@_move
def end_session(state: State, at: int) -> State:
    """Dispose the agent: what is queued will never run, and what runs unwinds."""
    return stage(Stage.ENDING).make(_each(state, at, _dropped), at)


def _dropped(prompt: Prompt) -> Prompt:
    if prompt.phase is not Phase.QUEUED:
        return prompt
    return prompt._replace(phase=Phase.DROPPED, outcome=Outcome.CANCELLED)


@_move
def end_every_session(state: State, _: int) -> State:
    for at, session in enumerate(state.sessions):
        if session.stage is Stage.OPEN:
            state = end_session.make(state, at)
    return state


# -- The prompts of a session ----------------------------------------------------------------------


@_move
def cancel(state: State, at: int) -> State:
    """Decide every prompt that is not decided; nobody who cancels waits for a flush."""
    return _each(state, at, _cancelled)


def _cancelled(prompt: Prompt) -> Prompt:
    match prompt.phase:
        case Phase.QUEUED:
            return _dropped(prompt)
        case Phase.RUNNING:
            return prompt._replace(outcome=Outcome.CANCELLED)
        case Phase.ENDED:
            return prompt._replace(phase=Phase.SETTLED)
        case _:
            return prompt


@_move
def begin_turn(state: State, at: int) -> State:
    """Take everything that is queued into one turn."""
    return _each(state, at, lambda prompt: _from(prompt, Phase.QUEUED, Phase.RUNNING))


@_move
def settle_turn(state: State, at: int) -> State:
    return _each(state, at, lambda prompt: _from(prompt, Phase.ENDED, Phase.SETTLED))


def _from(prompt: Prompt, before: Phase, after: Phase) -> Prompt:
    return prompt._replace(phase=after) if prompt.phase is before else prompt


def _end_turn(outcome: Outcome) -> Callable[[State, int], State]:
    def make(state: State, at: int) -> State:
        session = state.sessions[at]
        ended = tuple(place for place, prompt in state.of(at) if prompt.phase is Phase.RUNNING)
        state = state.put_session(at, session._replace(due=(*session.due, *ended)))
        return _each(state, at, lambda prompt: _decided(prompt, outcome))

    return make


def _decided(prompt: Prompt, outcome: Outcome) -> Prompt:
    if prompt.phase is not Phase.RUNNING:
        return prompt
    is_open = prompt.outcome is Outcome.UNDECIDED
    return Prompt(prompt.session, Phase.ENDED, outcome if is_open else prompt.outcome)


complete_turn = Move("complete turn", _end_turn(Outcome.TURN))
stop_turn = Move("stop turn", _end_turn(Outcome.CANCELLED))


# -- What is shown ---------------------------------------------------------------------------------


@_move
def hold_update(state: State, at: int) -> State:
    session = state.sessions[at]
    return state.put_session(at, session._replace(due=(*session.due, UPDATE)))


# -- One prompt ------------------------------------------------------------------------------------


@_move
def queue(state: State, at: int) -> State:
    return state.put(at, state.prompt(at)._replace(phase=Phase.QUEUED))


@_move
def answer(state: State, at: int) -> State:
    """Answer a prompt, and show what had to wait for that."""
    place = state.prompt(at).session
    session = state.sessions[place]
    due = tuple(each for each in session.due if each != at)
    while due[:1] == (UPDATE,):
        due = due[1:]
    return state.put_session(place, session._replace(due=due)).put(at, None)


# -- The client ------------------------------------------------------------------------------------


def _client(to: Client) -> Move[State]:
    return Move(f"client {to}", lambda state, _: state._replace(client=to))


client_leaving, client_gone = map(_client, (Client.LEAVING, Client.GONE))
