"""The fields of each kind of template, flat, as functions take them. Made by `make schemas`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from couler_py.backends.argo.words.argo import (
    ArchiveStrategy,
    Arguments,
    ArtifactGC,
    ArtifactLocation,
    ArtifactoryArtifact,
    ArtifactRepositoryRef,
    AzureArtifact,
    ContainerNode,
    ContainerSetTemplate,
    ContinueOn,
    DAGTemplate,
    DataSource,
    DataTemplate,
    ExecutorConfig,
    GCSArtifact,
    GitArtifact,
    HDFSArtifact,
    HTTPArtifact,
    HTTPBodySource,
    HTTPTemplate,
    HTTPTemplateHeader,
    Inputs,
    LifecycleHook,
    ManifestFrom,
    Memoize,
    Metadata,
    Metrics,
    OSSArtifact,
    Outputs,
    PluginArtifact,
    PodGC,
    RawArtifact,
    ResourceTemplate,
    RetryStrategy,
    S3Artifact,
    ScriptTemplate,
    StopStrategy,
    SuspendTemplate,
    Synchronization,
    Template,
    TemplateRef,
    TransformationStep,
    TTLStrategy,
    UserContainer,
    ValueFrom,
    VolumeClaimGC,
    WithSequence,
    WorkflowLevelArtifactGC,
    WorkflowMetadata,
    WorkflowSpecExecutorPlugins,
    WorkflowSpecResourceClaims,
    WorkflowStep,
    WorkflowTemplateRef,
)
from couler_py.backends.argo.words.kubernetes import (
    Affinity,
    Container,
    ContainerPort,
    ContainerResizePolicy,
    ContainerRestartPolicyRules,
    EnvFromSource,
    EnvVar,
    HostAlias,
    Lifecycle,
    LocalObjectReference,
    PersistentVolumeClaim,
    PodDisruptionBudgetSpec,
    PodDNSConfig,
    PodSecurityContext,
    Probe,
    ResourceRequirements,
    Toleration,
    Volume,
    VolumeDevice,
    VolumeMount,
)


class TemplateFields(TypedDict, total=False):
    """What a template of any kind may say beside its body."""

    activeDeadlineSeconds: int | str
    """Optional duration in seconds relative to the StartTime that the pod may be active on a node before the system
    actively tries to terminate the pod; value must be positive integer This field is only applicable to container and
    script templates.
    """
    affinity: Affinity
    """Affinity sets the pod's scheduling constraints Overrides the affinity set at the workflow level (if any)"""
    annotations: Mapping[str, str]
    """Annotations is a list of annotations to add to the template at runtime"""
    archiveLocation: ArtifactLocation
    """Location in which all files related to the step will be stored (logs, artifacts, etc...)."""
    automountServiceAccountToken: bool
    """AutomountServiceAccountToken indicates whether a service account token should be automatically mounted in
    pods.
    """
    daemon: bool
    """Daemon will allow a workflow to proceed to the next step so long as the container reaches readiness"""
    executor: ExecutorConfig
    """Executor holds configurations of the executor container."""
    failFast: bool
    """FailFast, if specified, will fail this template if any of its child pods has failed."""
    hostAliases: Sequence[HostAlias]
    """HostAliases is an optional list of hosts and IPs that will be injected into the pod spec"""
    initContainers: Sequence[UserContainer]
    """InitContainers is a list of containers which run before the main container."""
    memoize: Memoize
    """Memoize allows templates to use outputs generated from already executed templates"""
    metadata: Metadata
    """Metadata sets the pods's metadata, i.e. annotations and labels"""
    metrics: Metrics
    """Metrics are a list of metrics emitted from this template"""
    nodeSelector: Mapping[str, str]
    """NodeSelector is a selector to schedule this step of the workflow to be run on the selected node(s)."""
    parallelism: int
    """Parallelism limits the max total parallel pods that can execute at the same time within the boundaries of this
    template invocation.
    """
    pendingTimeout: str
    podResources: ResourceRequirements
    podSpecPatch: str
    """PodSpecPatch holds strategic merge patch to apply against the pod spec."""
    priorityClassName: str
    """PriorityClassName to apply to workflow pods."""
    resourceClaims: Sequence[WorkflowSpecResourceClaims]
    retryStrategy: RetryStrategy
    """RetryStrategy describes how to retry a template when it fails"""
    schedulerName: str
    """If specified, the pod will be dispatched by specified scheduler."""
    securityContext: PodSecurityContext
    """SecurityContext holds pod-level security attributes and common container settings."""
    serviceAccountName: str
    """ServiceAccountName to apply to workflow pods"""
    sidecars: Sequence[UserContainer]
    """Sidecars is a list of containers which run alongside the main container Sidecars are automatically killed when
    the main container completes
    """
    synchronization: Synchronization
    """Synchronization holds synchronization lock configuration for this template"""
    timeout: str
    """Timeout allows to set the total node execution timeout duration counting from the node's start time."""
    tolerations: Sequence[Toleration]
    """Tolerations to apply to workflow pods."""
    volumes: Sequence[Volume]
    """Volumes is a list of volumes that can be mounted by containers in a template."""


