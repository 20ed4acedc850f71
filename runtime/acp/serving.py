"""One client, from its first line until nothing of it is left."""

from collections.abc import Callable
from typing import cast

from acp import Agent, run_agent

from runtime.assembly import Runtime
from runtime.limits import DEFAULT_LIMITS, Limits

from .bridge import Bridge, bridge_plugin
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
    transport.on_end = bridge.aclose
    fiber = rt.context.plugin(bridge_plugin(bridge))
    await fiber
    try:
        # Closing sessions is part of the protocol; this SDK still calls it unstable.
        await run_agent(cast("Agent", bridge), transport, use_unstable_protocol=True)
    finally:
        await fiber.dispose()
