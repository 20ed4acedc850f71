"""One run of the verdict: every engine in order, then the table and the report."""

import sys
import time
from collections.abc import Callable
from pathlib import Path

from attrs import define, field, frozen

from statemachine.conformance.subject import MakeSubject, Offer

from .canaries import plant_canaries, planted_in_parts
from .evidence import Engine, Evidence
from .fuzzed import Fuzzer
from .loading import SubjectError, is_probed, load_subject, try_subject
from .parts import PartError, merge_parts
from .progress import Progress, quiet_runtimes
from .report import ReportError, as_report, clear_report, write_report
from .scenarios import search_scripts
from .specified import examine_specification, examine_surroundings
from .table import verdict_table
from .verdict import Exit, Judgement, judge

__all__ = ["Options", "verify"]

_DEVIATIONS = 2


@frozen(kw_only=True)
class Options:
    """What was asked for at the command line."""

    subject: str
    merge: Path | None = None
    level: str = "auto"
    seconds: float = 60.0
    profile: str = "ci"
    report: Path = Path("build/verification/report.json")
    is_strict: bool = False
    is_quiet: bool = False


def verify(options: Options) -> int:
    """Make the verdict, print it, write the report, and return the exit status."""
    started = time.perf_counter()
    progress = Progress(is_quiet=options.is_quiet)
    try:
        with quiet_runtimes():
            run = _Run.prepare(options, progress)
            evidence = run.gather()
        judgement = judge(evidence, owns_specification=evidence.is_refined)
        status = judgement.exit_status(is_strict=options.is_strict)
        about = {
            "subject": options.subject,
            "level": run.level,
            "exit_status": status,
            "seconds": round(time.perf_counter() - started, 3),
            "engine_seconds": progress.seconds,
        }
        write_report(options.report, as_report(judgement, **about))
    except (SubjectError, PartError, ReportError) as error:
        print(f"verify: {error}", file=sys.stderr)  # noqa: T201  # the command's own words
        return Exit.UNRELIABLE
    _tell(judgement, options)
    return status


@define
class _Run:
    """The engines of one run and what they work on."""

    options: Options
    progress: Progress
    make_subject: MakeSubject
    offers: frozenset[Offer]
    level: str
    parts: Evidence = field(factory=Evidence)

    @classmethod
    def prepare(cls, options: Options, progress: Progress) -> "_Run":
        """Read everything that can be wrong before anything takes time."""
        clear_report(options.report)
        make_subject = load_subject(options.subject)
        subject = try_subject(make_subject)
        level = options.level
        if level == "inside" and not is_probed(subject):
            raise SubjectError("level inside needs a subject with `probe`; say --level outside")
        if level == "auto":
            level = "inside" if is_probed(subject) else "outside"
        parts = merge_parts(options.merge) if options.merge else Evidence()
        return cls(
            options=options,
            progress=progress,
            make_subject=make_subject,
            offers=subject.offers,
            level=level,
            parts=parts,
        )

    def gather(self) -> Evidence:
        """Run every engine in order."""
        evidence = self._engine("explorer", "every reachable shape", examine_specification)
        evidence += self._engine("worlds", "what surrounds an agent", examine_surroundings)
        evidence += self._engine("schedules", f"up to {_DEVIATIONS} deviations", self._schedules)
        evidence += self._engine("suites", f"profile {self.options.profile}", self._suites)
        if self.options.seconds:
            evidence += self._engine("hunt", f"{self.options.seconds:g} s", self._hunt)
        else:
            evidence += Evidence(skipped={"hunt": "it was given 0 seconds"})
        return evidence + self.parts + self._engine("canaries", "planted faults", self._canaries)

    def _engine(self, name: str, what: str, run: Callable[[], Evidence]) -> Evidence:
        """Run one engine; one that fails itself makes the run unreliable and ends nothing."""
        with self.progress.running(name, what):
            try:
                return run()
            except Exception as error:
                reason = f"{type(error).__name__}: {error}"
                return Evidence(
                    skipped={name: reason}, failures=(f"the engine {name} failed: {reason}",)
                )

    def _schedules(self) -> Evidence:
        return search_scripts(
            self.make_subject,
            offers=self.offers,
            deviations=_DEVIATIONS,
            subject_name=self.options.subject,
            progress=lambda text: self.progress.say(f"  {text}"),
        )

    def _suites(self) -> Evidence:
        return self._fuzzer().run(self.options.profile, Engine.SUITES)

    def _hunt(self) -> Evidence:
        return self._fuzzer().run("hunt", Engine.HUNT, self.options.seconds)

    def _fuzzer(self) -> Fuzzer:
        return Fuzzer(
            make_subject=self.make_subject,
            name=self.options.subject,
            is_inside=self.level == "inside",
            candidates=self.options.report.parent / "candidates",
        )

    def _canaries(self) -> Evidence:
        found = [*plant_canaries(self.make_subject), *self._fuzzer().canaries()]
        if self.options.merge:
            found.append(planted_in_parts(self.parts.faults))
        return Evidence(canaries=tuple(found))


def _tell(judgement: Judgement, options: Options) -> None:
    """Print the stories, then the table: what matters most stands last, where people look."""
    lines = [f"\n--- {story}" for story in judgement.evidence.stories]
    if not judgement.owns_specification:
        lines += [
            "",
            f"{options.subject} is judged from outside: its decisions were not compared with the",
            "explored machine, or differ; no row rests on what was found about the specification",
        ]
    lines += ["", *verdict_table(judgement, is_coloured=sys.stdout.isatty())]
    lines.append(f"report: {options.report}")
    print("\n".join(lines))  # noqa: T201  # the command's own words