class ContainerFields(TemplateFields, total=False):
    """What `couler_py.argo_native.container` takes: fields of a template, and of its `container`."""

    args: Sequence[str]
    """Arguments to the entrypoint."""
    command: Sequence[str]
    """Entrypoint array."""
    container: Container
    """The body itself, for fields of `container` that the template has too."""
    env: Sequence[EnvVar]
    """List of environment variables to set in the container."""
    envFrom: Sequence[EnvFromSource]
    """List of sources to populate environment variables in the container."""
    image: str
    """Container image name."""
    imagePullPolicy: str
    """Image pull policy."""
    lifecycle: Lifecycle
    """Actions that the management system should take in response to container lifecycle events."""
    livenessProbe: Probe
    """Periodic probe of container liveness."""
    ports: Sequence[ContainerPort]
    """List of ports to expose from the container."""
    readinessProbe: Probe
    """Periodic probe of container service readiness."""
    resizePolicy: Sequence[ContainerResizePolicy]
    """Resources resize policy for the container."""
    resources: ResourceRequirements
    """Compute Resources required by this container."""
    restartPolicy: str
    """RestartPolicy defines the restart behavior of individual containers in a pod."""
    restartPolicyRules: Sequence[ContainerRestartPolicyRules]
    startupProbe: Probe
    """StartupProbe indicates that the Pod has successfully initialized."""
    stdin: bool
    """Whether this container should allocate a buffer for stdin in the container runtime."""
    stdinOnce: bool
    """Whether the container runtime should close the stdin channel after it has been opened by a single attach."""
    terminationMessagePath: str
    """Optional: Path at which the file to which the container's termination message will be written is mounted into
    the container's filesystem.
    """
    terminationMessagePolicy: str
    """Indicate how the termination message should be populated."""
    tty: bool
    """Whether this container should allocate a TTY for itself, also requires 'stdin' to be true."""
    volumeDevices: Sequence[VolumeDevice]
    """volumeDevices is the list of block devices to be used by the container."""
    volumeMounts: Sequence[VolumeMount]
    """Pod volumes to mount into the container's filesystem."""
    workingDir: str
    """Container's working directory."""


class ScriptFields(TemplateFields, total=False):
    """What `couler_py.argo_native.script` takes: fields of a template, and of its `script`."""

    args: Sequence[str]
    """Arguments to the entrypoint."""
    command: Sequence[str]
    """Entrypoint array."""
    env: Sequence[EnvVar]
    """List of environment variables to set in the container."""
    envFrom: Sequence[EnvFromSource]
    """List of sources to populate environment variables in the container."""
    image: str
    """Container image name."""
    imagePullPolicy: str
    """Image pull policy."""
    lifecycle: Lifecycle
    """Actions that the management system should take in response to container lifecycle events."""
    livenessProbe: Probe
    """Periodic probe of container liveness."""
    ports: Sequence[ContainerPort]
    """List of ports to expose from the container."""
    readinessProbe: Probe
    """Periodic probe of container service readiness."""
    resizePolicy: Sequence[ContainerResizePolicy]
    """Resources resize policy for the container."""
    resources: ResourceRequirements
    """Compute Resources required by this container."""
    restartPolicy: str
    """RestartPolicy defines the restart behavior of individual containers in a pod."""
    restartPolicyRules: Sequence[ContainerRestartPolicyRules]
    script: ScriptTemplate
    """The body itself, for fields of `script` that the template has too."""
    source: str
    """Source contains the source code of the script to execute"""
    startupProbe: Probe
    """StartupProbe indicates that the Pod has successfully initialized."""
    stdin: bool
    """Whether this container should allocate a buffer for stdin in the container runtime."""
    stdinOnce: bool
    """Whether the container runtime should close the stdin channel after it has been opened by a single attach."""
    terminationMessagePath: str
    """Optional: Path at which the file to which the container's termination message will be written is mounted into
    the container's filesystem.
    """
    terminationMessagePolicy: str
    """Indicate how the termination message should be populated."""
    tty: bool
    """Whether this container should allocate a TTY for itself, also requires 'stdin' to be true."""
    volumeDevices: Sequence[VolumeDevice]
    """volumeDevices is the list of block devices to be used by the container."""
    volumeMounts: Sequence[VolumeMount]
    """Pod volumes to mount into the container's filesystem."""
    workingDir: str
    """Container's working directory."""


