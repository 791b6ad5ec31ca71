"""Says what is in a file of DAGs, as JSON: run by the Python of an environment with Airflow, on its own.

    python inspecting.py DAG_FILE OUTPUT

It uses Airflow and the standard library alone, and imports nothing of ours. What JSON can't say stands in an object
with the member "$", which says what it is.
"""

from __future__ import annotations

import datetime
import functools
import inspect
import json
import math
import sys
import traceback
from pathlib import Path
from typing import Any

MOST = 65536
"""Most characters of a plain value of a module that is kept."""


def said(value: Any) -> Any:
    """A value as JSON."""
    if isinstance(value, float) and not math.isfinite(value):  # JSON has no such number
        return other(value)
    if isinstance(value, str) and not sayable(value):
        return other(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return getattr(value, "value", value)
    if isinstance(value, datetime.timedelta):
        return {"$": "seconds", "value": value.total_seconds()}
    if isinstance(value, datetime.datetime):
        return {"$": "datetime", "value": value.isoformat()}
    if isinstance(value, (list, tuple)):
        return [said(each) for each in value]
    if isinstance(value, (set, frozenset)):
        return sorted((said(each) for each in value), key=repr)
    if isinstance(value, dict):
        if all(isinstance(key, str) and key != "$" and sayable(key) for key in value):
            return {key: said(each) for key, each in value.items()}
        return other(value)
    return of_airflow(value) or of_kubernetes(value) or of_python(value) or other(value)


def sayable(text: str) -> bool:
    """Whether JSON has the text: halves of characters (surrogates) it has not."""
    return text.encode("utf-8", "replace").decode() == text


def of_airflow(value: Any) -> Any:
    """References to what a run gives."""
    kind = type(value).__name__
    if kind == "PlainXComArg":
        return {"$": "xcom", "task": value.operator.task_id, "key": value.key}
    if kind == "MappedArgument":
        return {"$": "item", "name": value._key}
    if kind == "DagParam":
        return {"$": "param", "name": value._name}
    if kind == "Secret" and type(value).__module__.startswith("airflow."):
        names = ("deploy_type", "deploy_target", "secret", "key")
        return {"$": "secret", **{name: getattr(value, name) for name in names}}
    if kind == "Asset":
        return {"$": "asset", "uri": value.uri}
    return None


def of_kubernetes(value: Any) -> Any:
    """An object of Kubernetes' Python client, in the words of its YAML."""
    if not hasattr(value, "openapi_types"):
        return None
    from kubernetes.client import ApiClient

    told = ApiClient().sanitize_for_serialization(value)  # type: ignore[no-untyped-call]
    return {"$": "kubernetes", "kind": type(value).__name__, "value": told}


def of_python(value: Any) -> Any:
    """A function, by where it is written, and the values around it."""
    if type(value) is type(sys):
        return {"$": "module", "name": value.__name__}
    value = getattr(value, "__wrapped__", value)
    code = getattr(value, "__code__", None)
    if code is None or isinstance(value, functools.partial):
        return None
    free = {}
    for name, cell in zip(code.co_freevars, value.__closure__ or (), strict=True):
        try:
            free[name] = said(cell.cell_contents)
        except ValueError:  # it is bound later than the function
            free[name] = other(cell)
    return {
        "$": "function",
        "name": value.__name__,
        "qualname": value.__qualname__,
        "file": keep(value),
        "line": code.co_firstlineno,
        "closure": free,
    }


def other(value: Any) -> Any:
    kind = type(value)
    return {"$": "other", "type": f"{kind.__module__}.{kind.__qualname__}", "text": repr(value)[:200]}


VALUES: dict[str, Any] = {}


def keep(function: Any) -> str:
    """Keep the plain values of a function's module, by its file."""
    path: str = function.__code__.co_filename
    if path not in VALUES:
        known = function.__globals__.items()
        VALUES[path] = {
            name: value for name, value in known if name[:2] != "__" and plain(value) and len(repr(value)) <= MOST
        }
    return path


def plain(value: Any) -> bool:
    if isinstance(value, list):
        return all(plain(each) for each in value)
    if isinstance(value, dict):
        return all(type(key) is str and plain(each) for key, each in value.items())
    if type(value) is float:
        return math.isfinite(value)
    return value is None or type(value) in (bool, int, str)


def seconds(value: Any) -> Any:
    return value.total_seconds() if isinstance(value, datetime.timedelta) else value


# ---- tasks

NOT_GIVEN = ("task_id", "dag", "task_group", "params", "default_args", "kwargs_to_upstream", "python_callable_name")
POLICIES = (
    "retries",
    "retry_delay",
    "retry_exponential_backoff",
    "max_retry_delay",
    "execution_timeout",
    "pool",
    "pool_slots",
    "priority_weight",
    "weight_rule",
    "depends_on_past",
    "wait_for_downstream",
    "is_setup",
    "is_teardown",
    "do_xcom_push",
    "max_active_tis_per_dag",
    "max_active_tis_per_dagrun",
    "doc_md",
    "doc",
)


def overrides(kind: Any) -> Any:
    """The methods of Airflow's own classes that a class which isn't Airflow's has in their place."""
    theirs = [each for each in kind.__mro__ if not each.__module__.startswith("airflow.")]
    airflows = [each for each in kind.__mro__ if each.__module__.startswith("airflow.")]
    own = {name for each in theirs for name, value in vars(each).items() if inspect.isfunction(value)}
    return sorted(name for name in own if not name.startswith("__") and any(name in vars(each) for each in airflows))


def task_facts(task: Any) -> Any:
    mapped = hasattr(task, "partial_kwargs")
    kind = task.operator_class if mapped else type(task)
    given = dict(task.partial_kwargs if mapped else getattr(task, "_BaseOperator__init_kwargs", {}))
    if hasattr(task, "op_kwargs_expand_input"):
        given.update(python_callable=task.python_callable, multiple_outputs=task.multiple_outputs)
    own: dict[str, Any] = {}
    if not mapped:
        of_dag = task.dag.params
        own = {name: said(value) for name, value in task.params.dump().items() if name not in of_dag}
    group = task.get_closest_mapped_task_group()
    return {
        "id": task.task_id,
        "label": task.label,
        "kinds": [f"{each.__module__}.{each.__name__}" for each in kind.__mro__[:-1]],
        "shown": getattr(kind, "custom_operator_name", None) or kind.__name__,
        "overrides": overrides(kind),
        "upstream": sorted(task.upstream_task_ids),
        "rule": str(getattr(task.trigger_rule, "value", task.trigger_rule)),
        "group": task.task_group.group_id if task.task_group is not None else None,
        "mapped_group": group.group_id if group is not None else None,
        "given": {name: said(value) for name, value in given.items() if name not in NOT_GIVEN},
        "policies": {name: said(getattr(task, name, None)) for name in POLICIES},
        "expand": expansion(task) if mapped else None,
        "params": own,
        "multiple": bool(given.get("multiple_outputs")),
        "outlets": [said(each) for each in task.outlets],
    }


def expansion(task: Any) -> Any:
    """What a mapped task or group is mapped over."""
    decorated = getattr(task, "op_kwargs_expand_input", None)
    return expanded(task.expand_input if decorated is None else decorated, decorated is not None)


def expanded(given: Any, arguments: bool = True) -> Any:
    whole = type(given).__name__ == "ListOfDictsExpandInput"
    return {"whole": whole, "value": said(given.value), "arguments": arguments}


def group_facts(group: Any) -> Any:
    mapped = getattr(group, "_expand_input", None)
    return {
        "id": group.group_id,
        "parent": group.parent_group.group_id if group.parent_group is not None else None,
        "tooltip": group.tooltip,
        "roots": sorted(each.task_id for each in group.get_roots()),
        "expand": None if mapped is None else expanded(mapped),
    }


# ---- DAGs


def assets_in(condition: Any) -> Any:
    """The URIs of the assets of which all have to change; None for any other condition."""
    kind = type(condition).__name__
    if kind == "Asset":
        return {condition.uri}
    inner = [assets_in(each) for each in condition.objects] if kind == "AssetAll" else [None]
    return None if None in inner else {uri for each in inner for uri in each or ()}


def schedule_facts(dag: Any) -> Any:
    timetable = dag.timetable
    several = getattr(timetable, "timetables", None)
    crons = [each.expression for each in several or [timetable] if hasattr(each, "expression")]
    zone = getattr((several or [timetable])[0], "timezone", None)
    assets = assets_in(getattr(timetable, "asset_condition", None))
    return {
        "kind": type(timetable).__name__,
        "crons": crons,
        "timezone": str(getattr(zone, "name", zone) or "UTC"),
        "text": str(dag.schedule)[:200],
        "assets": sorted(assets or ()),
        "all": assets is not None,
    }


def params_facts(params: Any) -> Any:
    found = {}
    for name in params:
        given = params.get_param(name)
        has = given.has_value
        found[name] = {
            "has": has,
            "value": said(given.value) if has else None,
            "schema": said(dict(given.schema)),
            "description": given.description or "",
        }
    return found


def dag_facts(dag: Any) -> Any:
    inner = [each for each in dag.task_group.get_task_group_dict().values() if each.group_id is not None]
    return {
        "id": dag.dag_id,
        "file": dag.fileloc,
        "description": dag.description or "",
        "doc": dag.doc_md or "",
        "schedule": schedule_facts(dag),
        "start_date": dag.start_date.isoformat() if dag.start_date else None,
        "end_date": dag.end_date.isoformat() if dag.end_date else None,
        "timezone": str(getattr(dag.timezone, "name", dag.timezone)),
        "catchup": bool(dag.catchup),
        "max_active_runs": dag.max_active_runs,
        "max_active_tasks": dag.max_active_tasks,
        "standard_runs": setting("max_active_runs_per_dag"),
        "standard_tasks": setting("max_active_tasks_per_dag"),
        "timeout": seconds(dag.dagrun_timeout),
        "native": bool(dag.render_template_as_native_obj),
        "paused": bool(dag.is_paused_upon_creation),
        "fail_fast": bool(dag.fail_fast),
        "tags": sorted(dag.tags),
        "owner": dag.default_args.get("owner") or "",
        "params": params_facts(dag.params),
        "callbacks": [name for name in ("on_failure_callback", "on_success_callback") if getattr(dag, name, None)],
        "macros": sorted((dag.user_defined_macros or {}).keys() | (dag.user_defined_filters or {}).keys()),
        "deadline": bool(getattr(dag, "deadline", None)),
        "tasks": [task_facts(each) for each in dag.task_dict.values()],
        "groups": [group_facts(each) for each in inner],
    }


def setting(name: str) -> int:
    from airflow.configuration import conf

    return int(conf.getint("core", name))


def read(path: str) -> Any:
    """The DAGs that a file makes, as Airflow reads it."""
    sys.path.append(str(Path(path).parent))
    from airflow import __version__

    try:
        from airflow.dag_processing.dagbag import DagBag
    except ImportError:  # where Airflow 3.1 has it
        from airflow.models.dagbag import DagBag
    bag = DagBag(path, safe_mode=False)
    return {
        "airflow": __version__,
        "errors": list(bag.import_errors.values()),
        "dags": [dag_facts(dag) for dag in bag.dags.values()],
        "values": VALUES,
    }


def main(path: str, output: str) -> None:
    try:
        import airflow  # noqa: F401
    except ImportError:
        found = {"missing": traceback.format_exc()}
    else:
        found = read(str(Path(path).resolve()))
    Path(output).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
