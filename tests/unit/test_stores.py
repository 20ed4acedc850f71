"""What a runtime takes for a store, and what it refuses before anything runs."""

from types import SimpleNamespace
from typing import Final

import pytest

import runtime
from runtime import MemoryBackend, StorageError
from tests.unit.stored import Disk, StoredScene
from tests.unit.windows.scene import Scene


class _CannotBeOpened(MemoryBackend):
    def open(self) -> None:
        raise StorageError("it is of another version")


@pytest.mark.clause("E-50")
def test_a_store_that_cannot_be_used_is_refused_when_the_runtime_opens() -> None:
    """Nothing runs, and nothing is left."""
    scene = StoredScene(_CannotBeOpened())
    with pytest.raises(StorageError, match="another version"):
        scene.__enter__()
    scene.stage.__exit__(None, None, None)


@pytest.mark.clause("E-50")
@pytest.mark.parametrize("store", [7, object()])
def test_a_store_that_is_none_is_refused(store: object) -> None:
    """At the call, by name."""

    async def run() -> None:
        async with runtime.open_runtime(store=store):
            pass

    with Scene() as scene, pytest.raises(runtime.CallerError, match="store="):
        scene.stage.complete(run())


VERBS: Final = (
    "name",
    "open",
    "acquire",
    "release",
    "read",
    "begin",
    "append",
    "cut",
    "headers",
    "ids",
    "close",
)


@pytest.mark.clause("E-01")
@pytest.mark.parametrize("missing", [None, *VERBS])
def test_a_store_is_whatever_has_the_calls_of_one(missing: str | None) -> None:
    """It inherits nothing; without any one of them it is refused before it is touched."""
    memory = MemoryBackend()
    calls = {name: getattr(memory, name) for name in VERBS if name != missing}

    async def run() -> None:
        store = SimpleNamespace(**calls)
        async with runtime.open_runtime(store=store, blocking=Disk(scene.stage)) as rt:
            agent = rt.agents.create(agent_id="a").agent
            agent.send("A")
            await agent.when_idle()

    with Scene() as scene:
        if missing is not None:
            with pytest.raises(runtime.CallerError, match="give a path, a backend"):
                scene.stage.complete(run())
        else:
            scene.stage.complete(run())
    assert [each.header.id for each in memory.headers()] == ([] if missing else ["a"])
