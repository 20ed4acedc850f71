"""One client, from its first line until nothing of it is left."""

from collections.abc import Callable
from typing import cast

from acp import Agent, run_agent

from runtime.application import AGENTS, AppContext
from runtime.assembly import Runtime
from runtime.context import Plugin
from runtime.limits import DEFAULT_LIMITS, Limits
from runtime.teardown import Teardown
from runtime.tools import TOOLS

from .bridge import Bridge
from .frames import Frame
from .transport import LineTransport, Wire

__all__ = ["serve"]


async def serve(
    rt: Runtime,
    wire: Wire,
    *,
    limits: Limits = DEFAULT_LIMITS,
    make_bridge: Callable[[Callable[[Frame], None], Limits], Bridge] = Bridge,
) -> None:
    """Serve one client until it has gone; then none of its sessions is left.

    Args:
        rt: the runtime whose agents it talks to.
        wire: where its lines come from and go to; whoever made it closes it.
        limits: bound its lines and the waits at its end.
        make_bridge: makes the bridge; tests look on here.

    Clauses: J-36 J-38 J-40
    """
    transport = LineTransport(wire, limits)
    bridge = make_bridge(transport.put, limits)
    bridge.drain, transport.on_end = wire.drain, bridge.aclose
    fiber = rt.context.plugin(_plugin_of(bridge))
    await fiber
    try:
        # Closing sessions is part of the protocol; this SDK still calls it unstable.
        await run_agent(cast("Agent", bridge), transport, use_unstable_protocol=True)
    finally:
        await fiber.dispose()


def _plugin_of(bridge: Bridge) -> Plugin[None]:
    """Return the plugin that a bridge's agents belong to; unloaded, it takes them along.

    Clauses: J-41
    """

    def apply(context: AppContext, _: None) -> Callable[[], Teardown]:
        bridge.attach(context)
        return bridge.aclose

    return Plugin(name="acp", apply=apply, inject=(AGENTS, TOOLS))
