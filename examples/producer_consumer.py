"""A file that one step writes and another reads."""

from pathlib import Path

import couler_py as couler


@couler.step
def produce(lines: int) -> Path:
    path = Path("numbers.txt")
    path.write_text("".join(f"{i}\n" for i in range(lines)))
    return path


@couler.step
def consume(numbers: Path) -> int:
    return sum(int(line) for line in numbers.read_text().splitlines())


@couler.workflow
def producer_consumer(lines: int = 10):
    return consume(produce(lines))
