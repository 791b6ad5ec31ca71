"""Objects of Argo's API. Made by `make schemas`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Required, TypedDict

from couler_py.backends.argo.words.kubernetes import (
    Affinity,
    ConfigMapKeySelector,
    Container,
    ContainerPort,
    ContainerResizePolicy,
    ContainerRestartPolicyRules,
    EnvFromSource,
    EnvVar,
    HostAlias,
    LabelSelector,
    Lifecycle,
    LocalObjectReference,
    ObjectMeta,
    PersistentVolumeClaim,
    PodDisruptionBudgetSpec,
    PodDNSConfig,
    PodSecurityContext,
    Probe,
    ResourceRequirements,
    SecretKeySelector,
    SecurityContext,
    Toleration,
    Volume,
    VolumeDevice,
    VolumeMount,
)


class ArchiveStrategy(TypedDict, total=False):
    """ArchiveStrategy describes how to archive files/directory when saving artifacts"""

    none: Mapping[str, Any]
    tar: TarStrategy
    zip: Mapping[str, Any]


class Arguments(TypedDict, total=False):
    """Arguments to a template"""

    artifacts: Sequence[Artifact]
    """Artifacts is the list of artifacts to pass to the template or workflow"""
    parameters: Sequence[Parameter]
    """Parameters is the list of parameters to pass to the template or workflow"""


_Artifact = TypedDict("_Artifact", {"from": str}, total=False)


class Artifact(_Artifact, total=False):
    """Artifact indicates an artifact to place at a specified path"""

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
    name: Required[str]
    """name of the artifact. must be unique within a template's inputs/outputs."""
    optional: bool
    """Make Artifacts optional, if Artifacts doesn't generate or exist"""
    oss: OSSArtifact
    """OSS contains OSS artifact location details"""
    path: str
    """Path is the container path to the artifact"""
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


class ArtifactGC(TypedDict, total=False):
    """ArtifactGC describes how to delete artifacts from completed Workflows - this is embedded into the
    WorkflowLevelArtifactGC, and also used for individual Artifacts to override that as needed
    """

    podMetadata: Metadata
    """PodMetadata is an optional field for specifying the Labels and Annotations that should be assigned to the Pod
    doing the deletion
    """
    serviceAccountName: str
    """ServiceAccountName is an optional field for specifying the Service Account that should be assigned to the Pod
    doing the deletion
    """
    strategy: Literal["", "OnWorkflowCompletion", "OnWorkflowDeletion", "Never"]
    """Strategy is the strategy to use."""


class ArtifactLocation(TypedDict, total=False):
    """ArtifactLocation describes a location for a single or multiple artifacts."""

    archiveLogs: bool
    """ArchiveLogs indicates if the container logs should be archived"""
    artifactory: ArtifactoryArtifact
    """Artifactory contains artifactory artifact location details"""
    azure: AzureArtifact
    """Azure contains Azure Storage artifact location details"""
    gcs: GCSArtifact
    """GCS contains GCS artifact location details"""
    git: GitArtifact
    """Git contains git artifact location details"""
    hdfs: HDFSArtifact
    """HDFS contains HDFS artifact location details"""
    http: HTTPArtifact
    """HTTP contains HTTP artifact location details"""
    oss: OSSArtifact
    """OSS contains OSS artifact location details"""
    plugin: PluginArtifact
    """Plugin contains plugin artifact location details"""
    raw: RawArtifact
    """Raw contains raw artifact location details"""
    s3: S3Artifact
    """S3 contains S3 artifact location details"""


_ArtifactPaths = TypedDict("_ArtifactPaths", {"from": str}, total=False)


class ArtifactPaths(_ArtifactPaths, total=False):
    """ArtifactPaths expands a step from a collection of artifacts"""

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
    name: Required[str]
    """name of the artifact. must be unique within a template's inputs/outputs."""
    optional: bool
    """Make Artifacts optional, if Artifacts doesn't generate or exist"""
    oss: OSSArtifact
    """OSS contains OSS artifact location details"""
    path: str
    """Path is the container path to the artifact"""
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


class ArtifactRepositoryRef(TypedDict, total=False):
    """ArtifactRepositoryRef of Argo's API."""

    configMap: str
    """The name of the config map."""
    key: str
    """The config map key."""


class ArtifactoryArtifact(TypedDict, total=False):
    """ArtifactoryArtifact is the location of an artifactory artifact"""

    passwordSecret: SecretKeySelector
    """PasswordSecret is the secret selector to the repository password"""
    url: Required[str]
    """URL of the artifact"""
    usernameSecret: SecretKeySelector
    """UsernameSecret is the secret selector to the repository username"""