class ResourceFields(TemplateFields, total=False):
    """What `couler_py.argo_native.resource` takes: fields of a template, and of its `resource`."""

    action: Literal["get", "create", "apply", "delete", "replace", "patch"]
    """Action is the action to perform to the resource."""
    failureCondition: str
    """FailureCondition is a label selector expression which describes the conditions of the k8s resource in which
    the step was considered failed
    """
    flags: Sequence[str]
    """Flags is a set of additional options passed to kubectl before submitting a resource I.e. to disable resource
    validation: flags: [ "--validate=false" # disable resource validation ]
    """
    manifest: str
    """Manifest contains the kubernetes manifest"""
    manifestFrom: ManifestFrom
    """ManifestFrom is the source for a single kubernetes manifest"""
    mergeStrategy: Literal["strategic", "merge", "json"]
    """MergeStrategy is the strategy used to merge a patch."""
    resource: ResourceTemplate
    """The body itself, for fields of `resource` that the template has too."""
    setOwnerReference: bool
    """SetOwnerReference sets the reference to the workflow on the OwnerReference of generated resource."""
    successCondition: str
    """SuccessCondition is a label selector expression which describes the conditions of the k8s resource in which it
    is acceptable to proceed to the following step
    """


class SuspendFields(TemplateFields, total=False):
    """What `couler_py.argo_native.suspend` takes: fields of a template, and of its `suspend`."""

    duration: str
    """Duration is the seconds to wait before automatically resuming a template."""
    suspend: SuspendTemplate
    """The body itself, for fields of `suspend` that the template has too."""


class HTTPFields(TemplateFields, total=False):
    """What `couler_py.argo_native.http` takes: fields of a template, and of its `http`."""

    body: str
    """Body is content of the HTTP Request"""
    bodyFrom: HTTPBodySource
    """BodyFrom is content of the HTTP Request as Bytes"""
    headers: Sequence[HTTPTemplateHeader]
    """Headers are an optional list of headers to send with HTTP requests"""
    http: HTTPTemplate
    """The body itself, for fields of `http` that the template has too."""
    insecureSkipVerify: bool
    """InsecureSkipVerify is a bool when if set to true will skip TLS verification for the HTTP client"""
    method: str
    """Method is HTTP methods for HTTP Request"""
    successCondition: str
    """SuccessCondition is an expression if evaluated to true is considered successful"""
    timeoutSeconds: int
    """TimeoutSeconds is request timeout for HTTP Request."""
    url: str
    """URL of the HTTP Request"""


class DataFields(TemplateFields, total=False):
    """What `couler_py.argo_native.data` takes: fields of a template, and of its `data`."""

    data: DataTemplate
    """The body itself, for fields of `data` that the template has too."""
    source: DataSource
    """Source sources external data into a data template"""
    transformation: Sequence[TransformationStep]
    """Transformation applies a set of transformations"""


class ContainerSetFields(TemplateFields, total=False):
    """What `couler_py.argo_native.container_set` takes: fields of a template, and of its `containerSet`."""

    containerSet: ContainerSetTemplate
    """The body itself, for fields of `containerSet` that the template has too."""
    containers: Sequence[ContainerNode]
    volumeMounts: Sequence[VolumeMount]


class PluginFields(TemplateFields, total=False):
    """What `couler_py.argo_native.plugin` takes: fields of a template, and of its `plugin`."""

    plugin: Mapping[str, Any]
    """The body itself, for fields of `plugin` that the template has too."""


