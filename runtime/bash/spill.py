"""Files for output that is too much for the memory; private, bounded, and gone with the executor.

A file is a convenience. Whatever goes wrong with one - no room, no permission, a full disk - it is
given up and named no more, and the command it belongs to is none the worse for it.
"""

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO

from attrs import define, field

from runtime.containment import log_failure

__all__ = ["Spill", "SpillFolder"]


@define(eq=False)
class SpillFolder:
    """The folder of one executor; made when it is first needed, readable by its owner only.

    Clauses: H-20 H-21 H-22 H-23
    """

    file_bytes_max: int
    bytes_max: int
    path: Path | None = field(default=None, init=False)
    bytes_used: int = field(default=0, init=False)
    spills: "dict[Spill, None]" = field(factory=dict, init=False)
    """Those that have a file, oldest first."""
    _remove: "weakref.finalize[..., SpillFolder] | None" = field(default=None, init=False)

    def open(self, name: str, chunks: Iterable[bytes]) -> "Spill":
        """Make a file that begins with these bytes."""
        spill = Spill(self)
        try:
            spill.create(self._folder() / name)
        except OSError as error:
            log_failure(error, "keeping output in a file")
        for chunk in chunks:
            spill.write(chunk)
        return spill

    def make_room(self, size: int) -> bool:
        """Remove files of finished commands, oldest first, until this much can be written."""
        for spill in tuple(self.spills):
            if self.bytes_used + size <= self.bytes_max:
                break
            if spill.is_closed:
                spill.remove()
        return self.bytes_used + size <= self.bytes_max

    def close(self) -> None:
        """Remove every file and the folder."""
        for spill in tuple(self.spills):
            spill.remove()
        if self._remove is not None:
            self._remove()
        self.path = self._remove = None

    def _folder(self) -> Path:
        if self.path is None:
            self.path = Path(tempfile.mkdtemp(prefix="quiesce-"))
            # Also when the interpreter exits and nobody closed anything.
            self._remove = weakref.finalize(self, _remove_folder, self.path, os.getpid())
        return self.path


@define(eq=False)
class Spill:
    """One file, with everything that one stream wrote, or nothing any more."""

    folder: SpillFolder
    bytes_written: int = field(default=0, init=False)
    _path: Path | None = field(default=None, init=False)
    _file: IO[bytes] | None = field(default=None, init=False)

    @property
    def path(self) -> str | None:
        """Where it is, None if it could not be kept."""
        return None if self._path is None else str(self._path)

    @property
    def is_closed(self) -> bool:
        """Whether nothing more will be written."""
        return self._file is None

    def create(self, path: Path) -> None:
        """Make the file, which must not exist.

        Raises:
            OSError: it exists, or cannot be made.
        """
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        self._file = os.fdopen(os.open(path, flags, 0o600), "wb")
        self._path = path
        self.folder.spills[self] = None

    def write(self, data: bytes) -> None:
        """Add bytes; give the file up if it would become too large or cannot be written."""
        if self._file is None:
            return
        is_small = self.bytes_written + len(data) <= self.folder.file_bytes_max
        if not is_small or not self.folder.make_room(len(data)):
            self.remove()
            return
        try:
            self._file.write(data)
            self._file.flush()
        except OSError as error:
            log_failure(error, "keeping output in a file")
            self.remove()
            return
        self.bytes_written += len(data)
        self.folder.bytes_used += len(data)

    def close(self) -> None:
        """Write nothing more; give the file up if the disk refuses even that."""
        file, self._file = self._file, None
        if file is None:
            return
        try:
            file.close()
        except OSError as error:
            log_failure(error, "keeping output in a file")
            self.remove()

    def remove(self) -> None:
        """Delete the file and name it no more."""
        file, self._file = self._file, None
        path, self._path = self._path, None
        if file is not None:
            with suppress(OSError):
                file.close()
        if path is not None:
            self.folder.bytes_used -= self.bytes_written
            self.folder.spills.pop(self, None)
            with suppress(OSError):
                path.unlink()


def _remove_folder(path: Path, process: int) -> None:
    # A fork of this interpreter inherits the finalizer, but not the folder.
    if os.getpid() == process:
        shutil.rmtree(path, ignore_errors=True)
