"""The content of one file in a zip: inflated in small pieces, and what comes out is counted."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from image_datasets.errors import ZIP_AGAIN, BadImage, too_long

CHUNK = 1 << 16
LOCAL_HEADER = struct.Struct("<4s5H3L2H")


@dataclass(frozen=True)
class ArchiveEntry:
    """One file of a checked zip. It opens the zip itself, so it can go to another process."""

    archive: Path
    name: str
    size: int
    compressed_size: int
    offset: int
    crc: int
    method: int
    raw_name: bytes

    def read(self, limit: int) -> bytes:
        """The content, if it is not longer than `limit`; never more than that in memory."""
        if self.size > limit:
            raise too_long(self.name, self.size, limit)
        return b"".join(self.chunks())

    def chunks(self) -> Iterator[bytes]:
        """The content in small pieces. Broken data raises before the last piece has come."""
        with self.archive.open("rb") as file:
            self._seek_to_data(file)
            yield from self._counted(_inflated(file, self.compressed_size, self.method))

    def _seek_to_data(self, file: IO[bytes]) -> None:
        file.seek(self.offset)
        header = file.read(LOCAL_HEADER.size)
        if len(header) < LOCAL_HEADER.size or header[:4] != b"PK\x03\x04":
            raise self._broken("It is not where the zip says it is.")
        name_length, extra_length = LOCAL_HEADER.unpack(header)[-2:]
        if file.read(name_length) != self.raw_name:
            raise self._broken("The zip names it differently in two places.")
        file.seek(extra_length, os.SEEK_CUR)

    def _counted(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        size, crc = 0, 0
        try:
            for piece in pieces:
                size, crc = size + len(piece), zlib.crc32(piece, crc)
                if size > self.size:
                    raise self._broken("It is longer than the zip says.")
                yield piece
        except (zlib.error, EOFError) as error:
            raise self._broken("Its data are damaged or cut off.") from error
        if size < self.size:
            raise self._broken("It is shorter than the zip says.")
        if crc != self.crc:
            raise self._broken("Its checksum is wrong, so the data are damaged.")

    def _broken(self, reason: str) -> BadImage:
        return BadImage(file=self.name, reason=reason, remedy=ZIP_AGAIN)


def _inflated(file: IO[bytes], length: int, method: int) -> Iterator[bytes]:
    stored = _pieces(file, length)
    return stored if method == zipfile.ZIP_STORED else _deflated(stored)


def _pieces(file: IO[bytes], length: int) -> Iterator[bytes]:
    while length > 0:
        piece = file.read(min(CHUNK, length))
        if not piece:
            raise EOFError
        length -= len(piece)
        yield piece


def _deflated(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Inflates without ever holding more than a chunk, however far a piece would blow up."""
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    for piece in pieces:
        yield inflater.decompress(piece, CHUNK)
        while inflater.unconsumed_tail and not inflater.eof:
            yield inflater.decompress(inflater.unconsumed_tail, CHUNK)
        if inflater.eof:
            return
    while not inflater.eof:
        rest = inflater.decompress(inflater.unconsumed_tail, CHUNK)
        if not rest:
            raise EOFError
        yield rest