class DAGFields(TemplateFields, total=False):
    """What `couler_py.argo_native.dag` takes: fields of a template, and of its `dag`."""

    dag: DAGTemplate
    """The body itself, for fields of `dag` that the template has too."""
    target: str
    """Target are one or more names of targets to execute in a DAG"""


class StepsFields(TemplateFields, total=False):
    """What `couler_py.argo_native.steps` takes: fields of a template, and of its `steps`."""

    steps: Sequence[Sequence[WorkflowStep]]
    """The body itself, for fields of `steps` that the template has too."""


class RawTemplateFields(TemplateFields, total=False):
    """What `couler_py.argo_native.template` takes."""

    container: Container
    """Container is the main container image to run in the pod"""
    containerSet: ContainerSetTemplate
    """ContainerSet groups multiple containers within a single pod."""
    dag: DAGTemplate
    """DAG template subtype which runs a DAG"""
    data: DataTemplate
    """Data is a data template"""
    http: HTTPTemplate
    """HTTP makes a HTTP request"""
    plugin: Mapping[str, Any]
    """Plugin is a plugin template Note: the structure of a plugin template is free-form, so we need to have
    "x-kubernetes-preserve-unknown-fields: true" in the validation schema.
    """
    resource: ResourceTemplate
    """Resource template subtype which can run k8s resources"""
    script: ScriptTemplate
    """Script runs a portion of code against an interpreter"""
    steps: Sequence[Sequence[WorkflowStep]]
    """Steps define a series of sequential/parallel workflow steps"""
    suspend: SuspendTemplate
    """Suspend template subtype which can suspend a workflow when reaching the step"""


class ParameterFields(TypedDict, total=False):
    """The fields of Parameter but for name and value."""

    default: str
    """Default is the default value to use for an input parameter if a value was not supplied"""
    description: str
    """Description is the parameter description"""
    enum: Sequence[str]
    """Enum holds a list of string values to choose from, for the actual value of the parameter"""
    globalName: str
    """GlobalName exports an output parameter to the global scope, making it available as
    io.argoproj.workflow.v1alpha1.outputs.parameters.XXXX and in workflow.status.outputs.parameters
    """
    valueFrom: ValueFrom
    """ValueFrom is the source for the output parameter's value"""


class ArtifactFields(TypedDict, total=False):
    """The fields of Artifact but for name and path and from."""

    archive: ArchiveStrategy
    """Archive controls how the artifact will be saved to the artifact repository."""
    archiveLogs: bool
    """ArchiveLogs indicates if the container logs should be archived"""
    artifactGC: ArtifactGC
    """ArtifactGC describes the strategy to use when to deleting an artifact from completed or deleted workflows"""
    artifactory: ArtifactoryArtifact
    """Artifactory contains artifactory artifact location details"""
    azure: AzureArtifact
    """Azure contains Azure Storage artifact location details"""
    deleted: bool
    """Has this been deleted?"""
    fromExpression: str
    """FromExpression, if defined, is evaluated to specify the value for the artifact"""
    gcs: GCSArtifact
    """GCS contains GCS artifact location details"""
    git: GitArtifact
    """Git contains git artifact location details"""
    globalName: str
    """GlobalName exports an output artifact to the global scope, making it available as
    io.argoproj.workflow.v1alpha1.outputs.artifacts.XXXX and in workflow.status.outputs.artifacts
    """
    hdfs: HDFSArtifact
    """HDFS contains HDFS artifact location details"""
    http: HTTPArtifact
    """HTTP contains HTTP artifact location details"""
    mode: int
    """mode bits to use on this file, must be a value between 0 and 0777."""
    optional: bool
    """Make Artifacts optional, if Artifacts doesn't generate or exist"""
    oss: OSSArtifact
    """OSS contains OSS artifact location details"""
    plugin: PluginArtifact
    """Plugin contains plugin artifact location details"""
    raw: RawArtifact
    """Raw contains raw artifact location details"""
    recurseMode: bool
    """If mode is set, apply the permission recursively into the artifact if it is a folder"""
    s3: S3Artifact
    """S3 contains S3 artifact location details"""
    subPath: str
    """SubPath allows an artifact to be sourced from a subpath within the specified source"""


