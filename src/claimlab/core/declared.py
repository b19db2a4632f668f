"""How much room the values of a Parquet or Arrow file take, as the file itself declares it: read
from its footer, or from the heads of its messages, before any value is unpacked.

A list in one row, or bytes that are packed, can be a million times as large as on disk. Nothing is
refused here that is only damaged: the reader says what is wrong with it.
"""

from __future__ import annotations

import os
import struct
from typing import IO, Any

from claimlab.core.bounds import refuse_large
from claimlab.core.errors import UnreadableFile

FOOTER_BYTES = 16 << 20  # bytes of a footer that are read
_WIDTHS = (1, 4, 8, 12, 4, 8, 16, 16)  # bytes of a value of each physical type of Parquet
_MESSAGE, _DICTIONARY = 0xFFFFFFFF, 2  # of Arrow
_BATCHES = (_DICTIONARY, 3)  # messages that hold values
_DAMAGED = (
    OSError,
    IndexError,
    KeyError,
    OverflowError,
    RecursionError,
    TypeError,
    ValueError,
    struct.error,
)


class NotDeclared(ValueError):
    """A file does not say how large it is."""


def declared_room(file: IO[bytes], name: str, kind: str) -> int:
    """The bytes of all values, as the file says."""
    try:
        return _of_parquet(file, name) if kind == "Parquet" else _of_arrow(file)
    except _DAMAGED:
        raise NotDeclared(name) from None


def room_of(file: IO[bytes], name: str, kind: str) -> int:
    """The bytes of all values, for a reader that refuses damaged files itself."""
    try:
        return declared_room(file, name, kind)
    except NotDeclared:
        raise UnreadableFile(
            f"'{name}' is not whole {kind}: it does not say how large it is.", "Get it again."
        ) from None


def _of_parquet(file: IO[bytes], name: str) -> int:
    file.seek(-8, os.SEEK_END)
    length, magic = struct.unpack("<I4s", file.read(8))
    whole = file.seek(0, os.SEEK_END)
    if magic != b"PAR1" or length + 8 > whole:  # it was cut, and its last bytes are no length
        raise ValueError(magic)
    if length > FOOTER_BYTES:
        refuse_large(f"The footer of '{name}'", length << 8)  # hundreds of bytes for each in memory
    file.seek(-8 - length, os.SEEK_END)
    footer = _Thrift(file.read(length)).value(12)
    chunks = [column[3] for group in footer[4] for column in group[1]]
    return sum(max(chunk[6], chunk[5] * _WIDTHS[chunk[1]]) for chunk in chunks)


class _Thrift:
    """Thrift's compact protocol: a struct is a dict by the numbers of its fields."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def value(self, kind: int) -> Any:
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self._byte()
        if kind <= 6:
            number = self._varint()
            return number >> 1 ^ -(number & 1)
        if kind in (7, 8):
            return self._skip(8 if kind == 7 else self._varint())
        if kind in (9, 10):
            size, inner = divmod(self._byte(), 16)
            return self._values(inner, self._varint() if size == 15 else size)
        if kind == 11:
            size = self._varint()
            first, second = divmod(self._byte() if size else 0, 16)
            return [self._values(first, 1) + self._values(second, 1) for _ in range(size)]
        if kind != 12:
            raise ValueError(kind)
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self.value(4)
            fields[number] = self.value(head & 15)
        return fields

    def _values(self, kind: int, size: int) -> list[Any]:
        if kind in (1, 2):  # takes a byte here, and none in a struct
            kind = 3
        return [self.value(kind) for _ in range(size)]

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _skip(self, size: int) -> None:
        self._at += size

    def _varint(self) -> int:
        number = shift = 0
        while (byte := self._byte()) > 127:
            number |= (byte & 127) << shift
            shift += 7
        return number | byte << shift


def _of_arrow(file: IO[bytes]) -> int:
    """The buffers of all messages: those that the footer lists, or one behind the other."""
    file.seek(0)
    if file.read(6) != b"ARROW1":
        room = at = 0
        while (message := _buffers(file, at)) is not None:
            at, room = message[0], room + message[1]
        return room
    file.seek(-10, os.SEEK_END)
    (length,) = struct.unpack("<i", file.read(4))
    file.seek(-10 - length, os.SEEK_END)
    footer = _Flat(file.read(length))
    places = [
        footer.number(at, "<q") for field in (2, 3) for at in footer.each(footer.root, field, 24)
    ]
    return sum((_buffers(file, at) or (0, 0))[1] for at in places)


def _buffers(file: IO[bytes], at: int) -> tuple[int, int] | None:
    """Where the message at this place ends, and the bytes of its values; null where none is."""
    file.seek(at)
    mark, size = struct.unpack("<Ii", file.read(8).ljust(8, b"\0"))
    if mark != _MESSAGE or size <= 0:
        return None
    message = _Flat(file.read(size))
    kind = message.field(message.root, 1, "<B")
    length = message.field(message.root, 3, "<Q")
    if kind not in _BATCHES:
        return at + 8 + size + length, 0
    batch = message.inner(message.root, 2)
    batch = message.inner(batch, 1) if kind == _DICTIONARY else batch
    packed, room = message.place(batch, 3), 0
    for place in message.each(batch, 2, 16):
        start, most = message.number(place, "<q"), message.number(place + 8, "<q")
        if packed and most:  # before the bytes is written how many there will be
            file.seek(at + 8 + size + start)
            most = max(most, struct.unpack("<q", file.read(8))[0])
        room += most
    return at + 8 + size + length, room


class _Flat:
    """The few things that are read of a FlatBuffer."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.root = self.number(0, "<I")

    def number(self, at: int, form: str) -> int:
        return int(struct.unpack_from(form, self._data, at)[0])

    def place(self, table: int, field: int) -> int:
        """Where a field is; 0 where it has its default."""
        names = table - self.number(table, "<i")
        is_set = 4 + 2 * field < self.number(names, "<H")
        place = self.number(names + 4 + 2 * field, "<H") if is_set else 0
        return place and table + place

    def field(self, table: int, field: int, form: str) -> int:
        place = self.place(table, field)
        return self.number(place, form) if place else 0

    def inner(self, table: int, field: int) -> int:
        place = self.place(table, field)
        return place + self.number(place, "<I")

    def each(self, table: int, field: int, size: int) -> range:
        """The places of the entries of a list."""
        if not self.place(table, field):
            return range(0)
        start = self.inner(table, field)
        return range(start + 4, start + 4 + size * self.number(start, "<I"), size)
