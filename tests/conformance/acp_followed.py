"""Clients of the bridge on the stage, held to the bridge world instead of to oracles."""

from typing import Any

from attrs import define, field

from runtime.acp.bridge import Bridge
from statemachine.worlds import Follower
from statemachine.worlds.bridge import State, View
from tests.conformance.acp_clients import MemoryWire
from tests.conformance.acp_following import FOLLOWER, Following, watched
from tests.conformance.acp_world import World

__all__ = ["FollowedWorld"]

Frame = dict[str, Any]


@define(eq=False)
class _ToldWire(MemoryWire):
    """A wire that tells a follower what is written, as it is written."""

    following: Following = field(kw_only=True)

    def write(self, data: bytes) -> None:
        """See `Wire`."""
        super().write(data)
        self.following.written(self.written[-1])


@define(eq=False)
class FollowedWorld(World):
    """One runtime and one client after the other, each held to the bridge world.

    Whatever the oracles would say, here the world alone judges.
    """

    follower: Follower[State, View] = FOLLOWER
    following: Following = field(init=False)

    def open(self) -> None:
        """Open the runtime, and connect the first client."""
        super().open()
        # Every text that a model says has to name its turn.
        del self.stage.model_answers["max-tokens"]

    def connect(self) -> None:
        """Connect a client, in the place of one that has gone."""
        super().connect()
        self.stage.loop.monitor = self.following.judge

    def make_wire(self) -> MemoryWire:
        """Make the wire of the next client, and what follows it."""
        self.following = Following(
            stage=self.stage, runtime=self.runtime, count=self.count, follower=self.follower
        )
        return _ToldWire(following=self.following)

    def bridge(self) -> type[Bridge]:
        """Return what serves the next client."""
        return watched(super().bridge(), lambda: self.following)

    def has_room(self, session: str | None = None, *, prompts: int = 0) -> bool:
        """Say whether the bounds of the world leave room."""
        following = self.following
        return following.has_room(session) and following.prompts_left >= prompts

    def request(self, method: str, **params: object) -> Frame:
        """Return a request with an id of its own, which is about to be said."""
        frame = super().request(method, **params)
        self.following.said(frame)
        return frame

    def permit(self, number: int, option: str) -> None:
        """Answer a question of the agent."""
        self.following.permitted()
        super().permit(number, option)

    def gone(self) -> None:
        """Bring the end of a client to rest."""
        self.rest()
        self.count.gone += 1

    def shut(self) -> None:
        """Close the stage."""
        broken = self.following.broken
        self.stage.loop.monitor = None
        self.broken = None if broken is None else str(broken)
        super().shut()

    def _check(self, is_so: bool, why: str, row: str = "INV-15") -> None:  # noqa: FBT001  # as the plain one
        pass
