"""The fields that Argo has since 3.5, each with how one does without it: the difference of the CRDs as a table."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

Effect: TypeAlias = Literal["another word", "shown", "lost"]


class Field(msgspec.Struct, frozen=True):
    """A field that Argo 3.5 doesn't read: it drops what it doesn't know without a word.

    `place` is the end of the way to it, list positions left out, the document's kind first: `backoff.cap`,
    `CronWorkflow.spec.when`. `since` is the first version that has it. `effect`: the same is said in "another word"
    before; it is only "shown" to people; or what it says is "lost", and `help` is the way out.
    """

    place: str
    since: str
    effect: Effect = "lost"
    help: str = ""


NEWER = "use Argo {since} or later"
FIELDS: tuple[Field, ...] = (
    Field("CronWorkflow.spec.schedules", "3.6", "another word"),
    Field("synchronization.mutexes", "3.6", "another word"),
    Field("synchronization.semaphores", "3.6", "another word"),
    Field(
        "CronWorkflow.spec.when",
        "3.6",
        help="let the workflow's first step decide, and give the rest a `when`",
    ),
    Field(
        "CronWorkflow.spec.stopStrategy",
        "3.6",
        help="suspend the CronWorkflow from outside when it has run often enough",
    ),
    Field("mutexes.database", "3.7", help="leave `database` out: a mutex of the controller's own"),
    Field("semaphores.database", "3.7", help="keep the limit in a ConfigMap: `configMapKeyRef`"),
    Field("mutex.database", "3.7", help="leave `database` out: a mutex of the controller's own"),
    Field("semaphore.database", "3.7", help="keep the limit in a ConfigMap: `configMapKeyRef`"),
    Field("backoff.cap", "3.7", help="choose a `limit` and a `factor` whose longest wait is short enough"),
    Field("templates.annotations", "3.7", "shown"),
    Field("templateDefaults.annotations", "3.7", "shown"),
    Field("inline.annotations", "3.7", "shown"),
    Field("templates.pendingTimeout", "4.1", help="`timeout` limits waiting and running together"),
    Field("templateDefaults.pendingTimeout", "4.1", help="`timeout` limits waiting and running together"),
    Field("inline.pendingTimeout", "4.1", help="`timeout` limits waiting and running together"),
    Field("spec.executorPlugins", "4.1", help="install the plugin for the whole controller"),
    Field("workflowSpec.executorPlugins", "4.1", help="install the plugin for the whole controller"),
    Field("podResources", "4.1", help="give each container its own resources"),
    Field("resourceClaims", "4.1"),
    # ---- stores of artifacts
    Field("s3.sessionTokenSecret", "3.6", help="use keys that don't expire, or the pod's own role: `useSDKCreds`"),
    Field("s3.addressingStyle", "4.1"),
    Field("http.saveStreamViaFile", "4.1"),
    Field("hdfs.dataTransferProtection", "3.6"),
    Field("git.insecureSkipTLS", "3.6", help="give the container the server's certificate"),
    Field("artifacts.plugin", "4.0", help="use one of the stores that Argo has itself"),
    Field("artifact.plugin", "4.0", help="use one of the stores that Argo has itself"),
    Field("artifactPaths.plugin", "4.0", help="use one of the stores that Argo has itself"),
    Field("archiveLocation.plugin", "4.0", help="use one of the stores that Argo has itself"),
    # ---- fields of pods that are younger than the Kubernetes that the controller of 3.5 was built with
    Field("restartPolicy", "3.6", help="a daemoned step runs beside others; an init container ends before them"),
    Field("restartPolicyRules", "4.1"),
    Field("resizePolicy", "3.6"),
    Field("resources.claims", "3.6"),
    Field("lifecycle.stopSignal", "3.7"),
    Field("preStop.sleep", "3.6", help="`exec` with the command sleep does the same where the image has one"),
    Field("postStart.sleep", "3.6", help="`exec` with the command sleep does the same where the image has one"),
    Field("valueFrom.fileKeyRef", "4.1", help="read the file in the step"),
    Field("volumeMounts.recursiveReadOnly", "3.6"),
    Field(
        "securityContext.appArmorProfile",
        "3.6",
        help="say it by the pod annotation container.apparmor.security.beta.kubernetes.io/CONTAINER",
    ),
    Field("securityContext.supplementalGroupsPolicy", "3.7"),
    Field("securityContext.seLinuxChangePolicy", "3.7"),
    Field("volumes.image", "3.7", help="an init container with that image can copy its files into an emptyDir"),
    Field("sources.clusterTrustBundle", "3.6", help="keep the certificates in a ConfigMap"),
    Field("sources.podCertificate", "4.1"),
    Field("spec.volumeAttributesClassName", "3.6"),
    Field("dataSourceRef.namespace", "3.6"),
    Field("matchLabelKeys", "3.6", help="say the labels in `labelSelector`"),
    Field("mismatchLabelKeys", "3.6", help="say the labels in `labelSelector`"),
    Field("podDisruptionBudget.unhealthyPodEvictionPolicy", "3.6"),
)

OPEN = frozenset(("labels", "annotations", "matchLabels", "nodeSelector", "withItems", "value", "plugin", "status"))
"""Fields whose content is the user's own: no name in there is one of Argo's."""


def _by_name() -> dict[str, tuple[tuple[tuple[str, ...], Field], ...]]:
    found: dict[str, tuple[tuple[tuple[str, ...], Field], ...]] = {}
    for field in FIELDS:
        *above, name = field.place.split(".")
        found[name] = (*found.get(name, ()), (tuple(above), field))
    return found


_NAMED = _by_name()


def field_at(parents: tuple[str, ...], name: str) -> Field | None:
    """The row of a field by the names of all that it stands in, the kind first; None for one that 3.5 has too.

    >>> field_at(("Workflow", "spec", "retryStrategy", "backoff"), "cap").since
    '3.7'
    """
    for above, field in _NAMED.get(name, ()):
        if not above or parents[-len(above) :] == above:
            return field
    return None