class AzureArtifact(TypedDict, total=False):
    """AzureArtifact is the location of an Azure Storage artifact"""

    accountKeySecret: SecretKeySelector
    """AccountKeySecret is the secret selector to the Azure Blob Storage account access key"""
    blob: Required[str]
    """Blob is the blob name (i.e., path) in the container where the artifact resides"""
    container: Required[str]
    """Container is the container where resources will be stored"""
    endpoint: Required[str]
    """Endpoint is the service url associated with an account."""
    useSDKCreds: bool
    """UseSDKCreds tells the driver to figure out credentials based on sdk defaults."""


class Backoff(TypedDict, total=False):
    """Backoff is a backoff strategy to use within retryStrategy"""

    cap: str
    """Cap is a limit on revised values of the duration parameter."""
    duration: str
    """Duration is the amount to back off."""
    factor: int | str
    """Factor is a factor to multiply the base duration after each failed retry"""
    maxDuration: str
    """MaxDuration is the maximum amount of time allowed for a workflow in the backoff strategy."""


class BasicAuth(TypedDict, total=False):
    """BasicAuth describes the secret selectors required for basic authentication"""

    passwordSecret: SecretKeySelector
    """PasswordSecret is the secret selector to the repository password"""
    usernameSecret: SecretKeySelector
    """UsernameSecret is the secret selector to the repository username"""


class ClientCertAuth(TypedDict, total=False):
    """ClientCertAuth holds necessary information for client authentication via certificates"""

    clientCertSecret: SecretKeySelector
    clientKeySecret: SecretKeySelector


class ContainerNode(TypedDict, total=False):
    """ContainerNode of Argo's API."""

    args: Sequence[str]
    """Arguments to the entrypoint."""
    command: Sequence[str]
    """Entrypoint array."""
    dependencies: Sequence[str]
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
    name: Required[str]
    """Name of the container specified as a DNS_LABEL."""
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
    securityContext: SecurityContext
    """SecurityContext defines the security options the container should be run with."""
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


class ContainerSetRetryStrategy(TypedDict, total=False):
    """ContainerSetRetryStrategy provides controls on how to retry a container set"""

    duration: str
    """Duration is the time between each retry, examples values are "300ms", "1s" or "5m"."""
    retries: Required[int | str]
    """Retries is the maximum number of retry attempts for each container."""


class ContainerSetTemplate(TypedDict, total=False):
    """ContainerSetTemplate of Argo's API."""

    containers: Sequence[ContainerNode]
    retryStrategy: ContainerSetRetryStrategy
    """RetryStrategy describes how to retry container nodes if the container set fails."""
    volumeMounts: Sequence[VolumeMount]


class ContinueOn(TypedDict, total=False):
    """ContinueOn defines if a workflow should continue even if a task or step fails/errors."""

    error: bool
    failed: bool


class Counter(TypedDict, total=False):
    """Counter is a Counter prometheus metric"""

    value: Required[str]
    """Value is the value of the metric"""


class CreateS3BucketOptions(TypedDict, total=False):
    """CreateS3BucketOptions options used to determine automatic automatic bucket-creation process"""

    objectLocking: bool
    """ObjectLocking Enable object locking"""


class CronWorkflowSpec(TypedDict, total=False):
    """CronWorkflowSpec is the specification of a CronWorkflow"""

    concurrencyPolicy: Literal["Allow", "Forbid", "Replace"]
    """ConcurrencyPolicy is the K8s-style concurrency policy that will be used"""
    failedJobsHistoryLimit: int
    """FailedJobsHistoryLimit is the number of failed jobs to be kept at a time"""
    schedules: Required[Sequence[str]]
    """v3.6 and after: Schedules is a list of schedules to run the Workflow in Cron format"""
    startingDeadlineSeconds: int
    """StartingDeadlineSeconds is the K8s-style deadline that will limit the time a CronWorkflow will be run after
    its original scheduled time if it is missed.
    """
    stopStrategy: StopStrategy
    """v3.6 and after: StopStrategy defines if the CronWorkflow should stop scheduling based on a condition"""
    successfulJobsHistoryLimit: int
    """SuccessfulJobsHistoryLimit is the number of successful jobs to be kept at a time"""
    suspend: bool
    """Suspend is a flag that will stop new CronWorkflows from running if set to true"""
    timezone: str
    """Timezone is the timezone against which the cron schedule will be calculated, e.g. "Asia/Tokyo"."""
    when: str
    """v3.6 and after: When is an expression that determines if a run should be scheduled."""
    workflowMetadata: ObjectMeta
    """WorkflowMetadata contains some metadata of the workflow to be run"""
    workflowSpec: Required[WorkflowSpec]
    """WorkflowSpec is the spec of the workflow to be run"""


class DAGTask(TypedDict, total=False):
    """DAGTask represents a node in the graph during DAG execution Note: CEL validation cannot check withItems
    (Schemaless) or inline (PreserveUnknownFields) fields.
    """

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
    name: Required[str]
    """Name is the name of the target"""
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


