"""The bridge between an editor that speaks the Agent Client Protocol and this runtime.

The protocol's own SDK routes and checks messages (extra `acp`). Below it stands a line transport of
ours, above it a bridge that keeps one promise: what a client is told has happened, and when the
client goes, whatever it opened goes.

Importing this package does not import the SDK, which takes about a second; `serve` does.
"""

__all__: list[str] = []
