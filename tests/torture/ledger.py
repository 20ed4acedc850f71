"""What the victims of one store relied on, and whether it is there."""

from collections import defaultdict
from collections.abc import Iterator

from attrs import define, field

from runtime.errors import StorageError, UnknownIdError
from runtime.session.places import DiskBackend
from runtime.session.records import Record
from runtime.session.repair import repair

from .victim import SESSIONS, checksum

__all__ = ["Ledger"]


@define(eq=False)
class Ledger:
    """Everything that was said about one store, over the lives of all who wrote it."""

    tried: dict[str, dict[int, set[int]]] = field(factory=lambda: defaultdict(dict))
    """The checksums of every record that was ever handed to the store, by session and seq."""
    latest: dict[str, dict[int, int]] = field(factory=lambda: defaultdict(dict))
    """The checksum of the last one that was."""
    relied: dict[str, dict[int, int]] = field(factory=lambda: defaultdict(dict))
    """The checksum of each record that has to be there."""
    statements: int = 0
    torn: int = 0
    """Torn tails that were found."""
    open_turns: int = 0
    """Sessions that were found with an open turn."""

    def hear(self, line: str) -> None:
        """Take in one statement of a victim."""
        self.statements += 1
        what, session_id, *numbers = line.split(" ")
        first, *rest = map(int, numbers)
        if what == "tried":
            (number,) = rest
            self.tried[session_id].setdefault(first, set()).add(number)
            self.latest[session_id][first] = number
            return
        latest, relied = self.latest[session_id], self.relied[session_id]
        for seq in range(len(relied), first):
            relied[seq] = latest[seq]

    def faults(self, backend: DiskBackend) -> Iterator[str]:
        """Read what is stored and name everything that is wrong with it."""
        for session_id in SESSIONS:
            try:
                stored = backend.read(session_id)
            except UnknownIdError:
                records: tuple[Record, ...] = ()
            except StorageError as error:
                yield f"damaged: {error}"
                continue
            else:
                records = stored.records
                self.torn += stored.torn is not None
                self.open_turns += bool(repair(records))
            yield from self._compare(session_id, records)

    def _compare(self, session_id: str, records: tuple[Record, ...]) -> Iterator[str]:
        found = {each.seq: checksum(each) for each in records}
        for seq, number in self.relied[session_id].items():
            if found.get(seq) != number:
                yield f"lost: record {seq} of session {session_id}, which was relied on"
        for seq, number in found.items():
            if number not in self.tried[session_id].get(seq, ()):
                yield f"invented: record {seq} of session {session_id}"