class DAGTemplate(TypedDict, total=False):
    """DAGTemplate is a template subtype for directed acyclic graph templates"""

    failFast: bool
    """This flag is for DAG logic."""
    target: str
    """Target are one or more names of targets to execute in a DAG"""
    tasks: Sequence[DAGTask]
    """Tasks are a list of DAG tasks MaxItems is an artificial limit to limit CEL validation costs - see note at top
    of file
    """


class DataSource(TypedDict, total=False):
    """DataSource sources external data into a data template"""

    artifactPaths: ArtifactPaths
    """ArtifactPaths is a data transformation that collects a list of artifact paths"""


class DataTemplate(TypedDict, total=False):
    """Data is a data template"""

    source: DataSource
    """Source sources external data into a data template"""
    transformation: Sequence[TransformationStep]
    """Transformation applies a set of transformations"""


class ExecutorConfig(TypedDict, total=False):
    """ExecutorConfig holds configurations of an executor container."""

    serviceAccountName: str
    """ServiceAccountName specifies the service account name of the executor container."""


class GCSArtifact(TypedDict, total=False):
    """GCSArtifact is the location of a GCS artifact"""

    bucket: str
    """Bucket is the name of the bucket"""
    key: Required[str]
    """Key is the path in the bucket where the artifact resides"""
    serviceAccountKeySecret: SecretKeySelector
    """ServiceAccountKeySecret is the secret selector to the bucket's service account key"""


class Gauge(TypedDict, total=False):
    """Gauge is a Gauge prometheus metric"""

    operation: Literal["Set", "Add", "Sub"]
    """Operation defines the operation to apply with value and the metrics' current value"""
    realtime: Required[bool]
    """Realtime emits this metric in real time if applicable"""
    value: Required[str]
    """Value is the value to be used in the operation with the metric's current value."""


class GitArtifact(TypedDict, total=False):
    """GitArtifact is the location of a git artifact"""

    branch: str
    """Branch is the branch to fetch when `SingleBranch` is enabled"""
    depth: int
    """Depth specifies clones/fetches should be shallow and include the given number of commits from the branch tip"""
    disableSubmodules: bool
    """DisableSubmodules disables submodules during git clone"""
    fetch: Sequence[str]
    """Fetch specifies a number of refs that should be fetched before checkout"""
    insecureIgnoreHostKey: bool
    """InsecureIgnoreHostKey disables SSH strict host key checking during git clone"""
    insecureSkipTLS: bool
    """InsecureSkipTLS disables server certificate verification resulting in insecure HTTPS connections"""
    passwordSecret: SecretKeySelector
    """PasswordSecret is the secret selector to the repository password"""
    repo: Required[str]
    """Repo is the git repository"""
    revision: str
    """Revision is the git commit, tag, branch to checkout"""
    singleBranch: bool
    """SingleBranch enables single branch clone, using the `branch` parameter"""
    sshPrivateKeySecret: SecretKeySelector
    """SSHPrivateKeySecret is the secret selector to the repository ssh private key"""
    usernameSecret: SecretKeySelector
    """UsernameSecret is the secret selector to the repository username"""


class HDFSArtifact(TypedDict, total=False):
    """HDFSArtifact is the location of an HDFS artifact"""

    addresses: Sequence[str]
    """Addresses is accessible addresses of HDFS name nodes"""
    dataTransferProtection: str
    """DataTransferProtection is the protection level for HDFS data transfer."""
    force: bool
    """Force copies a file forcibly even if it exists"""
    hdfsUser: str
    """HDFSUser is the user to access HDFS file system."""
    krbCCacheSecret: SecretKeySelector
    """KrbCCacheSecret is the secret selector for Kerberos ccache Either ccache or keytab can be set to use Kerberos.
    """
    krbConfigConfigMap: ConfigMapKeySelector
    """KrbConfig is the configmap selector for Kerberos config as string It must be set if either ccache or keytab is
    used.
    """
    krbKeytabSecret: SecretKeySelector
    """KrbKeytabSecret is the secret selector for Kerberos keytab Either ccache or keytab can be set to use Kerberos.
    """
    krbRealm: str
    """KrbRealm is the Kerberos realm used with Kerberos keytab It must be set if keytab is used."""
    krbServicePrincipalName: str
    """KrbServicePrincipalName is the principal name of Kerberos service It must be set if either ccache or keytab is
    used.
    """
    krbUsername: str
    """KrbUsername is the Kerberos username used with Kerberos keytab It must be set if keytab is used."""
    path: Required[str]
    """Path is a file path in HDFS"""


class HTTPArtifact(TypedDict, total=False):
    """HTTPArtifact allows a file served on HTTP to be placed as an input artifact in a container"""

    auth: HTTPAuth
    """Auth contains information for client authentication"""
    headers: Sequence[Header]
    """Headers are an optional list of headers to send with HTTP requests for artifacts"""
    saveStreamViaFile: bool
    url: Required[str]
    """URL of the artifact"""


