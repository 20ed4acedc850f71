"""The question whether a tool may run, put to the client."""

import asyncio
from typing import Final

from acp import Client, text_block, tool_content
from acp.schema import AllowedOutcome, PermissionOption, ToolCallUpdate

from runtime.containment import log_failure
from runtime.seams import PermissionRequest
from runtime.session.content import thaw

from .sessions import OpenSession
from .updates import call_title, call_update

__all__ = ["ask_client"]

_ALLOW: Final = "allow"
_OPTIONS: Final = [
    PermissionOption(option_id=_ALLOW, name="Allow", kind="allow_once"),
    PermissionOption(option_id="reject", name="Reject", kind="reject_once"),
]


async def ask_client(client: Client, session: OpenSession, request: PermissionRequest) -> bool:
    """Ask, and wait for the answer, the end of the turn or the end of the client.

    Everything but an allowance is a no.

    Clauses: J-54 J-59
    """
    use = request.use
    title, kind = call_title(session.tools, use.name, use.raw_arguments)
    call = ToolCallUpdate(
        tool_call_id=use.call_id,
        title=title,
        kind=kind,
        status="pending",
        raw_input=thaw(use.arguments),
        content=[tool_content(text_block(request.question))],
    )
    question = client.request_permission(
        session_id=session.id, tool_call=call, options=list(_OPTIONS)
    )
    asking = asyncio.ensure_future(question)

    def give_up() -> None:
        asking.cancel()

    use.signal.on_abort(give_up)
    try:
        await asyncio.wait((asking,))
    finally:
        asking.cancel()
    if asking.cancelled():
        return False
    error = asking.exception()
    if error is not None:
        log_failure(error, f"the client did not answer about call {use.call_id}")
        return False
    outcome = asking.result().outcome
    is_allowed = isinstance(outcome, AllowedOutcome) and outcome.option_id == _ALLOW
    if is_allowed:
        session.show(call_update(use.call_id, "in_progress"))
    return is_allowed
