"""The plugin context: fibers, effects, services and the ways to call listeners."""

from .context import Context, Proceed, Subscription
from .effects import Effect
from .errors import (
    ConfigIssue,
    DuplicateServiceError,
    InactiveError,
    InvalidConfigError,
    InvalidEffectError,
    NotInjectedError,
)
from .fibers import Fiber
from .interceptors import AwaitedAnnouncement, Bail, Channels, Serial, Waterfall
from .parts import Disposer, EffectTree, Owned, Setup
from .plugins import Plugin
from .states import KEEP_CONFIG, FiberState
from .tokens import Provided, Token

__all__ = [
    "KEEP_CONFIG",
    "AwaitedAnnouncement",
    "Bail",
    "Channels",
    "ConfigIssue",
    "Context",
    "Disposer",
    "DuplicateServiceError",
    "Effect",
    "EffectTree",
    "Fiber",
    "FiberState",
    "InactiveError",
    "InvalidConfigError",
    "InvalidEffectError",
    "NotInjectedError",
    "Owned",
    "Plugin",
    "Proceed",
    "Provided",
    "Serial",
    "Setup",
    "Subscription",
    "Token",
    "Waterfall",
]
