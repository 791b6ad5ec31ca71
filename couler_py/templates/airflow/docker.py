"""Operators that run steps as containers of a Docker daemon."""

import io
import json
import tarfile
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from airflow.providers.docker.operators.docker import DockerOperator
from airflow.sdk.exceptions import AirflowException
from docker.types import DeviceRequest, Mount

from couler_py.templates.airflow.containers import (
    Files,
    program_in_container,
    read_outputs,
)
from couler_py.templates.airflow.steps import (
    STORE,
    StepFailed,
    Work,
    address_of,
    all_inputs,
    get_file,
    is_folder,
    keep_file,
    run_attempt,
    run_batch,
    run_cached,
)
from couler_py.templates.airflow.values import evaluated, kept, proceed

CLAIM = ""
RESULT = "/tmp/.couler-result"


def step(task_id, template, inputs=dict, when=None, again=None, turns=None, **options):
    """A step as a container of its own. `inputs` are values, or how they are read."""
    made = Container(task_id=task_id, **container_options(template), **options)
    made.work = Work(template, inputs, when, again, turns)
    return made


def step_of_each(template, inputs, again=None, turns=None, batch=False, **options):
    """For `fan_out`: a step for each item, or for each batch, one after another."""

    class Each(Container):
        work = Work(template, inputs, None, again, turns, batch)

    made = Each.partial(task_id="each", **container_options(template), **options)
    return made.expand_kwargs


def container_options(template):
    """What the operator of a step is given."""
    image = "" if callable(template["image"]) else template["image"]
    found = {"image": image, "mount_tmp_dir": False}
    given = dict(template.get("container", {}))
    if gpus := given.pop("gpus", None):
        wanted = DeviceRequest(count=gpus, capabilities=[["gpu"]])
        found["device_requests"] = [wanted]
    return found | given | template.get("options", {})


class Container(DockerOperator):
    """The operator of a step: it reads the inputs when it starts, and Jinja nothing."""

    template_fields = ()
    work = None

    def __init__(self, *, item=None, **options):
        super().__init__(**options)
        self.item = item

    def execute(self, context):
        proceed(self.work.when)
        if self.work.batch:
            one = partial(self.run_once, context)
            return run_batch(one, self.item, 1 + self.retries)
        given = () if self.item is None else (self.item,)
        return kept(self.run_once(context, *given))

    def run_once(self, context, *item):
        template = self.work.template
        given = all_inputs(template, evaluated(self.work.inputs, *item))
        run = partial(self.run_container, context)
        if "cache" in template:
            run = partial(run_cached, template, run=run)
        return run_attempt(run, given, self.work.again, self.work.turns)

    def run_container(self, context, given):
        template = self.work.template
        with brought_files(template, given) as brought:
            describe(self, template, given, brought)
            return self.run_described(context, given)

    def run_described(self, context, given):
        try:
            super().execute(context)
            written = written_by(self) if self.result else {}
            found = read_outputs(self.work.template, given, written)
            return keep_in_stores(self.work.template, found)
        except AirflowException as error:
            if self.container is None or isinstance(error, StepFailed):
                raise
            state = self.cli.inspect_container(self.container["Id"])["State"]
            raise StepFailed(str(error), state["ExitCode"]) from error
        finally:
            if self.container is not None:
                self.cli.remove_container(self.container["Id"], force=True)
                self.container = None


@contextmanager
def brought_files(template, given):
    """Where a container has its files: the worker brings those that are in named stores."""
    places = {name: given.get(name) for name in template.get("files", ())}
    if all(place is None or isinstance(place, str) for place in places.values()):
        yield places
        return
    Path(STORE).mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="couler-", dir=STORE) as name:
        folder = Path(name)
        folder.chmod(0o755)  # the user of the container is another one
        yield {each: in_folder(place, folder / each) for each, place in places.items()}


def in_folder(place, path):
    """Where what is kept at a place is in the folder that all share, in the same form."""
    if is_folder(place):
        path.mkdir()
        return {name: in_folder(each, path / name) for name, each in place.items()}
    if place is None or isinstance(place, str):
        return place
    get_file(place, path)
    return str(path)


def keep_in_stores(template, outputs):
    """Put the files that a container left into the named stores that they belong to."""
    for name in template.get("gives", ()):
        if isinstance(outputs[name], dict):
            keep_file(outputs[name], Path(address_of(name)))
    return outputs


def describe(operator, template, given, brought):
    """Give the operator the program, the environment and the files of its container."""
    gives = template.get("gives", ())
    left = {name: address_of(name) for name in gives}
    operator.result = RESULT if gives or template.get("outputs") else ""
    files = Files(brought, left, "", operator.result)
    words, operator.environment = program_in_container(template, given, files)
    operator.entrypoint, operator.command = words[:1], words[1:]
    operator.image = evaluated(template["image"], given)
    if "directory" in template:
        operator.working_dir = evaluated(template["directory"], given)
    if brought or left:
        kind = "volume" if CLAIM else "bind"
        operator.mounts = [Mount(STORE, CLAIM or STORE, kind)]


def written_by(operator):
    """What a container wrote as its outputs, read from its file system."""
    data, _ = operator.cli.get_archive(operator.container["Id"], RESULT)
    with tarfile.open(fileobj=io.BytesIO(b"".join(data))) as archive:
        return json.load(archive.extractfile(archive.getmembers()[0]))