class WorkflowFields(TypedDict, total=False):
    """The fields of WorkflowSpec but for arguments."""

    activeDeadlineSeconds: int
    """Optional duration in seconds relative to the workflow start time which the workflow is allowed to run before
    the controller terminates the io.argoproj.workflow.v1alpha1.
    """
    affinity: Affinity
    """Affinity sets the scheduling constraints for all pods in the io.argoproj.workflow.v1alpha1."""
    archiveLogs: bool
    """ArchiveLogs indicates if the container logs should be archived"""
    artifactGC: WorkflowLevelArtifactGC
    """ArtifactGC describes the strategy to use when deleting artifacts from completed or deleted workflows (applies
    to all output Artifacts unless Artifact.ArtifactGC is specified, which overrides this)
    """
    artifactRepositoryRef: ArtifactRepositoryRef
    """ArtifactRepositoryRef specifies the configMap name and key containing the artifact repository config."""
    automountServiceAccountToken: bool
    """AutomountServiceAccountToken indicates whether a service account token should be automatically mounted in
    pods.
    """
    dnsConfig: PodDNSConfig
    """PodDNSConfig defines the DNS parameters of a pod in addition to those generated from DNSPolicy."""
    dnsPolicy: str
    """Set DNS policy for workflow pods."""
    entrypoint: str
    """Entrypoint is a template reference to the starting point of the io.argoproj.workflow.v1alpha1."""
    executor: ExecutorConfig
    """Executor holds configurations of executor containers of the io.argoproj.workflow.v1alpha1."""
    executorPlugins: Sequence[WorkflowSpecExecutorPlugins]
    hooks: Mapping[str, LifecycleHook]
    """Hooks holds the lifecycle hook which is invoked at lifecycle of step, irrespective of the success, failure, or
    error status of the primary step
    """
    hostAliases: Sequence[HostAlias]
    hostNetwork: bool
    """Host networking requested for this workflow pod."""
    imagePullSecrets: Sequence[LocalObjectReference]
    """ImagePullSecrets is a list of references to secrets in the same namespace to use for pulling any images in
    pods that reference this ServiceAccount.
    """
    metrics: Metrics
    """Metrics are a list of metrics emitted from this Workflow"""
    nodeSelector: Mapping[str, str]
    """NodeSelector is a selector which will result in all pods of the workflow to be scheduled on the selected
    node(s).
    """
    onExit: str
    """OnExit is a template reference which is invoked at the end of the workflow, irrespective of the success,
    failure, or error of the primary io.argoproj.workflow.v1alpha1.
    """
    parallelism: int
    """Parallelism limits the max total parallel pods that can execute at the same time in a workflow"""
    podDisruptionBudget: PodDisruptionBudgetSpec
    """PodDisruptionBudget holds the number of concurrent disruptions that you allow for Workflow's Pods."""
    podGC: PodGC
    """PodGC describes the strategy to use when deleting completed pods"""
    podMetadata: Metadata
    """PodMetadata defines additional metadata that should be applied to workflow pods"""
    podPriorityClassName: str
    """PriorityClassName to apply to workflow pods."""
    podResources: ResourceRequirements
    podSpecPatch: str
    """PodSpecPatch holds strategic merge patch to apply against the pod spec."""
    priority: int
    """Priority is used if controller is configured to process limited number of workflows in parallel."""
    resourceClaims: Sequence[WorkflowSpecResourceClaims]
    retryStrategy: RetryStrategy
    """RetryStrategy for all templates in the io.argoproj.workflow.v1alpha1."""
    schedulerName: str
    """Set scheduler name for all pods."""
    securityContext: PodSecurityContext
    """SecurityContext holds pod-level security attributes and common container settings."""
    serviceAccountName: str
    """ServiceAccountName is the name of the ServiceAccount to run all pods of the workflow as."""
    shutdown: str
    """Shutdown will shutdown the workflow according to its ShutdownStrategy"""
    suspend: bool
    """Suspend will suspend the workflow and prevent execution of any future steps in the workflow"""
    synchronization: Synchronization
    """Synchronization holds synchronization lock configuration for this Workflow"""
    templateDefaults: Template
    """TemplateDefaults holds default template values that will apply to all templates in the Workflow, unless
    overridden on the template-level
    """
    templates: Sequence[Template]
    """Templates is a list of workflow templates used in a workflow MaxItems is an artificial limit to limit CEL
    validation costs - see note at top of file
    """
    tolerations: Sequence[Toleration]
    """Tolerations to apply to workflow pods."""
    ttlStrategy: TTLStrategy
    """TTLStrategy limits the lifetime of a Workflow that has finished execution depending on if it Succeeded or
    Failed.
    """
    volumeClaimGC: VolumeClaimGC
    """VolumeClaimGC describes the strategy to use when deleting volumes from completed workflows"""
    volumeClaimTemplates: Sequence[PersistentVolumeClaim]
    """VolumeClaimTemplates is a list of claims that containers are allowed to reference."""
    volumes: Sequence[Volume]
    """Volumes is a list of volumes that can be mounted by containers in a io.argoproj.workflow.v1alpha1."""
    workflowMetadata: WorkflowMetadata
    """WorkflowMetadata contains some metadata of the workflow to refer to"""
    workflowTemplateRef: WorkflowTemplateRef
    """WorkflowTemplateRef holds a reference to a WorkflowTemplate for execution"""


