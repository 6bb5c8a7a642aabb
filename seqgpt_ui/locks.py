"""Private folders and locks for what listens on a unix socket; a lock ends with the process that held it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def private_folder(folder: Path) -> None:
    """Make ``folder`` one that only this user can enter. Raises ``PermissionError`` if it belongs to another."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to another user")
    folder.chmod(0o700)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on ``path`` while the block runs. Raises ``BlockingIOError`` when another has it."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
