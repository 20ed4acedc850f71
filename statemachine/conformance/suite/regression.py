"""A failure as a test file that shows it again."""

import hashlib
from pathlib import Path

from .story import Broken

__all__ = ["write_candidate"]

_FILE = '''\
"""{invariant}, found by a random suite.

Expected: {expected}.
Seen: {seen}.
"""

{imports}
from statemachine.conformance.suite.examination import Examination


def test_candidate() -> None:
    """Rename this for what broke, move it to `tests/regressions`, and it stays."""
    with Examination({call}) as play:
        {body}
'''


def write_candidate(folder: Path, broken: Broken, subject_name: str, *, inside: bool) -> Path:
    """Write a test file that does it again, and return its path.

    The same failure is written into the same file.
    """
    module, _, maker = (subject_name or "runtime.subject:make_subject").partition(":")
    imports = f"from {module} import {maker}"
    call = maker
    if inside:
        call += ", inside=True"
    script = [line for line in broken.script if not line.startswith("play.finish")]
    script.append("play.finish()")
    text = _FILE.format(
        invariant=broken.violation.invariant,
        expected=broken.violation.expected,
        seen=broken.violation.seen,
        imports=imports,
        call=call,
        body="\n        ".join(script),
    )
    digest = hashlib.sha256("\n".join(script).encode()).hexdigest()[:8]
    path = folder / f"test_{broken.violation.invariant.lower().replace('-', '_')}_{digest}.py"
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