class ScheduledWorkflowSpec(TypedDict, total=False):
    """What the option `argo=` of a workflow takes: fields of its `spec`, and those that only a CronWorkflow has."""

    activeDeadlineSeconds: int
    """Optional duration in seconds relative to the workflow start time which the workflow is allowed to run before
    the controller terminates the io.argoproj.workflow.v1alpha1.
    """
    affinity: Affinity
    """Affinity sets the scheduling constraints for all pods in the io.argoproj.workflow.v1alpha1."""
    archiveLogs: bool
    """ArchiveLogs indicates if the container logs should be archived"""
    arguments: Arguments
    """Arguments contain the parameters and artifacts sent to the workflow entrypoint Parameters are referencable
    globally using the 'workflow' variable prefix. e.g. io.argoproj.workflow.v1alpha1.parameters.myparam
    """
    artifactGC: WorkflowLevelArtifactGC
    """ArtifactGC describes the strategy to use when deleting artifacts from completed or deleted workflows (applies
    to all output Artifacts unless Artifact.ArtifactGC is specified, which overrides this)
    """
    artifactRepositoryRef: ArtifactRepositoryRef
    """ArtifactRepositoryRef specifies the configMap name and key containing the artifact repository config."""
    automountServiceAccountToken: bool
    """AutomountServiceAccountToken indicates whether a service account token should be automatically mounted in
    pods.
    """
    dnsConfig: PodDNSConfig
    """PodDNSConfig defines the DNS parameters of a pod in addition to those generated from DNSPolicy."""
    dnsPolicy: str
    """Set DNS policy for workflow pods."""
    entrypoint: str
    """Entrypoint is a template reference to the starting point of the io.argoproj.workflow.v1alpha1."""
    executor: ExecutorConfig
    """Executor holds configurations of executor containers of the io.argoproj.workflow.v1alpha1."""
    executorPlugins: Sequence[WorkflowSpecExecutorPlugins]
    hooks: Mapping[str, LifecycleHook]
    """Hooks holds the lifecycle hook which is invoked at lifecycle of step, irrespective of the success, failure, or
    error status of the primary step
    """
    hostAliases: Sequence[HostAlias]
    hostNetwork: bool
    """Host networking requested for this workflow pod."""
    imagePullSecrets: Sequence[LocalObjectReference]
    """ImagePullSecrets is a list of references to secrets in the same namespace to use for pulling any images in
    pods that reference this ServiceAccount.
    """
    metrics: Metrics
    """Metrics are a list of metrics emitted from this Workflow"""
    nodeSelector: Mapping[str, str]
    """NodeSelector is a selector which will result in all pods of the workflow to be scheduled on the selected
    node(s).
    """
    onExit: str
    """OnExit is a template reference which is invoked at the end of the workflow, irrespective of the success,
    failure, or error of the primary io.argoproj.workflow.v1alpha1.
    """
    parallelism: int
    """Parallelism limits the max total parallel pods that can execute at the same time in a workflow"""
    podDisruptionBudget: PodDisruptionBudgetSpec
    """PodDisruptionBudget holds the number of concurrent disruptions that you allow for Workflow's Pods."""
    podGC: PodGC
    """PodGC describes the strategy to use when deleting completed pods"""
    podMetadata: Metadata
    """PodMetadata defines additional metadata that should be applied to workflow pods"""
    podPriorityClassName: str
    """PriorityClassName to apply to workflow pods."""
    podResources: ResourceRequirements
    podSpecPatch: str
    """PodSpecPatch holds strategic merge patch to apply against the pod spec."""
    priority: int
    """Priority is used if controller is configured to process limited number of workflows in parallel."""
    resourceClaims: Sequence[WorkflowSpecResourceClaims]
    retryStrategy: RetryStrategy
    """RetryStrategy for all templates in the io.argoproj.workflow.v1alpha1."""
    schedulerName: str
    """Set scheduler name for all pods."""
    securityContext: PodSecurityContext
    """SecurityContext holds pod-level security attributes and common container settings."""
    serviceAccountName: str
    """ServiceAccountName is the name of the ServiceAccount to run all pods of the workflow as."""
    shutdown: str
    """Shutdown will shutdown the workflow according to its ShutdownStrategy"""
    suspend: bool
    """Suspend will suspend the workflow and prevent execution of any future steps in the workflow"""
    synchronization: Synchronization
    """Synchronization holds synchronization lock configuration for this Workflow"""
    templateDefaults: Template
    """TemplateDefaults holds default template values that will apply to all templates in the Workflow, unless
    overridden on the template-level
    """
    templates: Sequence[Template]
    """Templates is a list of workflow templates used in a workflow MaxItems is an artificial limit to limit CEL
    validation costs - see note at top of file
    """
    tolerations: Sequence[Toleration]
    """Tolerations to apply to workflow pods."""
    ttlStrategy: TTLStrategy
    """TTLStrategy limits the lifetime of a Workflow that has finished execution depending on if it Succeeded or
    Failed.
    """
    volumeClaimGC: VolumeClaimGC
    """VolumeClaimGC describes the strategy to use when deleting volumes from completed workflows"""
    volumeClaimTemplates: Sequence[PersistentVolumeClaim]
    """VolumeClaimTemplates is a list of claims that containers are allowed to reference."""
    volumes: Sequence[Volume]
    """Volumes is a list of volumes that can be mounted by containers in a io.argoproj.workflow.v1alpha1."""
    workflowMetadata: WorkflowMetadata
    """WorkflowMetadata contains some metadata of the workflow to refer to"""
    workflowTemplateRef: WorkflowTemplateRef
    """WorkflowTemplateRef holds a reference to a WorkflowTemplate for execution"""
    stopStrategy: StopStrategy
    """v3.6 and after: StopStrategy defines if the CronWorkflow should stop scheduling based on a condition"""
    when: str
    """v3.6 and after: When is an expression that determines if a run should be scheduled."""


