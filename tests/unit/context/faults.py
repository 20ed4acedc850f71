"""Faults that the scenes of the context find; the random suite has more of them."""
# ruff: noqa: SLF001  # faults are planted inside

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest
from attrs import validators

from runtime.context import (
    KEEP_CONFIG,
    Context,
    Effect,
    Fiber,
    FiberState,
    InvalidConfigError,
    InvalidEffectError,
    NotInjectedError,
    Token,
    Waterfall,
    effects,
    fibers,
    guests,
    interceptors,
    lives,
    services,
)
from runtime.context.endings import Findings
from runtime.context.interceptors import Channels, Kind, Listening
from runtime.context.parts import Call, Part
from runtime.limits import Limits
from runtime.teardown import Teardown


def nothing(*_: object, **__: object) -> None:
    """Do nothing."""


# -- Effects ---------------------------------------------------------------------------------------


def anything_is_a_disposer(patch: pytest.MonkeyPatch) -> None:
    """What an effect gives back is taken, or overlooked."""
    collect = Effect._collect

    def lenient(effect: Effect, disposer: object) -> None:
        try:
            collect(effect, disposer)
        except InvalidEffectError:
            return

    patch.setattr(Effect, "_collect", lenient)


def siblings_first_to_last(patch: pytest.MonkeyPatch) -> None:
    """The end of a fiber begins with what was registered first."""
    patch.setattr(lives, "reversed", iter, raising=False)


def each_call_disposes(patch: pytest.MonkeyPatch) -> None:
    """A second dispose of an effect is an end of its own."""
    dispose = Effect.dispose

    def again(effect: Effect) -> Teardown:
        effect._ending = None
        return dispose(effect)

    patch.setattr(Effect, "dispose", again)


def nothing_is_adopted(patch: pytest.MonkeyPatch) -> None:
    """What an effect yields stays where it was, and is only called."""
    collect = Effect._collect

    def call(effect: Effect, disposer: Any) -> None:  # noqa: ANN401  # whatever a plugin gave back
        if isinstance(disposer, Part):
            effect._parts[Call(disposer.name, disposer.dispose)] = None
        else:
            collect(effect, disposer)

    patch.setattr(Effect, "_collect", call)


def disposers_are_not_contained(patch: pytest.MonkeyPatch) -> None:
    """What a disposer raises goes wherever it likes."""

    def exposed(call: Callable[..., object], *args: object, **_: str) -> None:
        call(*args)

    patch.setattr(effects, "contain", exposed)


def dead_fibers_register(patch: pytest.MonkeyPatch) -> None:
    """Whoever is late registers all the same."""
    patch.setattr(lives.Life, "check_open", nothing)


def a_set_up_is_cut(patch: pytest.MonkeyPatch) -> None:
    """An effect that is disposed is undone, whether it is set up or not."""
    dispose = Effect.dispose

    def at_once(effect: Effect) -> Teardown:
        effect._is_up = True
        return dispose(effect)

    patch.setattr(Effect, "dispose", at_once)


def late_effects_forgotten(patch: pytest.MonkeyPatch) -> None:
    """Only what a plugin sets up while it loads is undone."""
    add = lives.Life.add

    def add_early(life: lives.Life, part: Part) -> None:
        if life.fiber.is_loading or life.parent is None:
            add(life, part)

    patch.setattr(lives.Life, "add", add_early)


def nobody_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    """What has ended by itself is still held by its owners."""
    patch.setattr(Effect, "forget", nothing)


def unawaited_failures_are_lost(patch: pytest.MonkeyPatch) -> None:
    """A set-up fails, and nobody is blamed."""
    patch.setattr(lives.Life, "blame", nothing)


def reports_are_not_joined(patch: pytest.MonkeyPatch) -> None:
    """What went wrong in a part is not in the report of the whole."""
    patch.setattr(Findings, "take", nothing)


def nobody_has_a_grace(patch: pytest.MonkeyPatch) -> None:
    """What hangs is waited for."""
    patch.setattr(guests.Guest, "hurry", nothing)


