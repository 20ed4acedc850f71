"""Directed programs, each as short as it gets, that show the faults planted in the runtime."""

from statemachine.conformance.suite.examination import Examination

__all__ = [
    "blocked_prompt",
    "broken_prompt",
    "cancelled_again_in_silence",
    "cancelled_in_silence",
    "cancelled_twice",
    "cancelled_while_streaming",
    "continued_although_stopped",
    "disposed_before_the_stream",
    "disposed_in_the_flush",
    "disposed_while_streaming",
    "failed_with_a_prompt_behind",
    "idle_cancel_then_turn",
    "injected_after_cancel",
    "queued_then_cancelled",
    "resent_inside_turn_start",
    "same_id",
    "sent_after_cancelled_prompt",
    "sent_inside_abort",
    "sent_inside_idle",
    "steered",
    "steered_after_cancel",
    "stopped_before_the_body",
    "stopped_between_prompts",
    "tool_called",
    "tool_cut",
    "two_agents",
    "two_prompts",
    "waited_for_in_silence",
    "waiter_of_cancelled_prompt",
]


def queued_then_cancelled(play: Examination) -> None:
    """Cancel what waits, and send again."""
    play.create()
    play.send()
    play.cancel(reason="stop")
    play.send()
    play.finish()


def idle_cancel_then_turn(play: Examination) -> None:
    """Cancel an agent that has nothing, and send."""
    play.create()
    play.cancel()
    play.send()
    play.finish()


def cancelled_while_streaming(play: Examination) -> None:
    """Cancel a turn whose model answers, while somebody waits for the agent."""
    play.create()
    play.send()
    play.when_idle()
    play.run_until_quiet()
    play.cancel(reason="stop")
    play.run_until_quiet()
    play.finish()


def cancelled_twice(play: Examination) -> None:
    """Cancel one turn with two reasons."""
    play.create()
    play.send()
    play.run_until_quiet()
    play.cancel(reason="stop")
    play.cancel(reason="again")
    play.finish()


def steered_after_cancel(play: Examination) -> None:
    """Steer while a cancelled turn unwinds."""
    play.create()
    play.send()
    play.run_until_quiet()
    play.cancel()
    play.steer()
    play.finish()


def injected_after_cancel(play: Examination) -> None:
    """Inject while a cancelled turn unwinds."""
    play.create()
    play.send()
    play.run_until_quiet()
    play.cancel()
    play.inject()
    play.finish()


def resent_inside_turn_start(play: Examination) -> None:
    """Cancel a turn and send anew while its start is told."""
    play.create()
    play.listen("turn/start", "cancel,send")
    play.send()
    play.drain()
    play.finish()


def sent_inside_abort(play: Examination) -> None:
    """Send from inside an abort callback."""
    play.create()
    play.send()
    play.run_until_quiet()
    play.listen("abort", "send")
    play.cancel()
    play.finish()


def sent_inside_idle(play: Examination) -> None:
    """Send from inside the announcement of `idle`."""
    play.create()
    play.listen("status idle", "send")
    play.send()
    play.drain()
    play.finish()


def waiter_of_cancelled_prompt(play: Examination) -> None:
    """Wait for a prompt that is cancelled before its turn."""
    play.create()
    play.when_idle()
    play.send()
    play.tick(1)
    play.cancel()
    play.finish()


def sent_after_cancelled_prompt(play: Examination) -> None:
    """Send when a prompt was cancelled before its turn."""
    play.create()
    play.send()
    play.cancel()
    play.drain()
    play.send()
    play.finish()


def two_prompts(play: Examination) -> None:
    """Send twice."""
    play.create()
    play.send()
    play.send()
    play.finish()


def steered(play: Examination) -> None:
    """Steer a running turn."""
    play.create()
    play.send()
    play.run_until_quiet()
    play.steer()
    play.finish()


def failed_with_a_prompt_behind(play: Examination) -> None:
    """Let a turn fail while a prompt waits behind it."""
    play.create()
    play.send()
    play.run_until_quiet()
    play.send()
    play.open_gate(0, "error")
    play.finish()


