"""One schedule of one built-in script, run again on a subject and told."""

import sys

from statemachine.conformance.stage.schedules import ScheduleDiverged, replay

from .loading import SubjectError, load_subject, try_subject
from .outside import Tally
from .progress import quiet_runtimes
from .scenarios import FIRST_IN_FIRST_OUT, SCRIPTS
from .verdict import Exit

__all__ = ["replay_script"]


def replay_script(subject: str, script: str, schedule: str) -> int:
    """Print how a script fails under a schedule; return 1 if it does, 0 if not, 2 if it cannot."""
    found = next((each for each in SCRIPTS if each.name == script), None)
    if found is None:
        names = ", ".join(repr(each.name) for each in SCRIPTS)
        return _refuse(f"there is no script {script!r}; the scripts are {names}")
    text = "" if schedule == FIRST_IN_FIRST_OUT else schedule
    try:
        make_subject = load_subject(subject)
        missing = found.needs - try_subject(make_subject).offers
        if missing:
            return _refuse(f"the subject does not offer {', '.join(sorted(missing))}")
        with quiet_runtimes():
            failure = replay(found.on(make_subject, Tally()), text)
    except (SubjectError, ScheduleDiverged, ValueError) as error:
        return _refuse(str(error))
    if failure is None:
        print(f"{script}: nothing is wrong under this schedule")  # noqa: T201  # the answer
        return Exit.HOLDS
    print(failure)  # noqa: T201  # the answer
    return Exit.BROKEN


def _refuse(why: str) -> int:
    print(f"replay: {why}", file=sys.stderr)  # noqa: T201  # the command's own words
    return Exit.UNRELIABLE
