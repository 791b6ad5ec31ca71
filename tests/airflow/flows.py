"""Workflows whose steps say in files when they ran, and wait for files: for tests on a running Airflow."""

from __future__ import annotations

import couler_py as couler


@couler.step
def numbers(count: int) -> list[int]:
    return list(range(count))


@couler.step
def square(x: int) -> int:
    print(f"squaring {x}")
    return x * x


@couler.step
def add(squares: list[int]) -> int:
    return sum(squares)


@couler.step
def say(text: str) -> str:
    print(text)
    return text


@couler.step
def fetch(place: str) -> str:
    """Notes that it ran, and fails until there is a file `there`."""
    from pathlib import Path

    with (Path(place) / "ran").open("a") as file:
        file.write("fetch\n")
    return (Path(place) / "there").read_text()


@couler.step
def note(place: str, name: str) -> str:
    from pathlib import Path

    with (Path(place) / "ran").open("a") as file:
        file.write(f"{name}\n")
    return name


@couler.step
def hold(place: str, name: str, release: str) -> str:
    """Says and notes that it began, and waits for a file."""
    import os
    import time
    from pathlib import Path

    print(f"holding {name}", flush=True)
    (Path(place) / f"{name}.began").write_text(str(os.getpid()))
    while not (Path(place) / release).exists():
        time.sleep(0.2)
    with (Path(place) / "ran").open("a") as file:
        file.write(f"{name}\n")
    return name


@couler.step(retries=couler.retry(1, delay="8s"))
def second_time(place: str) -> float:
    """Fails at first; gives the seconds between then and the second attempt."""
    import time
    from pathlib import Path

    failed = Path(place) / "failed"
    if couler.run_info.attempt == 0:
        failed.write_text(str(time.time()))
        raise ValueError("not yet")
    return time.time() - float(failed.read_text())


@couler.step(mutex="couler-tests")
def alone(place: str, name: str, release: str) -> str:
    import time
    from pathlib import Path

    with (Path(place) / "order").open("a") as file:
        file.write(f"{name} begins\n")
    while not (Path(place) / release).exists():
        time.sleep(0.2)
    with (Path(place) / "order").open("a") as file:
        file.write(f"{name} ends\n")
    return name


@couler.workflow
def pair(x: int):
    return square(square(x))


@couler.workflow
def shapes(count: int = 2):
    total = add(couler.map(square, numbers(count)))
    big = couler.when(total > 100, lambda: square(total), lambda: square(3))
    couler.on_exit(lambda: say("over"), name="bye")
    return couler.format("{} {}", pair(total), big)


@couler.workflow
def mends(place: str = ""):
    before = note.named("before")(place, "before")
    fetched = couler.after(fetch(place), before)
    return say(fetched)


@couler.workflow
def stops(place: str = ""):
    held = hold.named("slow")(place, "slow", "go")
    after = couler.after(note.named("after")(place, "after"), held)
    couler.on_exit(lambda: note(place, "tidy"), name="tidy")
    return after


@couler.workflow
def asks():
    answer = couler.suspend(outputs={"word": str, "times": (int, 2)}).named("approve")()
    return couler.format("{} {}", answer.word, answer.times)


@couler.workflow(schedule="0 3 * * *", timezone="Europe/Berlin")
def nightly():
    return say(couler.format("{}", couler.run_info.scheduled_time))


@couler.workflow(parallelism=2)
def two_at_once(place: str = ""):
    couler.map(lambda name: hold(place, name, "go"), ["a", "b", "c", "d"])


@couler.workflow(parallelism=2)
def fans(place: str = ""):
    held = couler.map(lambda name: hold(place, name, "go"), ["a", "b", "c"])
    after = couler.after(note.named("after")(place, "after"), held)
    couler.on_exit(lambda: note(place, "tidy"), name="tidy")
    return after


@couler.workflow
def later(place: str = ""):
    return second_time(place)


@couler.workflow
def waits():
    return couler.after(say("over"), couler.suspend("6s").named("pause")())


@couler.workflow(priority=1)
def modest(place: str = "", name: str = "", release: str = "go"):
    return alone(place, name, release)


@couler.workflow(priority=10)
def urgent(place: str = "", name: str = "", release: str = "go"):
    return alone(place, name, release)


@couler.workflow(schedule="0 0 1 1 *", concurrency="Forbid")
def one_run(place: str = "", name: str = ""):
    return hold(place, name, name)


ALL = (shapes, mends, stops, asks, nightly, two_at_once, fans, later, waits, modest, urgent, one_run)