def disposed_while_streaming(play: Examination) -> None:
    """Dispose twice while a model answers and a prompt waits."""
    play.create()
    play.send()
    play.run_until_quiet()
    play.send()
    play.dispose()
    play.dispose()
    play.finish()


def disposed_before_the_stream(play: Examination) -> None:
    """Cancel a turn before its model is asked."""
    play.create()
    play.send()
    play.tick(1)
    play.cancel()
    play.finish()


def two_agents(play: Examination) -> None:
    """Dispose one of two agents."""
    play.create("a")
    play.create("b")
    play.dispose("a")
    play.finish()


def same_id(play: Examination) -> None:
    """Make a second agent under the id of the first."""
    play.create("a", "s1")
    play.create("a", "s2")
    play.finish()


# -- Interceptors and tools ------------------------------------------------------------------------


def stopped_between_prompts(play: Examination) -> None:
    """Cancel while an interceptor is asked about the first of two prompts."""
    play.create()
    play.intercept("prompt/submit")
    play.send()
    play.send()
    play.run_until_quiet()
    play.cancel()
    play.finish()


def blocked_prompt(play: Examination) -> None:
    """Block a prompt."""
    play.create()
    play.intercept("prompt/submit")
    play.send()
    play.run_until_quiet()
    play.answer("block")
    play.finish()


def broken_prompt(play: Examination) -> None:
    """Let an interceptor fail about the first of two prompts."""
    play.create()
    play.intercept("prompt/submit")
    play.send()
    play.send()
    play.run_until_quiet()
    play.answer("error")
    play.finish()


def tool_called(play: Examination) -> None:
    """Let the model call a tool, and the tool answer."""
    play.create()
    play.intercept("tool/body")
    play.send()
    play.run_until_quiet()
    play.answer("call")
    play.finish()


def stopped_before_the_body(play: Examination) -> None:
    """Cancel when the task of a tool's body has been made and has not run."""
    play.create()
    play.intercept("tool/body")
    play.send()
    play.run_until_quiet()
    play.answer("call")
    play.open_gate(0)
    while "tool/call" not in play.ledgers["a"].heard:
        play.tick()
    play.cancel()
    play.finish()


def tool_cut(play: Examination) -> None:
    """Cancel while a tool is at work, which does not end in time."""
    play.create()
    play.intercept("tool/body")
    play.send()
    play.run_until_quiet()
    play.answer("call")
    play.answer()
    play.cancel()
    play.silence()
    play.finish()


def continued_although_stopped(play: Examination) -> None:
    """Cancel while an interceptor is asked for another step, which it then wants."""
    play.create()
    play.intercept("turn/continue")
    play.send()
    play.run_until_quiet()
    play.answer()
    play.cancel()
    play.answer("continue")
    play.finish()


# -- Nobody outside answers any more, so that only graces end a wait -------------------------------


def cancelled_in_silence(play: Examination) -> None:
    """Cancel a turn that waits for its model, which says nothing more."""
    play.create()
    play.send()
    play.run_until_quiet()
    play.cancel()
    play.silence()
    play.finish()


def cancelled_again_in_silence(play: Examination) -> None:
    """Cancel again while the flush of the cancelled turn waits for nobody."""
    play.create()
    play.send()
    play.run_until_quiet()
    play.cancel()
    play.silence()
    play.run_until_quiet()
    play.cancel()
    play.finish()


def waited_for_in_silence(play: Examination) -> None:
    """Wait for an agent whose cancelled turn nobody makes durable."""
    play.create()
    play.send()
    play.when_idle()
    play.run_until_quiet()
    play.cancel()
    play.silence()
    play.finish()


def disposed_in_the_flush(play: Examination) -> None:
    """Dispose an agent that waits for a flush nobody answers."""
    play.create()
    play.send()
    play.run_until_quiet()
    play.answer()
    play.silence()
    play.dispose()
    play.finish()