def a_load_has_all_the_time(patch: pytest.MonkeyPatch) -> None:
    """What is not wanted any more is loaded to its end."""
    patch.setattr(Fiber, "_hurry", nothing)


# -- Fibers ----------------------------------------------------------------------------------------


def nothing_is_missing(patch: pytest.MonkeyPatch) -> None:
    """A plugin is loaded whether its services are there or not."""
    patch.setattr(Fiber, "missing", ())


def configurations_are_not_checked(patch: pytest.MonkeyPatch) -> None:
    """A plugin is applied with whatever it was given."""
    patch.setattr(fibers, "checked_config", lambda _, config: config)


def plugins_are_not_checked(patch: pytest.MonkeyPatch) -> None:
    """A plugin may be made of anything."""
    patch.setattr("attr._config._run_validators", False)
    assert validators.get_disabled()


def a_dispose_acts_later(patch: pytest.MonkeyPatch) -> None:
    """A dispose is a request for some later pass of the loop."""

    def later(fiber: Fiber) -> Teardown:
        if fiber._ending is None:
            fiber._ending = fiber._make_end(fiber.name)
            fiber.kernel.loop.call_soon(fiber.advance)
        return fiber._ending

    patch.setattr(Fiber, "dispose", later)


def refused_and_unloaded(patch: pytest.MonkeyPatch) -> None:
    """A configuration that is refused costs the instance that worked."""
    restart = Fiber.restart

    def hasty(fiber: Fiber, config: object = KEEP_CONFIG) -> Teardown:
        try:
            return restart(fiber, config)
        except InvalidConfigError:
            restart(fiber)
            raise

    patch.setattr(Fiber, "restart", hasty)


def old_contexts_live(patch: pytest.MonkeyPatch) -> None:
    """A context reads its services, however often its fiber was loaded since."""
    patch.setattr(Fiber, "is_current", lambda *_: True)


def any_thread_will_do(patch: pytest.MonkeyPatch) -> None:
    """Nobody asks from which thread a call comes."""
    patch.setattr(lives.Kernel, "check_thread", nothing)


def failed_for_good(patch: pytest.MonkeyPatch) -> None:
    """A plugin that has failed once is never loaded again."""
    advance = Fiber.advance

    def rest(fiber: Fiber) -> None:
        if fiber.state is FiberState.FAILED and fiber._ending is None:
            fiber._come_to_rest(FiberState.FAILED)
        else:
            advance(fiber)

    patch.setattr(Fiber, "advance", rest)


def an_extension_is_a_scope_of_the_root(patch: pytest.MonkeyPatch) -> None:
    """What is registered through an extended context lives as long as the application."""

    def extend(context: Context, label: str) -> Context:
        life = context._life
        while life.parent is not None:
            life = life.parent
        return type(context)(life, label)

    patch.setattr(Context, "extend", extend)


def an_unload_takes_services_along(patch: pytest.MonkeyPatch) -> None:
    """Who unloads lets go what it used, and everybody else loses it."""
    close = lives.Life.close

    def close_all(life: lives.Life) -> None:
        close(life)
        for provision in life.resolved.values():
            provision.depart()

    patch.setattr(lives.Life, "close", close_all)


# -- Services --------------------------------------------------------------------------------------


def need_is_a_look_up(patch: pytest.MonkeyPatch) -> None:
    """`need` returns what is there, like `get`."""
    patch.setattr(lives.Life, "need", lambda life, name: life.kernel.services.get(name))


def get_is_a_demand(patch: pytest.MonkeyPatch) -> None:
    """`get` raises like `need`."""
    patch.setattr(Context, "get", Context.need)


def the_root_is_like_others(patch: pytest.MonkeyPatch) -> None:
    """The root reads what it injects, which is nothing."""
    need = lives.Life.need

    def strict(life: lives.Life, name: str) -> object:
        if life.parent is None:
            raise NotInjectedError(name)
        return need(life, name)

    patch.setattr(lives.Life, "need", strict)


