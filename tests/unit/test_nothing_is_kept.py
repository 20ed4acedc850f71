"""What an agent's end and a resume leave behind: nothing that grows."""

import pytest

from runtime.persistence import PERSISTENCE
from tests.unit.stored import StoredScene, store_of


def effects(scene: StoredScene) -> list[str]:
    """Return the names of what the two owners of every agent hold."""
    owners = (scene.rt.context.fiber, scene.rt.driver)
    return [effect.name for owner in owners for effect in owner.effects]


@pytest.mark.clause("F-38", "G-38", "E-33")
def test_resumes_and_ends_leave_nothing_with_their_owners() -> None:
    """However often, the fibers and the keeper hold what they held before."""
    with StoredScene(store_of("A"), agents=()) as scene:
        before = effects(scene)
        persistence = scene.rt.context.get(PERSISTENCE)
        assert persistence is not None
        for _ in range(3):
            agent = scene.resume()
            assert [each for each in effects(scene) if "resume" in each] == []
            scene.dispose()
            scene.settle()
            assert effects(scene) == before
            assert persistence.release(agent.session) is None