class HTTPAuth(TypedDict, total=False):
    """HTTPAuth of Argo's API."""

    basicAuth: BasicAuth
    clientCert: ClientCertAuth
    oauth2: OAuth2Auth


class HTTPBodySource(TypedDict, total=False):
    """HTTPBodySource contains the source of the HTTP body."""

    bytes: str


class HTTPHeaderSource(TypedDict, total=False):
    """HTTPHeaderSource of Argo's API."""

    secretKeyRef: SecretKeySelector


class HTTPTemplate(TypedDict, total=False):
    """HTTPTemplate of Argo's API."""

    body: str
    """Body is content of the HTTP Request"""
    bodyFrom: HTTPBodySource
    """BodyFrom is content of the HTTP Request as Bytes"""
    headers: Sequence[HTTPTemplateHeader]
    """Headers are an optional list of headers to send with HTTP requests"""
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


class HTTPTemplateHeader(TypedDict, total=False):
    """HTTPTemplateHeader of Argo's API."""

    name: Required[str]
    value: str
    valueFrom: HTTPHeaderSource


class Header(TypedDict, total=False):
    """Header indicate a key-value request header to be used when fetching artifacts over HTTP"""

    name: Required[str]
    """Name is the header name"""
    value: Required[str]
    """Value is the literal value to use for the header"""


class Histogram(TypedDict, total=False):
    """Histogram is a Histogram prometheus metric"""

    buckets: Required[Sequence[float]]
    """Buckets is a list of bucket divisors for the histogram"""
    value: Required[str]
    """Value is the value of the metric"""


class Inputs(TypedDict, total=False):
    """Inputs are the mechanism for passing parameters, artifacts, volumes from one template to another"""

    artifacts: Sequence[Artifact]
    """Artifact are a list of artifacts passed as inputs"""
    parameters: Sequence[Parameter]
    """Parameters are a list of parameters passed as inputs MaxItems is an artificial limit to limit CEL validation
    costs - see note at top of file
    """


class LabelValueFrom(TypedDict, total=False):
    """LabelValueFrom of Argo's API."""

    expression: Required[str]


class LifecycleHook(TypedDict, total=False):
    """LifecycleHook of Argo's API."""

    arguments: Arguments
    """Arguments hold arguments to the template"""
    expression: str
    """Expression is a condition expression for when a node will be retried."""
    template: str
    """Template is the name of the template to execute by the hook"""
    templateRef: TemplateRef
    """TemplateRef is the reference to the template resource to execute by the hook"""


class ManifestFrom(TypedDict, total=False):
    """ManifestFrom of Argo's API."""

    artifact: Required[Artifact]
    """Artifact contains the artifact to use"""


class Memoize(TypedDict, total=False):
    """Memoization enables caching for the Outputs of the template"""

    cache: Required[MemoizeCache]
    """Cache sets and configures the kind of cache"""
    key: Required[str]
    """Key is the key to use as the caching key"""
    maxAge: Required[str]
    """MaxAge is the maximum age (e.g. "180s", "24h") of an entry that is still considered valid."""


class MemoizeCache(TypedDict, total=False):
    """Cache is the configuration for the type of cache to be used"""

    configMap: Required[LocalObjectReference]
    """ConfigMap sets a ConfigMap-based cache"""


class Metadata(TypedDict, total=False):
    """Pod metadata"""

    annotations: Mapping[str, str]
    labels: Mapping[str, str]


class MetricLabel(TypedDict, total=False):
    """MetricLabel is a single label for a prometheus metric"""

    key: Required[str]
    value: Required[str]


class Metrics(TypedDict, total=False):
    """Metrics are a list of metrics emitted from a Workflow/Template"""

    prometheus: Required[Sequence[Prometheus]]
    """Prometheus is a list of prometheus metrics to be emitted MaxItems is an artificial limit to limit CEL
    validation costs - see note at top of file
    """


class Mutex(TypedDict, total=False):
    """Mutex holds Mutex configuration"""

    database: bool
    """Database specifies this is database controlled if this is set true"""
    name: str
    """name of the mutex"""
    namespace: str
    """Namespace is the namespace of the mutex, default: [namespace of workflow]"""


class OAuth2Auth(TypedDict, total=False):
    """OAuth2Auth holds all information for client authentication via OAuth2 tokens"""

    clientIDSecret: SecretKeySelector
    clientSecretSecret: SecretKeySelector
    endpointParams: Sequence[OAuth2EndpointParam]
    scopes: Sequence[str]
    tokenURLSecret: SecretKeySelector


class OAuth2EndpointParam(TypedDict, total=False):
    """EndpointParam is for requesting optional fields that should be sent in the oauth request"""

    key: Required[str]
    """Name is the header name"""
    value: str
    """Value is the literal value to use for the header"""


