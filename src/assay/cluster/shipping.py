"""Sources on their way to a server node: folders as one archive, and paths that move with them.

A node needs Assay and the toolchains, and no checkout: what it builds is what the driver has.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import shutil
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar, cast

import msgspec

from assay.servers.build import tracked

_LEFT_OUT = {"node_modules", "target", "__pycache__", ".git", "build", "bin", "obj", "vendor"}
"""Where tools leave what they make, as far as no git can be asked what it ignores."""

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Parcel:
    """Folders as a tar archive, one below a number each; `digest` names what is in it."""

    folders: tuple[Path, ...]
    content: bytes
    digest: str


def packed(folders: Sequence[Path]) -> Parcel:
    """Those of the folders that are there. What tools leave behind in them stays here: what git ignores."""
    there = tuple(folder for folder in folders if folder.is_dir())
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for number, folder in enumerate(there):
            for path in _sources(folder):
                name = f"{number}/{path.relative_to(folder)}"
                archive.addfile(_entry(path, name), io.BytesIO(path.read_bytes()))
    content = buffer.getvalue()
    return Parcel(there, content, hashlib.sha256(content).hexdigest()[:16])


def _sources(folder: Path) -> list[Path]:
    known = tracked(folder)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if known is not None:
        return [path for path in files if path in known]
    return [path for path in files if not _LEFT_OUT & set(path.relative_to(folder).parts[:-1])]


def _entry(path: Path, name: str) -> tarfile.TarInfo:
    """An entry that is the same for the same content: no owner, no time."""
    entry = tarfile.TarInfo(name)
    entry.size = path.stat().st_size
    entry.mode = path.stat().st_mode & 0o777
    return entry


def place_of(folders: Sequence[Path], node: str) -> str:
    """The name of the place where a node keeps what comes from these folders, whatever is in them.

    What is built there knows its paths, and is built anew where they are others. Nodes may share a disk.
    """
    return hashlib.sha256("\0".join([node, *map(str, folders)]).encode()).hexdigest()[:16]


def renew(content: bytes, digest: str, place: Path) -> None:
    """Have the parcel's content at `place`, and nothing else. Whoever serves from there has ended: a node's
    role is one agent's at a time."""
    whole = place / "complete"
    if whole.exists() and whole.read_text(encoding="ascii") == digest:
        return
    if place.exists():
        shutil.rmtree(place)
    unpack(content, place)
    whole.write_text(digest, encoding="ascii")


def unpack(content: bytes, folder: Path) -> None:
    """Put the parcel's folders below `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        archive.extractall(folder, filter="data")


def moved(value: T, moves: Sequence[tuple[Path, Path]]) -> T:
    """The value with every path in it that lies below a folder that has moved where that now is."""
    return cast(T, _moved(value, moves))


def _moved(value: object, moves: Sequence[tuple[Path, Path]]) -> object:
    if isinstance(value, Path):
        return next((to / value.relative_to(of) for of, to in moves if value.is_relative_to(of)), value)
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(_moved(one, moves) for one in value)
    if isinstance(value, Mapping):
        return {key: _moved(one, moves) for key, one in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        changes = {
            field.name: _moved(getattr(value, field.name), moves)
            for field in dataclasses.fields(value)
            if field.init
        }
        return dataclasses.replace(value, **changes)
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.replace(
            value, **{name: _moved(getattr(value, name), moves) for name in value.__struct_fields__}
        )
    return value
