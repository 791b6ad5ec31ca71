"""Documents with one mistake of structure each. `‸` marks, in the text itself, where the linter has to point.

The unit tests hold the linter to them; tests/engines/argo/test_lint_structure.py asks the real API server about each.
"""

from __future__ import annotations

from dataclasses import dataclass

MARK = "‸"

WORKFLOW = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata:
  generateName: hello-
spec:
  entrypoint: main
  arguments:
    parameters:
    - name: city
      value: Oslo
  templates:
  - name: main
    container:
      image: busybox
      command: [echo]
"""

CRON = """\
apiVersion: argoproj.io/v1alpha1
kind: CronWorkflow
metadata:
  name: nightly
spec:
  schedules: ["0 3 * * *"]
  workflowSpec:
    entrypoint: main
    templates:
    - name: main
      container:
        image: busybox
"""

GRAPH = """\
apiVersion: argoproj.io/v1alpha1
kind: WorkflowTemplate
metadata:
  name: graph
spec:
  entrypoint: main
  templates:
  - name: main
    dag:
      tasks:
      - name: a
        template: work
      - name: b
        depends: a
        template: work
  - name: work
    container:
      image: busybox
"""


@dataclass(frozen=True)
class Mutant:
    """A text with marks, and the codes of what is wrong at them. `server`: whether an API server with the full CRDs
    refuses it; where it doesn't, `why` it is wrong all the same.
    """

    name: str
    marked: str
    codes: tuple[str, ...]
    server: bool = True
    why: str = ""

    @property
    def text(self) -> str:
        return self.marked.replace(MARK, "")

    @property
    def places(self) -> list[tuple[int, int, str]]:
        """Line, column and code of each mark, in order."""
        found = []
        codes = iter(self.codes)
        for number, line in enumerate(self.marked.split("\n"), 1):
            pieces = line.split(MARK)
            column = 1
            for piece in pieces[:-1]:
                column += len(piece)
                found.append((number, column, next(codes)))
        return found


def mutant(name: str, base: str, old: str, new: str, *codes: str, takes: str = "") -> Mutant:
    """The base with `old` replaced once; `takes` says why it is wrong although the API server takes it."""
    assert base.count(old) == 1, (name, old)
    return Mutant(name, base.replace(old, new), codes, not takes, takes)


UNREADABLE = (
    mutant("a key twice", WORKFLOW, "entrypoint: main", "entrypoint: main\n  ‸entrypoint: again", "CLR420"),
    mutant("no YAML", WORKFLOW, "[echo]", "[echo\n\nstatus‸: {}", "CLR420"),
    mutant("a tab", WORKFLOW, "      image: busybox", "‸\timage: busybox", "CLR420"),
    mutant("a tag", WORKFLOW, "value: Oslo", "value: ‸!secret Oslo", "CLR420", takes="Kubernetes' reader drops tags"),
)

KINDS = (
    mutant("another apiVersion", WORKFLOW, "argoproj.io/v1alpha1", "‸argoproj.io/v1", "CLR421"),
    mutant("no apiVersion", WORKFLOW, "apiVersion: argoproj.io/v1alpha1\nkind", "‸kind", "CLR421"),
    mutant("a typing error in the kind", WORKFLOW, "kind: Workflow", "kind: ‸Workfow", "CLR421"),
    Mutant("no kind", MARK + WORKFLOW.replace("kind: Workflow\n", ""), ("CLR421",)),
)

UNKNOWN = (
    mutant("an unknown field of a container", WORKFLOW, "command:", "‸comand:", "CLR422"),
    mutant("an unknown field of the spec", WORKFLOW, "  entrypoint", "  ‸paralelism: 3\n  entrypoint", "CLR422"),
    mutant("an unknown field of the metadata", WORKFLOW, "metadata:", "metadata:\n  ‸nam: a", "CLR422"),
    mutant("an unknown field of the document", WORKFLOW, "spec:", "‸data: {}\nspec:", "CLR422"),
    mutant(
        "an unknown field of a template in a task",
        GRAPH,
        "        depends: a\n        template: work",
        "        inline:\n          container: {image: a, ‸comand: [b]}",
        "CLR422",
        takes="the CRD leaves it open, and Argo reads it",
    ),
    mutant("a field indented wrongly", WORKFLOW, "      command", "    ‸command", "CLR422"),
)

_OPEN = "the CRD leaves it open, and Argo reads it"
VALUES = (
    mutant("one item", GRAPH, "depends: a", "depends: a\n        withItems: ‸x", "CLR423", takes=_OPEN),
    mutant("text for a list", WORKFLOW, "[echo]", "‸echo", "CLR423"),
    mutant("a mapping for a list", WORKFLOW, "parameters:\n    - name", "‸parameters:\n      name", "CLR423"),
    mutant("a list for a mapping", WORKFLOW, "    container:\n      image", "    ‸container:\n    - image", "CLR423"),
    mutant("text for a number", WORKFLOW, "  entrypoint", '  parallelism: ‸"3"\n  entrypoint', "CLR423"),
    mutant("a number for text", WORKFLOW, "Oslo", "‸1.10", "CLR423"),
    mutant("a boolean for text", WORKFLOW, "Oslo", "‸true", "CLR423"),
    mutant("a fraction for a count", WORKFLOW, "spec:", "spec:\n  retryStrategy: {limit: ‸1.5}", "CLR423"),
    mutant("a null item", WORKFLOW, "[echo]", "[echo, ‸null]", "CLR423"),
    mutant("null where something is needed", WORKFLOW, "name: city", "‸name:", "CLR424"),
    mutant("a number as a label", WORKFLOW, "metadata:", "metadata:\n  labels:\n    year: ‸2024", "CLR423"),
    mutant("a word that isn't among those allowed", CRON, "spec:", "spec:\n  concurrencyPolicy: ‸Deny", "CLR423"),
    mutant(
        "more than the most",
        WORKFLOW,
        "  entrypoint",
        "  priority: ‸2147483648\n  entrypoint",
        "CLR423",
        takes="the controller can't read it: the field has 32 bits",
    ),
    mutant("less than the least", CRON, "spec:", "spec:\n  startingDeadlineSeconds: ‸-1", "CLR423"),
    mutant("no items", GRAPH, "  - name: work", "  - name: none\n    steps: ‸[]\n  - name: work", "CLR423"),
    mutant("text that doesn't match", CRON, '"0 3 * * *"', '‸"at three"', "CLR423"),
    mutant("a missing field", WORKFLOW, "    - name: city\n      value", "    - ‸value", "CLR424"),
    Mutant("no spec", f"{MARK}{WORKFLOW[: WORKFLOW.index('spec:')]}", ("CLR424",)),
    Mutant("no metadata", MARK + WORKFLOW.replace("metadata:\n  generateName: hello-\n", ""), ("CLR424",)),
    Mutant(
        "too many templates",
        WORKFLOW
        + "".join(f"  - name: t{number}\n    suspend: {{}}\n" for number in range(199))
        + "  - ‸name: last\n    suspend: {}\n",
        ("CLR423",),
    ),
)

REMOVED = (
    mutant("schedule", CRON, 'schedules: ["0 3 * * *"]', "‸schedule: 0 3 * * *", "CLR425"),
    mutant("mutex", WORKFLOW, "  entrypoint", "  synchronization:\n    ‸mutex:\n      name: a\n  entrypoint", "CLR425"),
    mutant(
        "semaphore",
        GRAPH,
        "  - name: work",
        "  - name: work\n    synchronization:\n      ‸semaphore: {configMapKeyRef: {name: a, key: b}}",
        "CLR425",
    ),
    mutant("podPriority", WORKFLOW, "  entrypoint", "  ‸podPriority: 3\n  entrypoint", "CLR425"),
    mutant("priority of a template", WORKFLOW, "    container", "    ‸priority: 3\n    container", "CLR425"),
    mutant(
        "the key of a cache",
        WORKFLOW,
        "    container",
        "    memoize:\n      key: a\n      maxAge: 1h\n      cache: {configMap: {name: a, ‸key: b}}\n    container",
        "CLR425",
    ),
    mutant("ttlSecondsAfterFinished", CRON, "Spec:", "Spec:\n    ‸ttlSecondsAfterFinished: 60", "CLR425"),
)

EXCLUSIVE = (
    mutant("depends and dependencies", GRAPH, "depends: a", "depends: a\n        ‸dependencies: [a]", "CLR427"),
    mutant("depends and continueOn", GRAPH, "depends: a", "depends: a\n        ‸continueOn: {failed: true}", "CLR427"),
    mutant("a digit in front", GRAPH, "name: b", "‸name: 1b", "CLR427"),
    mutant(
        "count and end",
        GRAPH,
        "depends: a",
        'depends: a\n        withSequence: {count: "3", ‸end: "4"}',
        "CLR427",
    ),
    mutant("two bodies", WORKFLOW, "    container", "    suspend: {}\n    ‸container", "CLR427"),
    mutant("the timeout of a graph", GRAPH, "    dag", "    ‸timeout: 1h\n    dag", "CLR427"),
    mutant("the deadline of a graph", GRAPH, "    dag", "    ‸activeDeadlineSeconds: 60\n    dag", "CLR427"),
    mutant(
        "two manifests",
        GRAPH,
        "    container:\n      image: busybox\n",
        "    resource:\n      action: get\n      manifest: x\n      ‸manifestFrom: {artifact: {name: a}}\n",
        "CLR427",
    ),
    mutant(
        "two places of an artifact",
        WORKFLOW,
        "    container",
        "    inputs:\n      artifacts:\n      - {name: a, path: /a, s3: {key: a}, ‸gcs: {key: a}}\n    container",
        "CLR427",
    ),
    mutant(
        "durations while they grow",
        WORKFLOW,
        "    container",
        "    metrics:\n      prometheus:\n      - name: a\n        help: a\n        gauge:\n          realtime: true\n"
        '          ‸value: "{{resourcesDuration.cpu}}"\n    container',
        "CLR427",
    ),
    mutant(
        "a variable twice",
        WORKFLOW,
        "[echo]",
        '[echo]\n      env:\n      - {name: A, value: "1"}\n      - {name: ‸A, value: "2"}',
        "CLR431",
    ),
)

_CONTROLLER = "the controller refuses it"
_UNUSED = "`generateName` is for nothing"
OBJECTS = (
    mutant("a long name", WORKFLOW, "generateName: hello-", f"name: ‸{'a' * 64}", "CLR428", takes=_CONTROLLER),
    mutant("a long name of a CronWorkflow", CRON, "nightly", f"‸{'a' * 53}", "CLR428", takes=_CONTROLLER),
    mutant("capitals in the name", CRON, "nightly", "‸Nightly", "CLR428"),
    mutant("a dash at the end", CRON, "nightly", "‸nightly-", "CLR428"),
    mutant("capitals in the beginning of a name", WORKFLOW, "hello-", "‸Hello-", "CLR428"),
    mutant("no name", WORKFLOW, "metadata:\n  generateName: hello-", "‸metadata: {}", "CLR428"),
    mutant("two names", WORKFLOW, "generateName", "name: a\n  ‸generateName", "CLR428", takes=_UNUSED),
    mutant("a space in a label", CRON, "metadata:", "metadata:\n  labels:\n    owner: ‸Ada Lovelace", "CLR432"),
    mutant("a space in the key of a label", CRON, "metadata:", "metadata:\n  labels:\n    ‸the owner: Ada", "CLR432"),
    mutant("a bad key of an annotation", CRON, "metadata:", "metadata:\n  annotations:\n    ‸a/b/c: x", "CLR432"),
    mutant("a bad namespace", WORKFLOW, "metadata:", "metadata:\n  namespace: ‸Team A", "CLR428"),
)

_READERS = "Kubernetes reads it, others read something else"
AMBIGUOUS = (
    mutant("yes", WORKFLOW, "  entrypoint", "  suspend: ‸yes\n  entrypoint", "CLR429", takes=_READERS),
    mutant("off", WORKFLOW, "  entrypoint", "  suspend: ‸Off\n  entrypoint", "CLR429", takes=_READERS),
    mutant("an octal number", WORKFLOW, "  entrypoint", "  parallelism: ‸010\n  entrypoint", "CLR429", takes=_READERS),
    mutant("an underscore", WORKFLOW, "  entrypoint", "  parallelism: ‸1_000\n  entrypoint", "CLR429", takes=_READERS),
    mutant("a date", WORKFLOW, "Oslo", "‸2024-01-01", "CLR429", takes=_READERS),
    mutant("a time", WORKFLOW, "Oslo", "‸12:30:45", "CLR429", takes=_READERS),
    mutant("yes for text", WORKFLOW, "Oslo", "‸yes", "CLR423"),
    mutant("an octal number for text", WORKFLOW, "Oslo", "‸010", "CLR423"),
    mutant("merged fields", WORKFLOW, "      value: Oslo", "      ‸<<: {value: Oslo}", "CLR429", takes=_READERS),
)

MUTANTS = (*UNREADABLE, *KINDS, *UNKNOWN, *VALUES, *REMOVED, *EXCLUSIVE, *OBJECTS, *AMBIGUOUS)