class OSSArtifact(TypedDict, total=False):
    """OSSArtifact is the location of an Alibaba Cloud OSS artifact"""

    accessKeySecret: SecretKeySelector
    """AccessKeySecret is the secret selector to the bucket's access key"""
    bucket: str
    """Bucket is the name of the bucket"""
    createBucketIfNotPresent: bool
    """CreateBucketIfNotPresent tells the driver to attempt to create the OSS bucket for output artifacts, if it
    doesn't exist
    """
    endpoint: str
    """Endpoint is the hostname of the bucket endpoint"""
    key: Required[str]
    """Key is the path in the bucket where the artifact resides"""
    lifecycleRule: OSSLifecycleRule
    """LifecycleRule specifies how to manage bucket's lifecycle"""
    secretKeySecret: SecretKeySelector
    """SecretKeySecret is the secret selector to the bucket's secret key"""
    securityToken: str
    """SecurityToken is the user's temporary security token."""
    useSDKCreds: bool
    """UseSDKCreds tells the driver to figure out credentials based on sdk defaults."""


class OSSLifecycleRule(TypedDict, total=False):
    """OSSLifecycleRule specifies how to manage bucket's lifecycle"""

    markDeletionAfterDays: int
    """MarkDeletionAfterDays is the number of days before we delete objects in the bucket"""
    markInfrequentAccessAfterDays: int
    """MarkInfrequentAccessAfterDays is the number of days before we convert the objects in the bucket to Infrequent
    Access (IA) storage type
    """


class Outputs(TypedDict, total=False):
    """Outputs hold parameters, artifacts, and results from a step"""

    artifacts: Sequence[Artifact]
    """Artifacts holds the list of output artifacts produced by a step"""
    exitCode: str
    """ExitCode holds the exit code of a script template"""
    parameters: Sequence[Parameter]
    """Parameters holds the list of output parameters produced by a step"""
    result: str
    """Result holds the result (stdout) of a script or container template, or the response body of an HTTP template"""


class Parameter(TypedDict, total=False):
    """Parameter indicate a passed string parameter to a service template with an optional default value"""

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
    name: Required[str]
    """Name is the parameter name"""
    value: str
    """Value is the literal value to use for the parameter."""
    valueFrom: ValueFrom
    """ValueFrom is the source for the output parameter's value"""


class PluginArtifact(TypedDict, total=False):
    """PluginArtifact is the location of a plugin artifact"""

    configuration: str
    """Configuration is the plugin defined configuration for the artifact driver plugin"""
    connectionTimeoutSeconds: int
    """ConnectionTimeoutSeconds is the timeout for the artifact driver connection, overriding the driver's timeout"""
    key: Required[str]
    """Key is the path in the artifact repository where the artifact resides"""
    name: str
    """Name is the name of the artifact driver plugin"""


class PodGC(TypedDict, total=False):
    """PodGC describes how to delete completed pods as they complete"""

    deleteDelayDuration: str
    """DeleteDelayDuration specifies the duration before pods in the GC queue get deleted."""
    labelSelector: LabelSelector
    """LabelSelector is the label selector to check if the pods match the labels before being added to the pod GC
    queue.
    """
    strategy: Literal["", "OnPodCompletion", "OnPodSuccess", "OnWorkflowCompletion", "OnWorkflowSuccess"]
    """Strategy is the strategy to use."""


class Prometheus(TypedDict, total=False):
    """Prometheus is a prometheus metric to be emitted"""

    counter: Counter
    """Counter is a counter metric"""
    gauge: Gauge
    """Gauge is a gauge metric"""
    help: Required[str]
    """Help is a string that describes the metric"""
    histogram: Histogram
    """Histogram is a histogram metric"""
    labels: Sequence[MetricLabel]
    """Labels is a list of metric labels"""
    name: Required[str]
    """Name is the name of the metric"""
    when: str
    """When is a conditional statement that decides when to emit the metric"""


class RawArtifact(TypedDict, total=False):
    """RawArtifact allows raw string content to be placed as an artifact in a container"""

    data: Required[str]
    """Data is the string contents of the artifact"""


class ResourceTemplate(TypedDict, total=False):
    """ResourceTemplate is a template subtype to manipulate kubernetes resources"""

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
    setOwnerReference: bool
    """SetOwnerReference sets the reference to the workflow on the OwnerReference of generated resource."""
    successCondition: str
    """SuccessCondition is a label selector expression which describes the conditions of the k8s resource in which it
    is acceptable to proceed to the following step
    """


class RetryAffinity(TypedDict, total=False):
    """RetryAffinity prevents running steps on the same host."""

    nodeAntiAffinity: Mapping[str, Any]