class TemplateAdditions(TypedDict, total=False):
    """What the option `argo=` of a step takes: the fields of a template, none of them required."""

    activeDeadlineSeconds: int | str
    """Optional duration in seconds relative to the StartTime that the pod may be active on a node before the system
    actively tries to terminate the pod; value must be positive integer This field is only applicable to container and
    script templates.
    """
    affinity: Affinity
    """Affinity sets the pod's scheduling constraints Overrides the affinity set at the workflow level (if any)"""
    annotations: Mapping[str, str]
    """Annotations is a list of annotations to add to the template at runtime"""
    archiveLocation: ArtifactLocation
    """Location in which all files related to the step will be stored (logs, artifacts, etc...)."""
    automountServiceAccountToken: bool
    """AutomountServiceAccountToken indicates whether a service account token should be automatically mounted in
    pods.
    """
    container: Container
    """Container is the main container image to run in the pod"""
    containerSet: ContainerSetTemplate
    """ContainerSet groups multiple containers within a single pod."""
    daemon: bool
    """Daemon will allow a workflow to proceed to the next step so long as the container reaches readiness"""
    dag: DAGTemplate
    """DAG template subtype which runs a DAG"""
    data: DataTemplate
    """Data is a data template"""
    executor: ExecutorConfig
    """Executor holds configurations of the executor container."""
    failFast: bool
    """FailFast, if specified, will fail this template if any of its child pods has failed."""
    hostAliases: Sequence[HostAlias]
    """HostAliases is an optional list of hosts and IPs that will be injected into the pod spec"""
    http: HTTPTemplate
    """HTTP makes a HTTP request"""
    initContainers: Sequence[UserContainer]
    """InitContainers is a list of containers which run before the main container."""
    inputs: Inputs
    """Inputs describe what inputs parameters and artifacts are supplied to this template"""
    memoize: Memoize
    """Memoize allows templates to use outputs generated from already executed templates"""
    metadata: Metadata
    """Metadata sets the pods's metadata, i.e. annotations and labels"""
    metrics: Metrics
    """Metrics are a list of metrics emitted from this template"""
    nodeSelector: Mapping[str, str]
    """NodeSelector is a selector to schedule this step of the workflow to be run on the selected node(s)."""
    outputs: Outputs
    """Outputs describe the parameters and artifacts that this template produces"""
    parallelism: int
    """Parallelism limits the max total parallel pods that can execute at the same time within the boundaries of this
    template invocation.
    """
    pendingTimeout: str
    plugin: Mapping[str, Any]
    """Plugin is a plugin template Note: the structure of a plugin template is free-form, so we need to have
    "x-kubernetes-preserve-unknown-fields: true" in the validation schema.
    """
    podResources: ResourceRequirements
    podSpecPatch: str
    """PodSpecPatch holds strategic merge patch to apply against the pod spec."""
    priorityClassName: str
    """PriorityClassName to apply to workflow pods."""
    resource: ResourceTemplate
    """Resource template subtype which can run k8s resources"""
    resourceClaims: Sequence[WorkflowSpecResourceClaims]
    retryStrategy: RetryStrategy
    """RetryStrategy describes how to retry a template when it fails"""
    schedulerName: str
    """If specified, the pod will be dispatched by specified scheduler."""
    script: ScriptTemplate
    """Script runs a portion of code against an interpreter"""
    securityContext: PodSecurityContext
    """SecurityContext holds pod-level security attributes and common container settings."""
    serviceAccountName: str
    """ServiceAccountName to apply to workflow pods"""
    sidecars: Sequence[UserContainer]
    """Sidecars is a list of containers which run alongside the main container Sidecars are automatically killed when
    the main container completes
    """
    steps: Sequence[Sequence[WorkflowStep]]
    """Steps define a series of sequential/parallel workflow steps"""
    suspend: SuspendTemplate
    """Suspend template subtype which can suspend a workflow when reaching the step"""
    synchronization: Synchronization
    """Synchronization holds synchronization lock configuration for this template"""
    timeout: str
    """Timeout allows to set the total node execution timeout duration counting from the node's start time."""
    tolerations: Sequence[Toleration]
    """Tolerations to apply to workflow pods."""
    volumes: Sequence[Volume]
    """Volumes is a list of volumes that can be mounted by containers in a template."""


