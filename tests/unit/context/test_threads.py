"""What is refused when it comes from another thread than that of the loop."""

import pytest

from runtime.context import Context
from runtime.errors import CallerError

from .test_interceptors import ASKED, CHOSEN, MADE
from .test_listeners import SAID, SAVED


@pytest.mark.clause("G-73")
def test_a_dispatch_from_another_thread_is_refused(
    root: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is called there: listeners may count on the thread of the loop."""
    called: list[object] = []
    for kind in (SAID, ASKED, CHOSEN, MADE):
        root.on(kind, lambda *it: called.append(it))  # type: ignore[arg-type]  # any kind

    async def save(notice: str) -> None:
        called.append(notice)

    root.on(SAVED, save)
    monkeypatch.setattr("runtime.context.lives.thread_id", lambda: -1)
    for call in (
        lambda: root.emit(SAID, "hi"),
        lambda: root.bail(CHOSEN, "hi"),
        lambda: root.parallel(SAVED, "hi").send(None),
        lambda: root.serial(ASKED, "hi").send(None),
        lambda: root.waterfall(MADE, "hi", str).send(None),
    ):
        with pytest.raises(CallerError, match="call_soon_threadsafe"):
            call()
    assert called == []
