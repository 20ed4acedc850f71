"""The demo with commands: a job, a reload, and a second session that may not touch it."""

import json
from pathlib import Path

import pytest

from .commands import needs_proc
from .talking import Talk

pytestmark = [pytest.mark.real, needs_proc]

JOB = "bash-2a97-1"


def calling(when: str, name: str, **arguments: object) -> dict[str, object]:
    """Return the line of a script that answers a prompt with one call, once."""
    call = {"call_id": when, "name": name, "arguments": arguments}
    return {"when": when, "tool_calls": [call], "repeat": 1}


START = {"command": "sleep 600", "description": "a server", "run_in_background": True}
SCRIPT = [
    calling("start", "bash", **START),
    calling("peep", "bash_output", job_id=JOB),
    calling("meddle", "bash_kill", job_id=JOB),
    calling("read", "bash_output", job_id=JOB),
    calling("end", "bash_kill", job_id=JOB),
    {"chunks": ["done"]},
]
REFUSED = f"job {JOB} refused: it belongs to another session"


@pytest.mark.clause("I-08", "I-13", "I-15", "I-27", "I-31")
def test_a_job_of_one_session_in_two(tmp_path: Path) -> None:
    """Its turn ends, the tools are reloaded, a stranger is refused, the owner reads and kills."""
    script = tmp_path / "script.jsonl"
    script.write_text("\n".join(json.dumps(line) for line in SCRIPT), encoding="utf-8")
    with Talk("demo", "--tools", "bash", f"--model=scripted:{script}") as talk:
        for line, said in (
            ("start", f"| {JOB}\nidle\n"),
            ("/reload", "the tools were reloaded\n"),
            ("/session other", "session other\n"),
            ("peep", "which alone may read or kill it\nidle\n"),
            ("meddle", "which alone may read or kill it\nidle\n"),
            ("/session demo", "session demo\n"),
            ("read", "| (no new output)\n| [running]\nidle\n"),
            ("end", "What it wrote can be read with bash_output.\nidle\n"),
            ("/quit", "error: the commands are /reload and /session NAME\n"),
        ):
            talk.say(f"{line}\n")
            talk.hear(notes=said)
        talk.say_no_more()
        assert talk.end() == 0
        assert talk.notes.count(REFUSED) == 2
        assert f"| Job {JOB} was ended: killed by SIGTERM.\n" in talk.notes
        assert f"| Background job {JOB} has finished: killed by SIGTERM." in talk.notes
        assert talk.answers == "done\n" * 5