class RetryStrategy(TypedDict, total=False):
    """RetryStrategy provides controls on how to retry a workflow step"""

    affinity: RetryAffinity
    """Affinity prevents running workflow's step on the same host"""
    backoff: Backoff
    """Backoff is a backoff strategy"""
    expression: str
    """Expression is a condition expression for when a node will be retried."""
    limit: int | str
    """Limit is the maximum number of retry attempts when retrying a container."""
    retryPolicy: Literal["Always", "OnFailure", "OnError", "OnTransientError"]
    """RetryPolicy is a policy of NodePhase statuses that will be retried"""


class S3Artifact(TypedDict, total=False):
    """S3Artifact is the location of an S3 artifact"""

    accessKeySecret: SecretKeySelector
    """AccessKeySecret is the secret selector to the bucket's access key"""
    addressingStyle: Literal["", "path", "virtual-hosted"]
    bucket: str
    """Bucket is the name of the bucket"""
    caSecret: SecretKeySelector
    """CASecret specifies the secret that contains the CA, used to verify the TLS connection"""
    createBucketIfNotPresent: CreateS3BucketOptions
    """CreateBucketIfNotPresent tells the driver to attempt to create the S3 bucket for output artifacts, if it
    doesn't exist.
    """
    encryptionOptions: S3EncryptionOptions
    endpoint: str
    """Endpoint is the hostname of the bucket endpoint"""
    insecure: bool
    """Insecure will connect to the service with TLS"""
    key: str
    """Key is the key in the bucket where the artifact resides"""
    region: str
    """Region contains the optional bucket region"""
    roleARN: str
    """RoleARN is the Amazon Resource Name (ARN) of the role to assume."""
    secretKeySecret: SecretKeySelector
    """SecretKeySecret is the secret selector to the bucket's secret key"""
    sessionTokenSecret: SecretKeySelector
    """SessionTokenSecret is used for ephemeral credentials like an IAM assume role or S3 access grant"""
    useSDKCreds: bool
    """UseSDKCreds tells the driver to figure out credentials based on sdk defaults."""


class S3EncryptionOptions(TypedDict, total=False):
    """S3EncryptionOptions used to determine encryption options during s3 operations"""

    enableEncryption: bool
    """EnableEncryption tells the driver to encrypt objects if set to true."""
    kmsEncryptionContext: str
    """KmsEncryptionContext is a json blob that contains an encryption context."""
    kmsKeyId: str
    """KMSKeyId tells the driver to encrypt the object using the specified KMS Key."""
    serverSideCustomerKeySecret: SecretKeySelector
    """ServerSideCustomerKeySecret tells the driver to encrypt the output artifacts using SSE-C with the specified
    secret.
    """


class ScriptTemplate(TypedDict, total=False):
    """ScriptTemplate is a template subtype to enable scripting through code steps"""

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
    name: str
    """Name of the container specified as a DNS_LABEL."""
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
    securityContext: SecurityContext
    """SecurityContext defines the security options the container should be run with."""
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


class SemaphoreRef(TypedDict, total=False):
    """SemaphoreRef is a reference of Semaphore"""

    configMapKeyRef: ConfigMapKeySelector
    """ConfigMapKeyRef is a configmap selector for Semaphore configuration"""
    database: SyncDatabaseRef
    """SyncDatabaseRef is a database reference for Semaphore configuration"""
    namespace: str
    """Namespace is the namespace of the configmap, default: [namespace of workflow]"""


class StopStrategy(TypedDict, total=False):
    """StopStrategy defines if the CronWorkflow should stop scheduling based on an expression. v3.6 and after"""

    expression: Required[str]
    """v3.6 and after: Expression is an expression that stops scheduling workflows when true."""


class SuspendTemplate(TypedDict, total=False):
    """SuspendTemplate is a template subtype to suspend a workflow at a predetermined point in time"""

    duration: str
    """Duration is the seconds to wait before automatically resuming a template."""


class SyncDatabaseRef(TypedDict, total=False):
    """SyncDatabaseRef of Argo's API."""

    key: Required[str]


class Synchronization(TypedDict, total=False):
    """Synchronization holds synchronization lock configuration"""

    mutexes: Sequence[Mutex]
    """v3.6 and after: Mutexes holds the list of Mutex lock details"""
    semaphores: Sequence[SemaphoreRef]
    """v3.6 and after: Semaphores holds the list of Semaphores configuration"""


class TTLStrategy(TypedDict, total=False):
    """TTLStrategy is the strategy for the time to live depending on if the workflow succeeded or failed"""

    secondsAfterCompletion: int
    """SecondsAfterCompletion is the number of seconds to live after completion"""
    secondsAfterFailure: int
    """SecondsAfterFailure is the number of seconds to live after failure"""
    secondsAfterSuccess: int
    """SecondsAfterSuccess is the number of seconds to live after success"""


class TarStrategy(TypedDict, total=False):
    """TarStrategy will tar and gzip the file or directory when saving"""

    compressionLevel: int
    """CompressionLevel specifies the gzip compression level to use for the artifact."""