def the_last_provider_wins(patch: pytest.MonkeyPatch) -> None:
    """A service that is provided again is another one."""
    enter = services.Services.enter

    def overwrite(
        self: services.Services,
        token: Token[object],
        value: object,
        life: lives.Life,
    ) -> services.Provision:
        self._provisions.pop(token.name, None)
        return enter(self, token, value, life)

    patch.setattr(services.Services, "enter", overwrite)


# -- Listeners -------------------------------------------------------------------------------------


def one_listener_starves_the_others(patch: pytest.MonkeyPatch) -> None:
    """The first listener that raises is the last one that is told."""

    def exposed(listener: Callable[..., object], *args: object, **_: str) -> None:
        listener(*args)

    patch.setattr(interceptors, "contain", exposed)


def everybody_is_asked(patch: pytest.MonkeyPatch) -> None:
    """`serial` asks on, although somebody has answered."""

    async def serial(self: Channels, kind: Kind, argument: object) -> object:
        answers = [
            await interceptors._outcome(one.listener(argument)) for one in self._present(kind)
        ]
        return next((answer for answer in answers if answer is not None), None)

    patch.setattr(Channels, "serial", serial)


def parallel_is_one_after_the_other(patch: pytest.MonkeyPatch) -> None:
    """The first failure of a parallel dispatch is its end."""

    async def parallel(self: Channels, kind: Kind, notice: object, _: object = None) -> None:
        for one in self._present(kind):
            await one.listener(notice)

    patch.setattr(Channels, "parallel", parallel)


def nobody_may_leave_out_the_rest(patch: pytest.MonkeyPatch) -> None:
    """What a waterfall lies around happens, whatever its listeners say."""
    waterfall = Channels.waterfall

    async def eager(
        self: Channels,
        kind: Waterfall[object, object],
        argument: object,
        body: Callable[[object], object],
    ) -> object:
        await interceptors._outcome(body(argument))
        return await waterfall(self, kind, argument, body)

    patch.setattr(Channels, "waterfall", eager)


def everybody_stands_behind(patch: pytest.MonkeyPatch) -> None:
    """A listener stands where it was registered, also one that is prepended."""
    enter = Channels.enter

    def last(self: Channels, kind: Kind, listening: Listening, *, prepend: bool) -> None:
        del prepend
        enter(self, kind, listening, prepend=False)

    patch.setattr(Channels, "enter", last)


def a_dispatch_sees_newcomers(patch: pytest.MonkeyPatch) -> None:
    """Who registers during a dispatch is called in it."""
    patch.setattr(Channels, "_present", lambda self, kind: self._listeners.get(kind.name, []))


def any_listener_will_do(patch: pytest.MonkeyPatch) -> None:
    """A listener that nobody could call rightly is registered."""
    patch.setattr(interceptors, "_check_listener", nothing)


def nesting_is_not_counted(patch: pytest.MonkeyPatch) -> None:
    """Announcements nest deeper than the limit."""
    init = Channels.__init__
    patch.setattr(
        Channels, "__init__", lambda self, _: init(self, Limits(nested_announcements_max=50))
    )


def proceeding_is_free(patch: pytest.MonkeyPatch) -> None:
    """A waterfall's listener may proceed as often, and as late, as it likes."""

    def chain(
        listeners: tuple[Listening, ...],
        argument: Any,  # noqa: ANN401  # passed on
        body: Callable[[Any], Any],
    ) -> Callable[[], Coroutine[Any, Any, object]]:
        async def run() -> object:
            if not listeners:
                return await interceptors._outcome(body(argument))
            proceed = chain(listeners[1:], argument, body)
            return await interceptors._outcome(listeners[0].listener(argument, proceed))

        return run

    def waterfall(
        self: Channels,
        kind: Kind,
        argument: Any,  # noqa: ANN401  # passed on
        body: Callable[[Any], Any],
    ) -> Awaitable[object]:
        return chain(self._present(kind), argument, body)()

    patch.setattr(Channels, "waterfall", waterfall)
