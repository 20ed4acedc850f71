"""Kill a process at random instants, thousands of times, and look for what is lost.

    python -m tests.torture [--kills N] [--seed S] [--lying]

Each store lives through many victims (`victim`): every one resumes what the one before left, works
and is killed. After each kill the store is read by somebody who was not there: what was relied on
must be there, and nothing that was never appended (`ledger`). The last victim of a store is not
killed: it resumes, closes everything, and leaves balanced sessions.

A kill takes the process and leaves the system, so this says nothing about a loss of power: that
what is written is synced before it is acknowledged is shown elsewhere, by failing syncs.

Exit status: 0 if nothing was lost, 1 if anything was.
"""

import argparse
import asyncio
import os
import random
import selectors
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from attrs import define, field

from runtime.session.places import backend_at
from runtime.session.repair import repair

from .ledger import Ledger
from .victim import SESSIONS, live

STORES: Final = ("s.db", "s.jsonl")
LIVES: Final = 20
"""Victims of one store, at most."""
DELAYS_S: Final = (0.02, 0.1, 0.4)
"""How long a victim lives at most; some die before they do anything, some do everything."""
WITHIN_S: Final = 120.0


@define(eq=False)
class Tally:
    """What happened to the stores of one kind."""

    kills: int = 0
    ends: int = 0
    """Victims that had done everything before they could be killed."""
    statements: int = 0
    records: int = 0
    torn: int = 0
    open_turns: int = 0
    faults: list[str] = field(factory=list)

    def add(self, ledger: Ledger) -> None:
        """Add what became of one store."""
        self.statements += ledger.statements
        self.records += sum(map(len, ledger.relied.values()))
        self.torn += ledger.torn
        self.open_turns += ledger.open_turns

    def __str__(self) -> str:
        return (
            f"{self.kills} kills, {self.ends} ends, {self.statements} statements, {self.records} "
            f"records relied on, {self.open_turns} open turns and {self.torn} torn tails found: "
            f"{len(self.faults)} faults"
        )


def main() -> int:
    """Torture stores of both kinds, say what came of it, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    parser.add_argument("--kills", type=int, default=1_000, help="of both kinds (default: 1000)")
    parser.add_argument("--seed", type=int, default=None, help="repeats what is random but timing")
    parser.add_argument("--lying", action="store_true", help="plant a store that lies")
    chosen = parser.parse_args()
    seed = random.randrange(10**9) if chosen.seed is None else chosen.seed
    print(f"torture: {chosen.kills} kills, seed {seed}")
    chance = random.Random(seed)
    lives = min(LIVES, max(1, chosen.kills // len(STORES)))
    tallies = {name: Tally() for name in STORES}
    while sum(each.kills for each in tallies.values()) < chosen.kills:
        for name, tally in tallies.items():
            torture(name, tally, chance, lives, is_lying=chosen.lying)
            print(f"  {name:<8} {tally}", flush=True)
    faults = [fault for tally in tallies.values() for fault in tally.faults]
    for fault in faults[:20]:
        print(f"  {fault}")
    print(f"torture: {len(faults)} faults" if faults else "torture: nothing was lost")
    return 1 if faults else 0


def torture(name: str, tally: Tally, chance: random.Random, lives: int, *, is_lying: bool) -> None:
    """Lead one store through its lives; its last victim is not killed, and tells no lies."""
    ledger = Ledger()
    with TemporaryDirectory() as directory:
        store = Path(directory) / name
        for life in range(lives + 1):
            limit_s = chance.uniform(0, chance.choice(DELAYS_S)) if life < lives else WITHIN_S
            victim = Victim(store, chance.randrange(10**9), is_lying=is_lying and life < lives)
            # Opening takes longer than any turn, and most kills shall hit turns.
            is_killed = victim.kill_after(limit_s, is_born=chance.random() < 0.2)
            for line in victim.statements():
                ledger.hear(line)
            tally.kills += is_killed
            tally.ends += not is_killed
            tally.faults += ledger.faults(backend_at(store))
        tally.faults += _unbalanced(store)
    tally.add(ledger)


class Victim:
    """One process, which is heard until it is killed or has ended."""

    def __init__(self, store: Path, seed: int, *, is_lying: bool) -> None:
        reading, writing = os.pipe()
        # A copy of this process has everything imported, so there is time to kill it often.
        self._process = os.fork()
        if self._process == 0:
            os.close(reading)
            status = 3
            try:
                asyncio.run(live(store, writing, seed, is_lying=is_lying))
                status = 0
            finally:
                if status:
                    traceback.print_exc()
                os._exit(status)
        os.close(writing)
        self._reading = reading
        self._heard = b""

    def kill_after(self, limit_s: float, *, is_born: bool) -> bool:
        """Kill it after a time, and return whether it had not ended by itself.

        Args:
            limit_s: the time.
            is_born: whether that counts from its birth, and not from its first statement.
        """
        with selectors.DefaultSelector() as selector:
            selector.register(self._reading, selectors.EVENT_READ)
            has_ended = not is_born and not self._listen(selector, WITHIN_S)
            ends = time.monotonic() + limit_s
            while not has_ended and time.monotonic() < ends:
                has_ended = not self._listen(selector, max(0.0, ends - time.monotonic()))
            os.kill(self._process, signal.SIGKILL)
            _, status = os.waitpid(self._process, 0)
            # What it had still said when it died.
            while not has_ended:
                has_ended = not self._listen(selector, WITHIN_S)
        os.close(self._reading)
        assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "a victim failed by itself"
        return os.WIFSIGNALED(status)

    def statements(self) -> list[str]:
        """Return what it said; a statement that it could not finish counts as not made."""
        return self._heard.decode().split("\n")[:-1]

    def _listen(self, selector: selectors.BaseSelector, within_s: float) -> bool:
        """Hear what it says, for at most a time; False if it will never say anything any more."""
        if not selector.select(within_s):
            return True
        heard = os.read(self._reading, 65536)
        self._heard += heard
        return bool(heard)


def _unbalanced(store: Path) -> Iterator[str]:
    backend = backend_at(store)
    for session_id in SESSIONS:
        stored = backend.read(session_id)
        if stored.torn or repair(stored.records):
            yield f"unbalanced: session {session_id} after everything was closed"
    yield from backend.problems()


if __name__ == "__main__":
    sys.exit(main())