class Template(TypedDict, total=False):
    """Template is a reusable and composable unit of execution in a workflow"""

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
    name: str
    """Name is the name of the template"""
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


class TemplateRef(TypedDict, total=False):
    """TemplateRef is a reference of template resource."""

    clusterScope: bool
    """ClusterScope indicates the referred template is cluster scoped (i.e. a ClusterWorkflowTemplate)."""
    name: str
    """Name is the resource name of the template."""
    template: str
    """Template is the name of referred template in the resource."""


class TransformationStep(TypedDict, total=False):
    """TransformationStep of Argo's API."""

    expression: Required[str]
    """Expression defines an expr expression to apply"""


class UserContainer(TypedDict, total=False):
    """UserContainer is a container specified by a user."""

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
    mirrorVolumeMounts: bool
    """MirrorVolumeMounts will mount the same volumes specified in the main container to the container (including
    artifacts), at the same mountPaths.
    """
    name: Required[str]
    """Name of the container specified as a DNS_LABEL."""
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
    securityContext: SecurityContext
    """SecurityContext defines the security options the container should be run with."""
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


class ValueFrom(TypedDict, total=False):
    """ValueFrom describes a location in which to obtain the value to a parameter"""

    configMapKeyRef: ConfigMapKeySelector
    """ConfigMapKeyRef is configmap selector for input parameter configuration"""
    default: str
    """Default specifies a value to be used if retrieving the value from the specified source fails"""
    event: str
    """Selector (https://github.com/expr-lang/expr) that is evaluated against the event to get the value of the
    parameter.
    """
    expression: str
    """Expression, if defined, is evaluated to specify the value for the parameter"""
    jqFilter: str
    """JQFilter expression against the resource object in resource templates"""
    jsonPath: str
    """JSONPath of a resource to retrieve an output parameter value from in resource templates"""
    parameter: str
    """Parameter reference to a step or dag task in which to retrieve an output parameter value from (e.g.
    steps.mystep.outputs.myparam)
    """
    path: str
    """Path in the container to retrieve an output parameter value from in container templates"""
    supplied: Mapping[str, Any]
    """Supplied value to be filled in directly, either through the CLI, API, etc."""


class VolumeClaimGC(TypedDict, total=False):
    """VolumeClaimGC describes how to delete volumes from completed Workflows"""

    strategy: str
    """Strategy is the strategy to use."""


class WithSequence(TypedDict, total=False):
    """Sequence expands a workflow step into numeric range"""

    count: int | str
    """Count is number of elements in the sequence (default: 0)."""
    end: int | str
    """Number at which to end the sequence (default: 0)."""
    format: str
    """Format is a printf format string to format the value in the sequence"""
    start: int | str
    """Number at which to start the sequence (default: 0)"""


class WorkflowLevelArtifactGC(TypedDict, total=False):
    """WorkflowLevelArtifactGC describes how to delete artifacts from completed Workflows - this spec is used on the
    Workflow level
    """

    forceFinalizerRemoval: bool
    """ForceFinalizerRemoval: if set to true, the finalizer will be removed in the case that Artifact GC fails"""
    podMetadata: Metadata
    """PodMetadata is an optional field for specifying the Labels and Annotations that should be assigned to the Pod
    doing the deletion
    """
    podSpecPatch: str
    """PodSpecPatch holds strategic merge patch to apply against the artgc pod spec."""
    serviceAccountName: str
    """ServiceAccountName is an optional field for specifying the Service Account that should be assigned to the Pod
    doing the deletion
    """
    strategy: Literal["", "OnWorkflowCompletion", "OnWorkflowDeletion", "Never"]
    """Strategy is the strategy to use."""


class WorkflowMetadata(TypedDict, total=False):
    """WorkflowMetadata of Argo's API."""

    annotations: Mapping[str, str]
    labels: Mapping[str, str]
    labelsFrom: Mapping[str, LabelValueFrom]


class WorkflowSpec(TypedDict, total=False):
    """WorkflowSpec is the specification of a Workflow."""

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


class WorkflowSpecExecutorPlugins(TypedDict, total=False):
    """WorkflowSpecExecutorPlugins of Argo's API."""

    metadata: Required[WorkflowSpecExecutorPluginsMetadata]
    spec: Required[WorkflowSpecExecutorPluginsSpec]


class WorkflowSpecExecutorPluginsMetadata(TypedDict, total=False):
    """WorkflowSpecExecutorPluginsMetadata of Argo's API."""

    annotations: Mapping[str, str]
    finalizers: Sequence[str]
    labels: Mapping[str, str]
    name: str
    namespace: str


class WorkflowSpecExecutorPluginsSpec(TypedDict, total=False):
    """WorkflowSpecExecutorPluginsSpec of Argo's API."""

    sidecar: Required[WorkflowSpecExecutorPluginsSpecSidecar]


