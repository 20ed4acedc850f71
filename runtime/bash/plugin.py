"""The plugin that provides the executor, and ends everything it runs when it goes."""

from collections.abc import Iterator

from runtime.context import Context, Disposer, Plugin
from runtime.limits import DEFAULT_LIMITS, Limits
from runtime.ports import Identifiers, SystemIdentifiers, SystemProcesses
from runtime.processes import Processes

from .executor import LocalBash
from .resolving import BashConfig
from .seam import BASH, BASH_FINISHED

__all__ = ["bash_plugin"]


def bash_plugin(
    *,
    limits: Limits = DEFAULT_LIMITS,
    processes: Processes | None = None,
    identifiers: Identifiers | None = None,
) -> Plugin[BashConfig]:
    """Return the plugin that provides `BASH`; its configuration is a `BashConfig` or None.

    Args:
        limits: the bounds of commands.
        processes: stands in for those of the operating system.
        identifiers: stands in for random UUIDs.

    Clauses: H-41 H-43
    """
    runs = processes or SystemProcesses()
    names = identifiers or SystemIdentifiers()

    def apply(context: Context, config: BashConfig) -> None:
        executor = LocalBash(
            config=config,
            limits=limits,
            processes=runs,
            announce=lambda notice: context.emit(BASH_FINISHED, notice),
            incarnation=LocalBash.new_incarnation(names),
        )

        def parts() -> Iterator[Disposer]:
            # Undone from the end: first nobody finds it any more, then it ends what it runs.
            yield executor.close
            yield context.provide(BASH, executor)

        context.effect(parts, name="bash executor")

    return Plugin(name="bash", apply=apply, validate=_validate)


def _validate(config: object) -> BashConfig:
    if config is None:
        return BashConfig()
    if not isinstance(config, BashConfig):
        raise TypeError(f"give a BashConfig or None, not {type(config).__name__}")
    return config
