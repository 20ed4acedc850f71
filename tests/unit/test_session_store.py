"""The store of live sessions: prepare, enter, announce, detach, each by itself."""

from typing import TYPE_CHECKING

import pytest

from runtime.errors import CallerError, DuplicateIdError, InvalidRecordError
from runtime.limits import DEFAULT_LIMITS
from runtime.session.records import Record
from runtime.session.store import Sessions

from .clocks import SetClock

if TYPE_CHECKING:
    from runtime.session.log import Session

pytestmark = pytest.mark.seed("SEED-37")


class Store:
    """A store, and the sessions that it announced."""

    def __init__(self) -> None:
        self.told: list[Session] = []
        self.sessions = Sessions(SetClock(7), DEFAULT_LIMITS, self.told.append)


@pytest.mark.clause("D-33", "D-30")
def test_a_prepared_session_is_nobodys_yet() -> None:
    """It has its header, is not in the store, keeps its id free and is not announced."""
    store = Store()
    log = store.sessions.prepare("s", cwd="/tmp", parent="p")  # noqa: S108  # a name only
    header = log.session.header
    assert (header.id, header.created_ms, header.cwd, header.parent) == ("s", 7, "/tmp", "p")  # noqa: S108  # a name only
    assert store.sessions.list() == ()
    assert store.sessions.get("s") is None
    store.sessions.prepare("s")
    assert store.told == []


@pytest.mark.clause("D-34", "D-33")
def test_what_cannot_be_a_session_is_not_prepared() -> None:
    """A taken id, a relative directory, a seed with a gap: each error says which."""
    store = Store()
    store.sessions.enter(store.sessions.prepare("s"))
    with pytest.raises(DuplicateIdError, match="session 's' refused"):
        store.sessions.prepare("s")
    with pytest.raises(CallerError, match=r"cwd 'here' is not absolute"):
        store.sessions.prepare("t", cwd="here")
    log = store.sessions.prepare("t")
    gap = Record(3, 0, "turn/start", log.append("turn/start", {"turn": 1, "trigger": {}}).data)
    with pytest.raises(InvalidRecordError, match="seed record 0 has seq 3"):
        store.sessions.prepare("u", seed=[gap])
    assert [each.id for each in store.sessions.list()] == ["s"]


@pytest.mark.clause("D-35")
def test_a_session_enters_if_its_id_is_still_free() -> None:
    """Of two that were prepared one enters, unannounced, and the other leaves it alone."""
    store = Store()
    first, second = store.sessions.prepare("s"), store.sessions.prepare("s")
    store.sessions.enter(first)
    with pytest.raises(DuplicateIdError, match="session 's' refused"):
        store.sessions.enter(second)
    assert store.sessions.get("s") is first.session
    assert store.told == []


@pytest.mark.clause("D-35", "D-39")
def test_a_detach_takes_out_its_own_session_only() -> None:
    """A later session of the same id stays when the first one is detached once more."""
    store = Store()
    detach = store.sessions.enter(store.sessions.prepare("s"))
    detach()
    assert store.sessions.get("s") is None
    later = store.sessions.prepare("s")
    store.sessions.enter(later)
    detach()
    assert store.sessions.list() == (later.session,)


@pytest.mark.clause("D-36")
def test_a_session_is_announced_when_it_is_asked_for() -> None:
    """Once for each call, and by nothing else."""
    store = Store()
    log = store.sessions.prepare("s")
    detach = store.sessions.enter(log)
    store.sessions.announce(log)
    assert store.told == [log.session]
    detach()
    assert store.told == [log.session]
