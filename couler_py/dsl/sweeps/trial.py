"""What a trial is where it runs: the step as it was written, watched through what it logs.

The source of this travels with that of the step. A trial is stopped from within: `log_metric` compares what is logged
with the values that earlier trials had at the same step, which came along with the settings.
"""

from __future__ import annotations

from typing import Any


def couler_trial(function: Any, metrics: list[Any], rungs: list[int], keep: int) -> Any:
    """The function of a step as that of a trial: it takes `sweep_cutoffs` too, and gives its outcome.

    An outcome has the `values` of the metrics (None where there is none), whether it was `stopped`, the values at
    `rungs`, and at most `keep` points of the `curve` of the first metric, as [step, value].
    """
    import functools
    import math
    import sys

    class Stopped(BaseException):
        """Not for the step to catch."""

    logged: dict[str, float] = {}
    reached: list[Any] = []
    curve: list[Any] = []

    def watch(name: str, value: Any, step: Any, cutoffs: dict[int, float]) -> None:
        number = float(value)
        logged[name] = number
        if name != metrics[0]["name"]:
            return
        at = len(curve) if step is None else step
        if math.isfinite(number):
            curve.append([at, number])
        higher = metrics[0]["goal"] == "maximize"
        while len(reached) < len(rungs) and at >= rungs[len(reached)]:
            # What isn't a number is worse than everything.
            seen = number if math.isfinite(number) else (-1e308 if higher else 1e308)
            cutoff = cutoffs.get(rungs[len(reached)])
            reached.append(seen)
            if cutoff is not None and (seen < cutoff if higher else seen > cutoff):
                raise Stopped

    def value_of(metric: Any, result: Any) -> Any:
        if metric["origin"] == "logged":
            value = logged.get(metric["name"])
        elif metric["origin"] == "result":
            value = result
        else:
            value = result[metric["name"]] if isinstance(result, dict) else getattr(result, metric["name"])
        return float(value) if value is not None and math.isfinite(value) else None

    @functools.wraps(function)
    def trial(**arguments: Any) -> Any:
        import couler_py

        cutoffs = {int(step): value for step, value in arguments.pop("sweep_cutoffs")}
        # Loaded when it is first asked for, which takes time: a step that logs nothing needn't.
        known = vars(couler_py).get("log_metric")

        def log_metric(name: str, value: float, step: Any = None) -> None:
            nonlocal known
            if known is None:
                known = couler_py.__getattr__("log_metric")
                couler_py.log_metric = log_metric
            known(name, value, step)
            watch(name, value, step, cutoffs)

        # Both ways in which a step may know it: by the module, and by a name of its own.
        names = [name for name, value in function.__globals__.items() if known is not None and value is known]
        try:
            couler_py.log_metric = log_metric
            function.__globals__.update(dict.fromkeys(names, log_metric))
            result, stopped = function(**arguments), False
        except Stopped:
            result, stopped = None, True
            sys.stderr.write("couler: stopped early, others were better at this step\n")
        finally:
            if known is None:
                del couler_py.log_metric
            else:
                couler_py.log_metric = known
            function.__globals__.update(dict.fromkeys(names, known))
        values = [None if stopped else value_of(metric, result) for metric in metrics]
        # The last `keep` places, evenly, the last logged value among them.
        count, most = len(curve), min(keep, len(curve))
        kept = [count - 1 - index * count // most for index in range(most - 1, -1, -1)]
        return {
            "values": [last for last in [logged.get(metrics[0]["name"])] if last is not None] if stopped else values,
            "stopped": stopped,
            "rungs": reached,
            "curve": [curve[index] for index in kept],
        }

    return trial