class TaskAdditions(TypedDict, total=False):
    """What `argo_task` of a step takes: the fields of a task of a dag."""

    arguments: Arguments
    """Arguments are the parameter and artifact arguments to the template"""
    continueOn: ContinueOn
    """ContinueOn makes argo to proceed with the following step even if this step fails."""
    dependencies: Sequence[str]
    """Dependencies are name of other targets which this depends on"""
    depends: str
    """Depends are name of other targets which this depends on"""
    hooks: Mapping[str, LifecycleHook]
    """Hooks hold the lifecycle hook which is invoked at lifecycle of task, irrespective of the success, failure, or
    error status of the primary task
    """
    inline: Template
    """Inline is the template."""
    onExit: str
    """OnExit is a template reference which is invoked at the end of the template, irrespective of the success,
    failure, or error of the primary template.
    """
    template: str
    """Name of template to execute"""
    templateRef: TemplateRef
    """TemplateRef is the reference to the template resource to execute."""
    when: str
    """When is an expression in which the task should conditionally execute"""
    withItems: Any
    """WithItems expands a task into multiple parallel tasks from the items in the list Note: The structure of
    WithItems is free-form, so we need "x-kubernetes-preserve-unknown-fields: true" in the validation schema.
    """
    withParam: str
    """WithParam expands a task into multiple parallel tasks from the value in the parameter, which is expected to be
    a JSON list.
    """
    withSequence: WithSequence
    """WithSequence expands a task into a numeric sequence"""


__all__ = [
    "ArtifactFields",
    "ContainerFields",
    "ContainerSetFields",
    "DAGFields",
    "DataFields",
    "HTTPFields",
    "ParameterFields",
    "PluginFields",
    "RawTemplateFields",
    "ResourceFields",
    "ScheduledWorkflowSpec",
    "ScriptFields",
    "StepsFields",
    "SuspendFields",
    "TaskAdditions",
    "TemplateAdditions",
    "TemplateFields",
    "WorkflowFields",
]
