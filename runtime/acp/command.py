"""The program `quiesce-acp`: an agent on standard input and output, for an editor to start."""

import argparse
import asyncio
import gc
import logging
import signal
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress

from runtime.assembly import Runtime, open_runtime
from runtime.bash import bash_plugin, bash_tools_plugin
from runtime.context import Proceed
from runtime.errors import LifecycleError, StorageError
from runtime.limits import DEFAULT_LIMITS
from runtime.model import EchoModel, Model
from runtime.ports import has_process_groups
from runtime.scripted import ScriptedModel, ScriptError
from runtime.seams import TOOL_BEFORE, Ask, Permit, ToolVerdict
from runtime.tools import ToolUse

from .stdio import StandardWire, take_standard_streams

__all__ = ["describe_acp", "main", "run_acp"]

_BAD = 2
_OPEN_WITHIN_S = 30.0
_SCRIPTED = "scripted:"
_WITHOUT_SDK = "the protocol's SDK is not installed; pip install 'quiesce[acp]'"


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve one client on standard input and output; return the exit status."""
    parser = argparse.ArgumentParser(prog="quiesce-acp")
    describe_acp(parser)
    return run_acp(parser.parse_args(arguments))


def describe_acp(parser: argparse.ArgumentParser) -> None:
    """Say what the program does and takes."""
    parser.description = (
        "Serve a client of the Agent Client Protocol, such as an editor, on standard input and "
        "output. Notes go to standard error. When the client goes - its input ends, its output "
        "breaks, SIGTERM or SIGINT - everything that it opened ends, and then the program."
    )
    parser.epilog = "Exit status: 0 when the client has gone, 2 for a bad command, script or store."
    parser.add_argument(
        "--store",
        metavar="PATH",
        help="where sessions survive: a database, or a folder of JSON Lines; without it they end "
        "with the client, and none can be loaded",
    )
    parser.add_argument(
        "--model",
        default="echo",
        metavar="echo|scripted:FILE",
        help="what answers: `echo` repeats the prompt, `scripted:FILE` reads its answers from a "
        "file (default: echo)",
    )
    parser.add_argument(
        "--tools",
        choices=["bash"],
        help="`bash` lets the model run commands; the client is asked before each",
    )
    parser.add_argument("--yes", action="store_true", help="run tools without asking the client")


def run_acp(chosen: argparse.Namespace) -> int:
    """Serve as an argument parser was told; return the exit status."""
    if not has_process_groups():
        print("quiesce-acp: it runs on Linux and macOS only", file=sys.stderr)
        return _BAD
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(name)s: %(message)s")
    try:
        model = _model(chosen.model)
        asyncio.run(_serve(chosen, model))
    except (ScriptError, LifecycleError) as error:
        print(f"quiesce-acp: {error}", file=sys.stderr)
        return _BAD
    except ModuleNotFoundError as error:
        if error.name != "acp":
            raise
        print(f"quiesce-acp: {_WITHOUT_SDK}", file=sys.stderr)
        return _BAD
    return 0


def _model(text: str) -> Model:
    if text == "echo":
        return EchoModel()
    if not text.startswith(_SCRIPTED) or text == _SCRIPTED:
        raise ScriptError(f"--model {text!r} is neither echo nor scripted:FILE")
    return ScriptedModel.from_file(text.removeprefix(_SCRIPTED))


async def _serve(chosen: argparse.Namespace, model: Model) -> None:
    source, sink = take_standard_streams()
    wire = StandardWire(source, sink, DEFAULT_LIMITS)
    try:
        async with AsyncExitStack() as stack:
            await _serve_within(stack, chosen, model, wire)
        await wire.flush(DEFAULT_LIMITS.abort_grace_s)
    finally:
        wire.close()


async def _serve_within(
    stack: AsyncExitStack, chosen: argparse.Namespace, model: Model, wire: StandardWire
) -> None:
    """Open a runtime, which the stack closes, and serve the client, unless it goes before that."""
    loop = asyncio.get_running_loop()
    opening = asyncio.timeout(_OPEN_WITHIN_S)

    def end() -> None:
        wire.end()
        # Refused when everything has been opened.
        with suppress(RuntimeError):
            opening.reschedule(loop.time())

    for number in (signal.SIGTERM, signal.SIGINT):
        # They stay until the loop is closed: an impatient Ctrl-C must not break into the end.
        loop.add_signal_handler(number, end)
    # Slow, so behind the signals: one that comes meanwhile ends this in good order.
    from .serving import serve  # noqa: PLC0415  # see above

    # What the SDK is made of stays: no collection has to look through it while a client waits.
    gc.freeze()
    runtime = open_runtime(store=chosen.store, models={"acp": model}, default_model="acp")
    try:
        async with opening:
            rt = await stack.enter_async_context(runtime)
    except TimeoutError as error:
        if wire.is_ended:
            return
        why = f"{chosen.store} was not opened within {_OPEN_WITHIN_S:g} s; is its disk there?"
        raise StorageError(why) from error
    if chosen.tools == "bash":
        await _load_bash(rt, asks=not chosen.yes)
    await serve(rt, wire)


async def _load_bash(rt: Runtime, *, asks: bool) -> None:
    await rt.context.plugin(bash_plugin())
    await rt.context.plugin(bash_tools_plugin())
    if asks:
        rt.context.on(TOOL_BEFORE, _ask_first)


async def _ask_first(use: ToolUse, proceed: Proceed[ToolVerdict]) -> ToolVerdict:
    """Ask before a command; looking at a job and ending one harm nobody."""
    verdict = await proceed()
    if use.name != "bash" or not isinstance(verdict, Permit):
        return verdict
    return Ask("May this command run?")
