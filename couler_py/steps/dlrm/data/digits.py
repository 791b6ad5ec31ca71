"""Decimal and hexadecimal digits, eight at once: a number of 64 bits holds eight characters, the first one lowest.

Parsing and writing digit by digit in Python, or with a loop over columns of text, is what makes loaders of such files
slow. Here a value is one load, a few operations on 64 bits, and no loop ("SIMD within a register": Lamport, "Multiple
byte processing with full-word instructions", CACM 1975)."""

from __future__ import annotations

import numpy as np

from couler_py.steps.dlrm.data.mixing import Words
from couler_py.steps.dlrm.data.rows import Array

WIDTH = 8


def _each(byte: int) -> np.uint64:
    return np.uint64(byte * 0x0101010101010101)


ZEROS, LOW, HIGH, ONES, SIXES = map(_each, (0x30, 0x0F, 0xF0, 0x01, 0x06))


MISSING = np.array([8 * (WIDTH - length) for length in range(WIDTH + 1)], np.uint64)
"""By the length of a field, how far its characters are moved up; a shift by all 64 bits leaves 0."""
FILLED = np.array([int(ZEROS) >> 8 * length for length in range(WIDTH + 1)], np.uint64)
"""And the characters "0" before it."""


def shift(bits: int) -> np.uint64:
    """A distance to shift by, of the type that numpy wants."""
    return np.uint64(bits)


def loaded(data: Array, starts: Array, lengths: Array) -> Words:
    """Fields of at most 8 characters, filled up with "0" in front. `data` has 8 bytes to spare at its end."""
    words: Words = np.ndarray(len(data) - WIDTH + 1, dtype="<u8", buffer=data, strides=(1,)).take(starts)
    words <<= MISSING.take(lengths)
    words |= FILLED.take(lengths)
    return words


def decimal(words: Words) -> tuple[Words, Array]:
    """The numbers that eight decimal digits say, and whether they are digits."""
    fine = ((words & HIGH) == ZEROS) & (((words + SIXES) & HIGH) == ZEROS)
    x = words & LOW
    x = (x * np.uint64(2561)) >> shift(8)
    x = ((x & np.uint64(0x00FF00FF00FF00FF)) * np.uint64(6553601)) >> shift(16)
    x = ((x & np.uint64(0x0000FFFF0000FFFF)) * np.uint64(42949672960001)) >> shift(32)
    return x, fine


def hexadecimal(words: Words) -> tuple[Words, Array]:
    """The numbers that eight hexadecimal digits say, in capitals or not, and whether they are digits."""
    letter = (words >> shift(6)) & ONES
    x = (words & LOW) + letter * np.uint64(9)
    # The high half of a character is 3, or 4 (capitals) or 6; a value is at most 15, and from 10 on it is a letter.
    fine = (words & HIGH & ~(letter << shift(5))) == ZEROS + (letter << shift(4))
    fine &= ((((x + SIXES) >> shift(4)) & ONES) == letter) & ((x & HIGH) == 0)
    x = ((x << shift(4)) | (x >> shift(8))) & np.uint64(0x00FF00FF00FF00FF)
    x = ((x << shift(8)) | (x >> shift(16))) & np.uint64(0x0000FFFF0000FFFF)
    x = ((x << shift(16)) | (x >> shift(32))) & np.uint64(0xFFFFFFFF)
    return x, fine


def spelled(numbers: Words) -> Words:
    """The eight hexadecimal digits of numbers of 32 bits."""
    x = numbers
    x = ((x & np.uint64(0x0000FFFF)) << shift(32)) | (x >> shift(16))
    x = ((x & np.uint64(0x000000FF000000FF)) << shift(16)) | ((x >> shift(8)) & np.uint64(0x000000FF000000FF))
    x = ((x & np.uint64(0x000F000F000F000F)) << shift(8)) | ((x >> shift(4)) & np.uint64(0x000F000F000F000F))
    letters = ((x + SIXES) >> shift(4)) & ONES
    return x + ZEROS + letters * np.uint64(0x27)
