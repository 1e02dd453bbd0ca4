"""One line of a run file: a JSON object that begins with the checksum of all that follows it.

    {"crc32":"1c291ca3","run":"franklin-20261121-093000-1a2b","line":2,"record":"trial","format":3,...}

The checksum is CRC-32 (zlib's, as in gzip and PNG) in eight lower-case hexadecimal digits over the line's
exact remaining bytes: those after its first comma, without the line end. So every line stays JSON that any
reader takes, and a damaged byte is noticed before anything of the line is believed. CRC-32 finds accidents,
every one of up to 32 bits in a row among them; it does not stop anyone who forges a record.

Then come the id of the run and the number of the line: a line that was copied twice, or out of another
record, is whole, and still none of this record's.

Each line says its format. Lines of other formats are not read: nothing was released with an older one.
"""

from __future__ import annotations

import re
import zlib

import msgspec

from assay.model.run import FORMAT, BlockDone, Header, Judgement, TrialDone

Line = Header | TrialDone | BlockDone | Judgement

_PRESENT: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)
_SEAL = re.compile(rb'\{"crc32":"([0-9a-f]{8})",')
_PLACE = re.compile(rb'"run":("(?:[^"\\]|\\.)*"),"line":([1-9][0-9]{0,8}),')


class LinePlace(msgspec.Struct, frozen=True):
    """Where a line belongs: the id of its run, and which line of its record it is, counted from 1."""

    run_id: str
    number: int


class DamagedLine(Exception):
    """The line is not what was written. Its text says in a few words why."""


class OlderLine(DamagedLine):
    """The line is of a format that is not read any more."""

    def __init__(self, written: int) -> None:
        """Take the line's format."""
        super().__init__(f"it is of format {written}")
        self.written = written


class NewerLine(Exception):
    """The line is of a format that this version does not know."""

    def __init__(self, written: int) -> None:
        """Take the line's format."""
        super().__init__(written)
        self.written = written


class UnknownDesign(Exception):
    """The header is of a kind of run that this version does not know."""

    def __init__(self, kind: str) -> None:
        """Take the name of the kind."""
        super().__init__(kind)
        self.kind = kind


class _Kind(msgspec.Struct):
    """What every design says of itself."""

    kind: str


class _Designed(msgspec.Struct):
    """What every header of the present format has."""

    design: _Kind


class _Format(msgspec.Struct):
    """What a line of any format says of itself."""

    format: int = 1


def seal(line: Line, place: LinePlace) -> bytes:
    """The line as it is stored, with its checksum, its place and its line end."""
    run_id = msgspec.json.encode(place.run_id)
    inner = msgspec.json.encode(line)[1:]  # without the "{", which the seal brings
    rest = b'"run":%s,"line":%d,%s' % (run_id, place.number, inner)
    return b'{"crc32":"%08x",%s\n' % (zlib.crc32(rest), rest)


def unseal(line: bytes) -> tuple[Line, LinePlace]:
    """The value of a stored line (without its line end), and its place.

    Raises DamagedLine, OlderLine, NewerLine or UnknownDesign. A line whose checksum is right is believed to
    be of another format where it says so; one without a checksum only where it says format 1, which had none.
    """
    sealed = _SEAL.match(line)
    if sealed and zlib.crc32(line[sealed.end() :]) != int(sealed[1], 16):
        raise DamagedLine("its checksum does not fit")
    placed = _PLACE.match(line, sealed.end()) if sealed else None
    begin = placed or sealed
    rest = b"{" + line[begin.end() :] if begin else line
    try:
        written = msgspec.json.decode(rest, type=_Format).format
        if written > FORMAT:
            raise NewerLine(written)
        if not sealed and written != 1:
            raise DamagedLine("it lacks its checksum")
        if written < FORMAT:
            raise OlderLine(written)
        if placed is None:
            raise DamagedLine("it lacks its run and number")
        return _present(rest), LinePlace(msgspec.json.decode(placed[1], type=str), int(placed[2]))
    except (msgspec.MsgspecError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise DamagedLine(str(error)) from error


def _present(line: bytes) -> Line:
    """The value of a line of the present format. Raises UnknownDesign, or what msgspec has to say."""
    try:
        return _PRESENT.decode(line)
    except msgspec.ValidationError as error:
        if str(error).endswith("`$.design.kind`"):
            raise UnknownDesign(msgspec.json.decode(line, type=_Designed).design.kind) from error
        raise