class WorkflowSpecExecutorPluginsSpecSidecar(TypedDict, total=False):
    """WorkflowSpecExecutorPluginsSpecSidecar of Argo's API."""

    automountServiceAccountToken: bool
    container: Required[Container]


class WorkflowSpecResourceClaims(TypedDict, total=False):
    """WorkflowSpecResourceClaims of Argo's API."""

    name: Required[str]
    resourceClaimName: str
    resourceClaimTemplateName: str


class WorkflowStep(TypedDict, total=False):
    """WorkflowStep is a reference to a template to execute in a series of step Note: CEL validation cannot check
    withItems (Schemaless) or inline (PreserveUnknownFields) fields.
    """

    arguments: Arguments
    """Arguments hold arguments to the template"""
    continueOn: ContinueOn
    """ContinueOn makes argo to proceed with the following step even if this step fails."""
    hooks: Mapping[str, LifecycleHook]
    """Hooks holds the lifecycle hook which is invoked at lifecycle of step, irrespective of the success, failure, or
    error status of the primary step
    """
    inline: Template
    """Inline is the template."""
    name: str
    """Name of the step"""
    onExit: str
    """OnExit is a template reference which is invoked at the end of the template, irrespective of the success,
    failure, or error of the primary template.
    """
    template: str
    """Template is the name of the template to execute as the step"""
    templateRef: TemplateRef
    """TemplateRef is the reference to the template resource to execute as the step."""
    when: str
    """When is an expression in which the step should conditionally execute"""
    withItems: Any
    """WithItems expands a step into multiple parallel steps from the items in the list Note: The structure of
    WithItems is free-form, so we need "x-kubernetes-preserve-unknown-fields: true" in the validation schema.
    """
    withParam: str
    """WithParam expands a step into multiple parallel steps from the value in the parameter, which is expected to be
    a JSON list.
    """
    withSequence: WithSequence
    """WithSequence expands a step into a numeric sequence"""


class WorkflowTemplateRef(TypedDict, total=False):
    """WorkflowTemplateRef is a reference to a WorkflowTemplate resource."""

    clusterScope: bool
    """ClusterScope indicates the referred template is cluster scoped (i.e. a ClusterWorkflowTemplate)."""
    name: str
    """Name is the resource name of the workflow template."""


__all__ = [
    "ArchiveStrategy",
    "Arguments",
    "Artifact",
    "ArtifactGC",
    "ArtifactLocation",
    "ArtifactPaths",
    "ArtifactRepositoryRef",
    "ArtifactoryArtifact",
    "AzureArtifact",
    "Backoff",
    "BasicAuth",
    "ClientCertAuth",
    "ContainerNode",
    "ContainerSetRetryStrategy",
    "ContainerSetTemplate",
    "ContinueOn",
    "Counter",
    "CreateS3BucketOptions",
    "CronWorkflowSpec",
    "DAGTask",
    "DAGTemplate",
    "DataSource",
    "DataTemplate",
    "ExecutorConfig",
    "GCSArtifact",
    "Gauge",
    "GitArtifact",
    "HDFSArtifact",
    "HTTPArtifact",
    "HTTPAuth",
    "HTTPBodySource",
    "HTTPHeaderSource",
    "HTTPTemplate",
    "HTTPTemplateHeader",
    "Header",
    "Histogram",
    "Inputs",
    "LabelValueFrom",
    "LifecycleHook",
    "ManifestFrom",
    "Memoize",
    "MemoizeCache",
    "Metadata",
    "MetricLabel",
    "Metrics",
    "Mutex",
    "OAuth2Auth",
    "OAuth2EndpointParam",
    "OSSArtifact",
    "OSSLifecycleRule",
    "Outputs",
    "Parameter",
    "PluginArtifact",
    "PodGC",
    "Prometheus",
    "RawArtifact",
    "ResourceTemplate",
    "RetryAffinity",
    "RetryStrategy",
    "S3Artifact",
    "S3EncryptionOptions",
    "ScriptTemplate",
    "SemaphoreRef",
    "StopStrategy",
    "SuspendTemplate",
    "SyncDatabaseRef",
    "Synchronization",
    "TTLStrategy",
    "TarStrategy",
    "Template",
    "TemplateRef",
    "TransformationStep",
    "UserContainer",
    "ValueFrom",
    "VolumeClaimGC",
    "WithSequence",
    "WorkflowLevelArtifactGC",
    "WorkflowMetadata",
    "WorkflowSpec",
    "WorkflowSpecExecutorPlugins",
    "WorkflowSpecExecutorPluginsMetadata",
    "WorkflowSpecExecutorPluginsSpec",
    "WorkflowSpecExecutorPluginsSpecSidecar",
    "WorkflowSpecResourceClaims",
    "WorkflowStep",
    "WorkflowTemplateRef",
]
