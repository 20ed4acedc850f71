"""The live sessions: prepared, entered, announced, reserved, and taken out again."""

from collections.abc import Iterator
from typing import Any

import pytest

from runtime import (
    CallerError,
    DuplicateIdError,
    InvalidContentError,
    InvalidRecordError,
    Session,
    Sessions,
)
from runtime.limits import DEFAULT_LIMITS
from runtime.session.records import Record
from tests.unit.test_log import new_log, whole_turn

from .clocks import SetClock


@pytest.fixture
def told() -> list[Session]:
    """What `session/created` was announced of."""
    return []


@pytest.fixture
def sessions(told: list[Session]) -> Sessions:
    """A store without sessions."""
    return Sessions(SetClock(), DEFAULT_LIMITS, told.append, _ignore, _nothing)


def _ignore(_session_id: str) -> None:
    """Announce nothing."""


async def _nothing(_session_id: str) -> None:
    """End no jobs."""


def seed() -> tuple[Record, ...]:
    """Return the records of one turn."""
    log = new_log()
    whole_turn(log)
    return tuple(log.events)


@pytest.mark.clause("D-33", "D-30", "D-31")
@pytest.mark.seed("SEED-37")
def test_a_prepared_session_is_nowhere(sessions: Sessions, told: list[Session]) -> None:
    """It has its header and its seed; the store and the listeners have not heard of it."""
    log = sessions.prepare("s", cwd="/home", seed=seed(), parent="first")
    header = log.session.header
    assert (header.id, header.cwd, header.parent) == ("s", "/home", "first")
    assert (header.seed_length, header.created_ms) == (6, 1_000)
    assert tuple(log.events) == seed()
    assert sessions.get("s") is None
    assert sessions.list() == ()
    assert told == []


@pytest.mark.clause("D-33", "D-34", "D-62")
@pytest.mark.parametrize(
    ("session_id", "options", "error", "said"),
    [
        ("", {}, CallerError, "its id is ''"),
        (None, {}, CallerError, "its id is None"),
        (7, {}, CallerError, "its id is 7"),
        ("\ud800", {}, InvalidContentError, "the id of session"),
        ("s", {"cwd": "here"}, CallerError, "cwd 'here' is not absolute"),
        ("s", {"cwd": ""}, CallerError, "its cwd is ''"),
        ("s", {"cwd": 7}, CallerError, "its cwd is 7"),
        ("s", {"cwd": "/\udc80"}, InvalidContentError, "the cwd of session 's'"),
        ("s", {"parent": ""}, CallerError, "its parent is ''"),
        ("s", {"parent": object}, CallerError, "its parent is"),
        ("s", {"parent": "\ud800"}, InvalidContentError, "the parent of session 's'"),
        ("s", {"seed": None}, CallerError, "its seed is None"),
        ("s", {"seed": 7}, CallerError, "its seed is 7"),
        ("s", {"seed": "record"}, InvalidRecordError, "seed record 0 is a str, no record"),
        ("s", {"seed": [{}]}, InvalidRecordError, "seed record 0 is a dict, no record"),
        ("s", {"seed": (*seed(), None)}, InvalidRecordError, "seed record 6 is a NoneType"),
        ("s", {"seed": seed()[1:]}, InvalidRecordError, "seed record 0 has seq 1, not 0"),
        ("s", {"seed": seed()[:3] + seed()[4:]}, InvalidRecordError, "record 3 has seq 4, not 3"),
        ("s", {"seed": (*seed(), *seed())}, InvalidRecordError, "record 6 has seq 0, not 6"),
    ],
)
def test_what_is_no_session_is_refused(
    sessions: Sessions, session_id: str, options: dict[str, Any], error: type[Exception], said: str
) -> None:
    """By the name of what is wrong, and the id stays free."""
    with pytest.raises(error, match=said):
        sessions.prepare(session_id, **options)
    sessions.enter(sessions.prepare("s"))


@pytest.mark.clause("D-62", "D-28")
def test_a_seed_that_raises_leaves_nothing(sessions: Sessions) -> None:
    """A generator of records is asked once, and its failure is the caller's."""

    def broken() -> Iterator[Record]:
        yield seed()[0]
        raise OSError("the other disk")

    with pytest.raises(OSError, match="the other disk"):
        sessions.prepare("s", seed=broken())
    assert sessions.list() == ()


@pytest.mark.clause("D-35", "D-36")
@pytest.mark.seed("SEED-37")
def test_entering_announces_nothing_and_announcing_announces_once(
    sessions: Sessions, told: list[Session]
) -> None:
    """So that whoever is told can look it up."""
    log = sessions.prepare("s")
    sessions.enter(log)
    assert told == []
    assert sessions.get("s") is log.session
    sessions.announce(log)
    assert told == [log.session]


@pytest.mark.clause("D-34", "D-35")
def test_the_id_is_checked_when_it_is_prepared_and_again_when_it_is_entered(
    sessions: Sessions,
) -> None:
    """A stale one is refused, and what lives is untouched."""
    stale, log = sessions.prepare("s"), sessions.prepare("s")
    sessions.enter(log)
    with pytest.raises(DuplicateIdError, match="'s' refused"):
        sessions.prepare("s")
    with pytest.raises(DuplicateIdError, match="'s' refused"):
        sessions.enter(stale)
    assert sessions.list() == (log.session,)


@pytest.mark.clause("D-35", "D-39", "F-38")
@pytest.mark.seed("SEED-37")
def test_detaching_takes_out_that_session_and_never_another_of_its_id(sessions: Sessions) -> None:
    """However late it comes, and however often."""
    first = sessions.prepare("s")
    detach = sessions.enter(first)
    detach()
    assert sessions.list() == ()
    second = sessions.prepare("s")
    sessions.enter(second)
    detach()
    assert sessions.get("s") is second.session


@pytest.mark.clause("E-23", "F-38")
def test_a_reserved_id_is_taken_and_only_its_holder_frees_it(sessions: Sessions) -> None:
    """A reservation that is over frees nothing that came after it."""
    free = sessions.reserve("s")
    stale = sessions.rebuild(new_log().session.header, ())
    for act in (
        lambda: sessions.prepare("s"),
        lambda: sessions.reserve("s"),
        lambda: sessions.enter(stale),
    ):
        with pytest.raises(DuplicateIdError, match="being resumed"):
            act()
    free()
    again = sessions.reserve("s")
    free()
    with pytest.raises(DuplicateIdError, match="being resumed"):
        sessions.prepare("s")
    again()
    sessions.enter(sessions.prepare("s"))
    with pytest.raises(DuplicateIdError, match="a live agent"):
        sessions.reserve("s")


@pytest.mark.clause("D-31", "F-12", "D-49")
def test_a_rebuilt_session_keeps_its_header(sessions: Sessions) -> None:
    """The length of the seed is not that of what was stored."""
    header = sessions.prepare("s", seed=seed()).session.header
    longer = new_log(seed=seed())
    whole_turn(longer)
    log = sessions.rebuild(header, longer.events)
    assert log.session.header is header
    assert (header.seed_length, len(log.events)) == (6, 12)
    assert log.session.messages() == longer.session.messages()
