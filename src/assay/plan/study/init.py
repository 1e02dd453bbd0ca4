"""A study of one's own to start from: commented files that run as they are."""

from __future__ import annotations

import re
from pathlib import Path

from assay.core.errors import EnvironmentLacks, InputError, reason_of

_EXAMPLE = Path(__file__).with_name("example")
_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")


def write_example(name: str, folder: Path) -> tuple[Path, ...]:
    """Write `studies/NAME.toml` and `servers/NAME/` with a contract, an example server and a null server
    below `folder`; the written files.

    InputError where the name is none or a file is already there (then nothing is written);
    EnvironmentLacks where the folder cannot be written.
    """
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{name!r} is no name for a study", "use small letters, digits and dashes, such as my-servers"
        )
    servers = folder / "servers" / name
    files = {
        folder / "studies" / f"{name}.toml": "study.toml",
        servers / "contract.toml": "contract.toml",
        servers / "example" / "server.toml": "server.toml",
        servers / "example" / "server.py": "server.py",
        servers / "null" / "server.toml": "null.toml",
    }
    there = next((path for path in files if path.exists()), None)
    if there is not None:
        raise InputError(f"{there} is there already", "choose another name")
    try:
        for path, template in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            text = (_EXAMPLE / template).read_text(encoding="utf-8")
            path.write_text(text.replace("@NAME@", name), encoding="utf-8")
    except OSError as error:
        raise EnvironmentLacks(f"cannot write {folder}: {reason_of(error)}") from error
    return tuple(files)
