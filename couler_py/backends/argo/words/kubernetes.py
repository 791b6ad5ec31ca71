"""Objects of Kubernetes' API that Argo's documents hold. Made by `make schemas`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Required, TypedDict


class AWSElasticBlockStoreVolumeSource(TypedDict, total=False):
    """Represents a Persistent Disk resource in AWS."""

    fsType: str
    """fsType is the filesystem type of the volume that you want to mount."""
    partition: int
    """partition is the partition in the volume that you want to mount."""
    readOnly: bool
    """readOnly value true will force the readOnly setting in VolumeMounts."""
    volumeID: Required[str]
    """volumeID is unique ID of the persistent disk resource in AWS (Amazon EBS volume)."""


class Affinity(TypedDict, total=False):
    """Affinity is a group of affinity scheduling rules."""

    nodeAffinity: NodeAffinity
    """Describes node affinity scheduling rules for the pod."""
    podAffinity: PodAffinity
    """Describes pod affinity scheduling rules (e.g. co-locate this pod in the same node, zone, etc. as some other
    pod(s)).
    """
    podAntiAffinity: PodAntiAffinity
    """Describes pod anti-affinity scheduling rules (e.g. avoid putting this pod in the same node, zone, etc. as some
    other pod(s)).
    """


class AppArmorProfile(TypedDict, total=False):
    """AppArmorProfile defines a pod or container's AppArmor settings."""

    localhostProfile: str
    """localhostProfile indicates a profile loaded on the node that should be used."""
    type: Required[str]
    """type indicates which kind of AppArmor profile will be applied."""


class AzureDiskVolumeSource(TypedDict, total=False):
    """AzureDisk represents an Azure Data Disk mount on the host and bind mount to the pod."""

    cachingMode: str
    """cachingMode is the Host Caching mode: None, Read Only, Read Write."""
    diskName: Required[str]
    """diskName is the Name of the data disk in the blob storage"""
    diskURI: Required[str]
    """diskURI is the URI of data disk in the blob storage"""
    fsType: str
    """fsType is Filesystem type to mount."""
    kind: str
    """kind expected values are Shared: multiple blob disks per storage account Dedicated: single blob disk per
    storage account Managed: azure managed data disk (only in managed availability set). defaults to shared
    """
    readOnly: bool
    """readOnly Defaults to false (read/write)."""


class AzureFileVolumeSource(TypedDict, total=False):
    """AzureFile represents an Azure File Service mount on the host and bind mount to the pod."""

    readOnly: bool
    """readOnly defaults to false (read/write)."""
    secretName: Required[str]
    """secretName is the name of secret that contains Azure Storage Account Name and Key"""
    shareName: Required[str]
    """shareName is the azure share Name"""


class CSIVolumeSource(TypedDict, total=False):
    """Represents a source location of a volume to mount, managed by an external CSI driver"""

    driver: Required[str]
    """driver is the name of the CSI driver that handles this volume."""
    fsType: str
    """fsType to mount."""
    nodePublishSecretRef: LocalObjectReference
    """nodePublishSecretRef is a reference to the secret object containing sensitive information to pass to the CSI
    driver to complete the CSI NodePublishVolume and NodeUnpublishVolume calls.
    """
    readOnly: bool
    """readOnly specifies a read-only configuration for the volume."""
    volumeAttributes: Mapping[str, str]
    """volumeAttributes stores driver-specific properties that are passed to the CSI driver."""


class Capabilities(TypedDict, total=False):
    """Adds and removes POSIX capabilities from running containers."""

    add: Sequence[str]
    """Added capabilities"""
    drop: Sequence[str]
    """Removed capabilities"""


class CephFSVolumeSource(TypedDict, total=False):
    """Represents a Ceph Filesystem mount that lasts the lifetime of a pod Cephfs volumes do not support ownership
    management or SELinux relabeling.
    """

    monitors: Required[Sequence[str]]
    """monitors is Required: Monitors is a collection of Ceph monitors More info:
    https://examples.k8s.io/volumes/cephfs/README.md#how-to-use-it
    """
    path: str
    """path is Optional: Used as the mounted root, rather than the full Ceph tree, default is /"""
    readOnly: bool
    """readOnly is Optional: Defaults to false (read/write)."""
    secretFile: str
    """secretFile is Optional: SecretFile is the path to key ring for User, default is /etc/ceph/user.secret More
    info: https://examples.k8s.io/volumes/cephfs/README.md#how-to-use-it
    """
    secretRef: LocalObjectReference
    """secretRef is Optional: SecretRef is reference to the authentication secret for User, default is empty."""
    user: str
    """user is optional: User is the rados user name, default is admin More info:
    https://examples.k8s.io/volumes/cephfs/README.md#how-to-use-it
    """


class CinderVolumeSource(TypedDict, total=False):
    """Represents a cinder volume resource in Openstack."""

    fsType: str
    """fsType is the filesystem type to mount."""
    readOnly: bool
    """readOnly defaults to false (read/write)."""
    secretRef: LocalObjectReference
    """secretRef is optional: points to a secret object containing parameters used to connect to OpenStack."""
    volumeID: Required[str]
    """volumeID used to identify the volume in cinder."""


class ClusterTrustBundleProjection(TypedDict, total=False):
    """ClusterTrustBundleProjection describes how to select a set of ClusterTrustBundle objects and project their
    contents into the pod filesystem.
    """

    labelSelector: LabelSelector
    """Select all ClusterTrustBundles that match this label selector."""
    name: str
    """Select a single ClusterTrustBundle by object name."""
    optional: bool
    """If true, don't block pod startup if the referenced ClusterTrustBundle(s) aren't available."""
    path: Required[str]
    """Relative path from the volume root to write the bundle."""
    signerName: str
    """Select all ClusterTrustBundles that match this signer name."""


class ConfigMapEnvSource(TypedDict, total=False):
    """ConfigMapEnvSource selects a ConfigMap to populate the environment variables with."""

    name: str
    """Name of the referent."""
    optional: bool
    """Specify whether the ConfigMap must be defined"""


class ConfigMapKeySelector(TypedDict, total=False):
    """Selects a key from a ConfigMap."""

    key: Required[str]
    """The key to select."""
    name: str
    """Name of the referent."""
    optional: bool
    """Specify whether the ConfigMap or its key must be defined"""


class ConfigMapProjection(TypedDict, total=False):
    """Adapts a ConfigMap into a projected volume."""

    items: Sequence[KeyToPath]
    """items if unspecified, each key-value pair in the Data field of the referenced ConfigMap will be projected into
    the volume as a file whose name is the key and content is the value.
    """
    name: str
    """Name of the referent."""
    optional: bool
    """optional specify whether the ConfigMap or its keys must be defined"""


class ConfigMapVolumeSource(TypedDict, total=False):
    """Adapts a ConfigMap into a volume."""

    defaultMode: int
    """defaultMode is optional: mode bits used to set permissions on created files by default."""
    items: Sequence[KeyToPath]
    """items if unspecified, each key-value pair in the Data field of the referenced ConfigMap will be projected into
    the volume as a file whose name is the key and content is the value.
    """
    name: str
    """Name of the referent."""
    optional: bool
    """optional specify whether the ConfigMap or its keys must be defined"""


class Container(TypedDict, total=False):
    """A single application container that you want to run within a pod."""

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


class ContainerPort(TypedDict, total=False):
    """ContainerPort represents a network port in a single container."""

    containerPort: Required[int]
    """Number of port to expose on the pod's IP address."""
    hostIP: str
    """What host IP to bind the external port to."""
    hostPort: int
    """Number of port to expose on the host."""
    name: str
    """If specified, this must be an IANA_SVC_NAME and unique within the pod."""
    protocol: str
    """Protocol for port."""


class ContainerResizePolicy(TypedDict, total=False):
    """ContainerResizePolicy represents resource resize policy for the container."""

    resourceName: Required[str]
    """Name of the resource to which this resource resize policy applies."""
    restartPolicy: Required[str]
    """Restart policy to apply when specified resource is resized."""


class ContainerRestartPolicyRules(TypedDict, total=False):
    """ContainerRestartPolicyRules of Argo's API."""

    action: Required[str]
    exitCodes: ContainerRestartPolicyRulesExitCodes


class ContainerRestartPolicyRulesExitCodes(TypedDict, total=False):
    """ContainerRestartPolicyRulesExitCodes of Argo's API."""

    operator: Required[str]
    values: Sequence[int]


class DownwardAPIProjection(TypedDict, total=False):
    """Represents downward API info for projecting into a projected volume."""

    items: Sequence[DownwardAPIVolumeFile]
    """Items is a list of DownwardAPIVolume file"""


class DownwardAPIVolumeFile(TypedDict, total=False):
    """DownwardAPIVolumeFile represents information to create the file containing the pod field"""

    fieldRef: ObjectFieldSelector
    """Required: Selects a field of the pod: only annotations, labels, name, namespace and uid are supported."""
    mode: int
    """Optional: mode bits used to set permissions on this file, must be an octal value between 0000 and 0777 or a
    decimal value between 0 and 511.
    """
    path: Required[str]
    """Required: Path is the relative path name of the file to be created."""
    resourceFieldRef: ResourceFieldSelector
    """Selects a resource of the container: only resources limits and requests (limits.cpu, limits.memory,
    requests.cpu and requests.memory) are currently supported.
    """


class DownwardAPIVolumeSource(TypedDict, total=False):
    """DownwardAPIVolumeSource represents a volume containing downward API info."""

    defaultMode: int
    """Optional: mode bits to use on created files by default."""
    items: Sequence[DownwardAPIVolumeFile]
    """Items is a list of downward API volume file"""


class EmptyDirVolumeSource(TypedDict, total=False):
    """Represents an empty directory for a pod."""

    medium: str
    """medium represents what type of storage medium should back this directory."""
    sizeLimit: int | str
    """sizeLimit is the total amount of local storage required for this EmptyDir volume."""


class EnvFromSource(TypedDict, total=False):
    """EnvFromSource represents the source of a set of ConfigMaps or Secrets"""

    configMapRef: ConfigMapEnvSource
    """The ConfigMap to select from"""
    prefix: str
    """Optional text to prepend to the name of each environment variable."""
    secretRef: SecretEnvSource
    """The Secret to select from"""


class EnvVar(TypedDict, total=False):
    """EnvVar represents an environment variable present in a Container."""

    name: Required[str]
    """Name of the environment variable."""
    value: str
    """Variable references $(VAR_NAME) are expanded using the previously defined environment variables in the
    container and any service environment variables.
    """
    valueFrom: EnvVarSource
    """Source for the environment variable's value."""


class EnvVarSource(TypedDict, total=False):
    """EnvVarSource represents a source for the value of an EnvVar."""

    configMapKeyRef: ConfigMapKeySelector
    """Selects a key of a ConfigMap."""
    fieldRef: ObjectFieldSelector
    """Selects a field of the pod: supports metadata.name, metadata.namespace, `metadata.labels['<KEY>']`,
    `metadata.annotations['<KEY>']`, spec.nodeName, spec.serviceAccountName, status.hostIP, status.podIP,
    status.podIPs.
    """
    fileKeyRef: EnvVarSourceFileKeyRef
    resourceFieldRef: ResourceFieldSelector
    """Selects a resource of the container: only resources limits and requests (limits.cpu, limits.memory,
    limits.ephemeral-storage, requests.cpu, requests.memory and requests.ephemeral-storage) are currently supported.
    """
    secretKeyRef: SecretKeySelector
    """Selects a key of a secret in the pod's namespace"""


class EnvVarSourceFileKeyRef(TypedDict, total=False):
    """EnvVarSourceFileKeyRef of Argo's API."""

    key: Required[str]
    optional: bool
    path: Required[str]
    volumeName: Required[str]


class EphemeralVolumeSource(TypedDict, total=False):
    """Represents an ephemeral volume that is handled by a normal storage driver."""

    volumeClaimTemplate: PersistentVolumeClaimTemplate
    """Will be used to create a stand-alone PVC to provision the volume."""


class ExecAction(TypedDict, total=False):
    """ExecAction describes a "run in container" action."""

    command: Sequence[str]
    """Command is the command line to execute inside the container, the working directory for the command is root
    ('/') in the container's filesystem.
    """


class FCVolumeSource(TypedDict, total=False):
    """Represents a Fibre Channel volume."""

    fsType: str
    """fsType is the filesystem type to mount."""
    lun: int
    """lun is Optional: FC target lun number"""
    readOnly: bool
    """readOnly is Optional: Defaults to false (read/write)."""
    targetWWNs: Sequence[str]
    """targetWWNs is Optional: FC target worldwide names (WWNs)"""
    wwids: Sequence[str]
    """wwids Optional: FC volume world wide identifiers (wwids) Either wwids or combination of targetWWNs and lun
    must be set, but not both simultaneously.
    """


class FlexVolumeSource(TypedDict, total=False):
    """FlexVolume represents a generic volume resource that is provisioned/attached using an exec based plugin."""

    driver: Required[str]
    """driver is the name of the driver to use for this volume."""
    fsType: str
    """fsType is the filesystem type to mount."""
    options: Mapping[str, str]
    """options is Optional: this field holds extra command options if any."""
    readOnly: bool
    """readOnly is Optional: defaults to false (read/write)."""
    secretRef: LocalObjectReference
    """secretRef is Optional: secretRef is reference to the secret object containing sensitive information to pass to
    the plugin scripts.
    """


class FlockerVolumeSource(TypedDict, total=False):
    """Represents a Flocker volume mounted by the Flocker agent."""

    datasetName: str
    """datasetName is Name of the dataset stored as metadata -> name on the dataset for Flocker should be considered
    as deprecated
    """
    datasetUUID: str
    """datasetUUID is the UUID of the dataset."""


class GCEPersistentDiskVolumeSource(TypedDict, total=False):
    """Represents a Persistent Disk resource in Google Compute Engine."""

    fsType: str
    """fsType is filesystem type of the volume that you want to mount."""
    partition: int
    """partition is the partition in the volume that you want to mount."""
    pdName: Required[str]
    """pdName is unique name of the PD resource in GCE."""
    readOnly: bool
    """readOnly here will force the ReadOnly setting in VolumeMounts."""


class GRPCAction(TypedDict, total=False):
    """GRPCAction specifies an action involving a GRPC service."""

    port: Required[int]
    """Port number of the gRPC service."""
    service: str
    """Service is the name of the service to place in the gRPC HealthCheckRequest (see
    https://github.com/grpc/grpc/blob/master/doc/health-checking.md).
    """


class GitRepoVolumeSource(TypedDict, total=False):
    """Represents a volume that is populated with the contents of a git repository."""

    directory: str
    """directory is the target directory name."""
    repository: Required[str]
    """repository is the URL"""
    revision: str
    """revision is the commit hash for the specified revision."""


class GlusterfsVolumeSource(TypedDict, total=False):
    """Represents a Glusterfs mount that lasts the lifetime of a pod."""

    endpoints: Required[str]
    """endpoints is the endpoint name that details Glusterfs topology."""
    path: Required[str]
    """path is the Glusterfs volume path."""
    readOnly: bool
    """readOnly here will force the Glusterfs volume to be mounted with read-only permissions."""


class HTTPGetAction(TypedDict, total=False):
    """HTTPGetAction describes an action based on HTTP Get requests."""

    host: str
    """Host name to connect to, defaults to the pod IP."""
    httpHeaders: Sequence[HTTPHeader]
    """Custom headers to set in the request."""
    path: str
    """Path to access on the HTTP server."""
    port: Required[int | str]
    """Name or number of the port to access on the container."""
    scheme: str
    """Scheme to use for connecting to the host."""


class HTTPHeader(TypedDict, total=False):
    """HTTPHeader describes a custom header to be used in HTTP probes"""

    name: Required[str]
    """The header field name."""
    value: Required[str]
    """The header field value"""


class HostAlias(TypedDict, total=False):
    """HostAlias holds the mapping between IP and hostnames that will be injected as an entry in the pod's hosts
    file.
    """

    hostnames: Sequence[str]
    """Hostnames for the above IP address."""
    ip: Required[str]
    """IP address of the host file entry."""


class HostPathVolumeSource(TypedDict, total=False):
    """Represents a host path mapped into a pod."""

    path: Required[str]
    """path of the directory on the host."""
    type: str
    """type for HostPath Volume Defaults to "" More info:
    https://kubernetes.io/docs/concepts/storage/volumes#hostpath
    """


class ISCSIVolumeSource(TypedDict, total=False):
    """Represents an ISCSI disk."""

    chapAuthDiscovery: bool
    """chapAuthDiscovery defines whether support iSCSI Discovery CHAP authentication"""
    chapAuthSession: bool
    """chapAuthSession defines whether support iSCSI Session CHAP authentication"""
    fsType: str
    """fsType is the filesystem type of the volume that you want to mount."""
    initiatorName: str
    """initiatorName is the custom iSCSI Initiator Name."""
    iqn: Required[str]
    """iqn is the target iSCSI Qualified Name."""
    iscsiInterface: str
    """iscsiInterface is the interface Name that uses an iSCSI transport."""
    lun: Required[int]
    """lun represents iSCSI Target Lun number."""
    portals: Sequence[str]
    """portals is the iSCSI Target Portal List."""
    readOnly: bool
    """readOnly here will force the ReadOnly setting in VolumeMounts."""
    secretRef: LocalObjectReference
    """secretRef is the CHAP Secret for iSCSI target and initiator authentication"""
    targetPortal: Required[str]
    """targetPortal is iSCSI Target Portal."""


class ImageVolumeSource(TypedDict, total=False):
    """ImageVolumeSource represents a image volume resource."""

    pullPolicy: str
    """Policy for pulling OCI objects."""
    reference: str
    """Required: Image or artifact reference to be used."""


class KeyToPath(TypedDict, total=False):
    """Maps a string key to a path within a volume."""

    key: Required[str]
    """key is the key to project."""
    mode: int
    """mode is Optional: mode bits used to set permissions on this file."""
    path: Required[str]
    """path is the relative path of the file to map the key to."""


class LabelSelector(TypedDict, total=False):
    """A label selector is a label query over a set of resources."""

    matchExpressions: Sequence[LabelSelectorRequirement]
    """matchExpressions is a list of label selector requirements."""
    matchLabels: Mapping[str, str]
    """matchLabels is a map of {key,value} pairs."""


class LabelSelectorRequirement(TypedDict, total=False):
    """A label selector requirement is a selector that contains values, a key, and an operator that relates the key
    and values.
    """

    key: Required[str]
    """key is the label key that the selector applies to."""
    operator: Required[str]
    """operator represents a key's relationship to a set of values."""
    values: Sequence[str]
    """values is an array of string values."""


class Lifecycle(TypedDict, total=False):
    """Lifecycle describes actions that the management system should take in response to container lifecycle events."""

    postStart: LifecycleHandler
    """PostStart is called immediately after a container is created."""
    preStop: LifecycleHandler
    """PreStop is called immediately before a container is terminated due to an API request or management event such
    as liveness/startup probe failure, preemption, resource contention, etc.
    """
    stopSignal: str
    """StopSignal defines which signal will be sent to a container when it is being stopped."""


class LifecycleHandler(TypedDict, total=False):
    """LifecycleHandler defines a specific action that should be taken in a lifecycle hook."""

    exec: ExecAction
    """Exec specifies a command to execute in the container."""
    httpGet: HTTPGetAction
    """HTTPGet specifies an HTTP GET request to perform."""
    sleep: SleepAction
    """Sleep represents a duration that the container should sleep."""
    tcpSocket: TCPSocketAction
    """Deprecated."""


class LocalObjectReference(TypedDict, total=False):
    """LocalObjectReference contains enough information to let you locate the referenced object inside the same
    namespace.
    """

    name: str
    """Name of the referent."""


class ModifyVolumeStatus(TypedDict, total=False):
    """ModifyVolumeStatus represents the status object of ControllerModifyVolume operation"""

    status: Required[str]
    """status is the status of the ControllerModifyVolume operation."""
    targetVolumeAttributesClassName: str
    """targetVolumeAttributesClassName is the name of the VolumeAttributesClass the PVC currently being reconciled"""


class NFSVolumeSource(TypedDict, total=False):
    """Represents an NFS mount that lasts the lifetime of a pod."""

    path: Required[str]
    """path that is exported by the NFS server."""
    readOnly: bool
    """readOnly here will force the NFS export to be mounted with read-only permissions."""
    server: Required[str]
    """server is the hostname or IP address of the NFS server."""


class NodeAffinity(TypedDict, total=False):
    """Node affinity is a group of node affinity scheduling rules."""

    preferredDuringSchedulingIgnoredDuringExecution: Sequence[PreferredSchedulingTerm]
    """The scheduler will prefer to schedule pods to nodes that satisfy the affinity expressions specified by this
    field, but it may choose a node that violates one or more of the expressions.
    """
    requiredDuringSchedulingIgnoredDuringExecution: NodeSelector
    """If the affinity requirements specified by this field are not met at scheduling time, the pod will not be
    scheduled onto the node.
    """


class NodeSelector(TypedDict, total=False):
    """A node selector represents the union of the results of one or more label queries over a set of nodes; that is,
    it represents the OR of the selectors represented by the node selector terms.
    """

    nodeSelectorTerms: Required[Sequence[NodeSelectorTerm]]
    """Required."""


class NodeSelectorRequirement(TypedDict, total=False):
    """A node selector requirement is a selector that contains values, a key, and an operator that relates the key
    and values.
    """

    key: Required[str]
    """The label key that the selector applies to."""
    operator: Required[str]
    """Represents a key's relationship to a set of values."""
    values: Sequence[str]
    """An array of string values."""


class NodeSelectorTerm(TypedDict, total=False):
    """A null or empty node selector term matches no objects."""

    matchExpressions: Sequence[NodeSelectorRequirement]
    """A list of node selector requirements by node's labels."""
    matchFields: Sequence[NodeSelectorRequirement]
    """A list of node selector requirements by node's fields."""


class ObjectFieldSelector(TypedDict, total=False):
    """ObjectFieldSelector selects an APIVersioned field of an object."""

    apiVersion: str
    """Version of the schema the FieldPath is written in terms of, defaults to "v1"."""
    fieldPath: Required[str]
    """Path of the field to select in the specified API version."""


class ObjectMeta(TypedDict, total=False):
    """ObjectMeta is metadata that all persisted resources must have, which includes all objects users must create."""

    annotations: Mapping[str, str]
    """Annotations is an unstructured key value map stored with a resource that may be set by external tools to store
    and retrieve arbitrary metadata.
    """
    finalizers: Sequence[str]
    """Must be empty before the object is deleted from the registry."""
    generateName: str
    """GenerateName is an optional prefix, used by the server, to generate a unique name ONLY IF the Name field has
    not been provided.
    """
    labels: Mapping[str, str]
    """Map of string keys and values that can be used to organize and categorize (scope and select) objects."""
    name: str
    """Name must be unique within a namespace."""
    namespace: str
    """Namespace defines the space within which each name must be unique."""
    ownerReferences: Sequence[Mapping[str, Any]]
    """List of objects depended by this object."""


class PersistentVolumeClaim(TypedDict, total=False):
    """PersistentVolumeClaim is a user's request for and claim to a persistent volume"""

    apiVersion: str
    """APIVersion defines the versioned schema of this representation of an object."""
    kind: str
    """Kind is a string value representing the REST resource this object represents."""
    metadata: ObjectMeta
    """Standard object's metadata."""
    spec: PersistentVolumeClaimSpec
    """spec defines the desired characteristics of a volume requested by a pod author."""
    status: PersistentVolumeClaimStatus
    """status represents the current information/status of a persistent volume claim."""


class PersistentVolumeClaimCondition(TypedDict, total=False):
    """PersistentVolumeClaimCondition contains details about state of pvc"""

    lastProbeTime: str
    """lastProbeTime is the time we probed the condition."""
    lastTransitionTime: str
    """lastTransitionTime is the time the condition transitioned from one status to another."""
    message: str
    """message is the human-readable message indicating details about last transition."""
    reason: str
    """reason is a unique, this should be a short, machine understandable string that gives the reason for
    condition's last transition.
    """
    status: Required[str]
    """Status is the status of the condition."""
    type: Required[str]
    """Type is the type of the condition."""


class PersistentVolumeClaimSpec(TypedDict, total=False):
    """PersistentVolumeClaimSpec describes the common attributes of storage devices and allows a Source for
    provider-specific attributes
    """

    accessModes: Sequence[str]
    """accessModes contains the desired access modes the volume should have."""
    dataSource: TypedLocalObjectReference
    """dataSource field can be used to specify either: * An existing VolumeSnapshot object
    (snapshot.storage.k8s.io/VolumeSnapshot) * An existing PVC (PersistentVolumeClaim) If the provisioner or an
    external controller can support the specified data source, it will create a new volume based on the contents of
    the specified data source.
    """
    dataSourceRef: TypedObjectReference
    """dataSourceRef specifies the object from which to populate the volume with data, if a non-empty volume is
    desired.
    """
    resources: VolumeResourceRequirements
    """resources represents the minimum resources the volume should have."""
    selector: LabelSelector
    """selector is a label query over volumes to consider for binding."""
    storageClassName: str
    """storageClassName is the name of the StorageClass required by the claim."""
    volumeAttributesClassName: str
    """volumeAttributesClassName may be used to set the VolumeAttributesClass used by this claim."""
    volumeMode: str
    """volumeMode defines what type of volume is required by the claim."""
    volumeName: str
    """volumeName is the binding reference to the PersistentVolume backing this claim."""


class PersistentVolumeClaimStatus(TypedDict, total=False):
    """PersistentVolumeClaimStatus is the current status of a persistent volume claim."""

    accessModes: Sequence[str]
    """accessModes contains the actual access modes the volume backing the PVC has."""
    allocatedResourceStatuses: Mapping[str, str]
    """allocatedResourceStatuses stores status of resource being resized for the given PVC."""
    allocatedResources: Mapping[str, int | str]
    """allocatedResources tracks the resources allocated to a PVC including its capacity."""
    capacity: Mapping[str, int | str]
    """capacity represents the actual resources of the underlying volume."""
    conditions: Sequence[PersistentVolumeClaimCondition]
    """conditions is the current Condition of persistent volume claim."""
    currentVolumeAttributesClassName: str
    """currentVolumeAttributesClassName is the current name of the VolumeAttributesClass the PVC is using."""
    modifyVolumeStatus: ModifyVolumeStatus
    """ModifyVolumeStatus represents the status object of ControllerModifyVolume operation."""
    phase: str
    """phase represents the current phase of PersistentVolumeClaim."""


class PersistentVolumeClaimTemplate(TypedDict, total=False):
    """PersistentVolumeClaimTemplate is used to produce PersistentVolumeClaim objects as part of an
    EphemeralVolumeSource.
    """

    metadata: ObjectMeta
    """May contain labels and annotations that will be copied into the PVC when creating it."""
    spec: Required[PersistentVolumeClaimSpec]
    """The specification for the PersistentVolumeClaim."""


class PersistentVolumeClaimVolumeSource(TypedDict, total=False):
    """PersistentVolumeClaimVolumeSource references the user's PVC in the same namespace."""

    claimName: Required[str]
    """claimName is the name of a PersistentVolumeClaim in the same namespace as the pod using this volume."""
    readOnly: bool
    """readOnly Will force the ReadOnly setting in VolumeMounts."""


class PhotonPersistentDiskVolumeSource(TypedDict, total=False):
    """Represents a Photon Controller persistent disk resource."""

    fsType: str
    """fsType is the filesystem type to mount."""
    pdID: Required[str]
    """pdID is the ID that identifies Photon Controller persistent disk"""


class PodAffinity(TypedDict, total=False):
    """Pod affinity is a group of inter pod affinity scheduling rules."""

    preferredDuringSchedulingIgnoredDuringExecution: Sequence[WeightedPodAffinityTerm]
    """The scheduler will prefer to schedule pods to nodes that satisfy the affinity expressions specified by this
    field, but it may choose a node that violates one or more of the expressions.
    """
    requiredDuringSchedulingIgnoredDuringExecution: Sequence[PodAffinityTerm]
    """If the affinity requirements specified by this field are not met at scheduling time, the pod will not be
    scheduled onto the node.
    """


class PodAffinityTerm(TypedDict, total=False):
    """Defines a set of pods (namely those matching the labelSelector relative to the given namespace(s)) that this
    pod should be co-located (affinity) or not co-located (anti-affinity) with, where co-located is defined as running
    on a node whose value of the label with key <topologyKey> matches that of any node on which a pod of the set of
    pods is running
    """

    labelSelector: LabelSelector
    """A label query over a set of resources, in this case pods."""
    matchLabelKeys: Sequence[str]
    """MatchLabelKeys is a set of pod label keys to select which pods will be taken into consideration."""
    mismatchLabelKeys: Sequence[str]
    """MismatchLabelKeys is a set of pod label keys to select which pods will be taken into consideration."""
    namespaceSelector: LabelSelector
    """A label query over the set of namespaces that the term applies to."""
    namespaces: Sequence[str]
    """namespaces specifies a static list of namespace names that the term applies to."""
    topologyKey: Required[str]
    """This pod should be co-located (affinity) or not co-located (anti-affinity) with the pods matching the
    labelSelector in the specified namespaces, where co-located is defined as running on a node whose value of the
    label with key topologyKey matches that of any node on which any of the selected pods is running.
    """


class PodAntiAffinity(TypedDict, total=False):
    """Pod anti affinity is a group of inter pod anti affinity scheduling rules."""

    preferredDuringSchedulingIgnoredDuringExecution: Sequence[WeightedPodAffinityTerm]
    """The scheduler will prefer to schedule pods to nodes that satisfy the anti-affinity expressions specified by
    this field, but it may choose a node that violates one or more of the expressions.
    """
    requiredDuringSchedulingIgnoredDuringExecution: Sequence[PodAffinityTerm]
    """If the anti-affinity requirements specified by this field are not met at scheduling time, the pod will not be
    scheduled onto the node.
    """


class PodDNSConfig(TypedDict, total=False):
    """PodDNSConfig defines the DNS parameters of a pod in addition to those generated from DNSPolicy."""

    nameservers: Sequence[str]
    """A list of DNS name server IP addresses."""
    options: Sequence[PodDNSConfigOption]
    """A list of DNS resolver options."""
    searches: Sequence[str]
    """A list of DNS search domains for host-name lookup."""


class PodDNSConfigOption(TypedDict, total=False):
    """PodDNSConfigOption defines DNS resolver options of a pod."""

    name: str
    """Name is this DNS resolver option's name."""
    value: str
    """Value is this DNS resolver option's value."""


class PodDisruptionBudgetSpec(TypedDict, total=False):
    """PodDisruptionBudgetSpec is a description of a PodDisruptionBudget."""

    maxUnavailable: int | str
    """An eviction is allowed if at most "maxUnavailable" pods selected by "selector" are unavailable after the
    eviction, i.e. even in absence of the evicted pod.
    """
    minAvailable: int | str
    """An eviction is allowed if at least "minAvailable" pods selected by "selector" will still be available after
    the eviction, i.e. even in the absence of the evicted pod.
    """
    selector: LabelSelector
    """Label query over pods whose evictions are managed by the disruption budget."""
    unhealthyPodEvictionPolicy: str
    """UnhealthyPodEvictionPolicy defines the criteria for when unhealthy pods should be considered for eviction."""


class PodSecurityContext(TypedDict, total=False):
    """PodSecurityContext holds pod-level security attributes and common container settings."""

    appArmorProfile: AppArmorProfile
    """appArmorProfile is the AppArmor options to use by the containers in this pod."""
    fsGroup: int
    """A special supplemental group that applies to all containers in a pod."""
    fsGroupChangePolicy: str
    """fsGroupChangePolicy defines behavior of changing ownership and permission of the volume before being exposed
    inside Pod.
    """
    runAsGroup: int
    """The GID to run the entrypoint of the container process."""
    runAsNonRoot: bool
    """Indicates that the container must run as a non-root user."""
    runAsUser: int
    """The UID to run the entrypoint of the container process."""
    seLinuxChangePolicy: str
    """seLinuxChangePolicy defines how the container's SELinux label is applied to all volumes used by the Pod."""
    seLinuxOptions: SELinuxOptions
    """The SELinux context to be applied to all containers."""
    seccompProfile: SeccompProfile
    """The seccomp options to use by the containers in this pod."""
    supplementalGroups: Sequence[int]
    """A list of groups applied to the first process run in each container, in addition to the container's primary
    GID and fsGroup (if specified).
    """
    supplementalGroupsPolicy: str
    """Defines how supplemental groups of the first container processes are calculated."""
    sysctls: Sequence[Sysctl]
    """Sysctls hold a list of namespaced sysctls used for the pod."""
    windowsOptions: WindowsSecurityContextOptions
    """The Windows specific settings applied to all containers."""


class PortworxVolumeSource(TypedDict, total=False):
    """PortworxVolumeSource represents a Portworx volume resource."""

    fsType: str
    """fSType represents the filesystem type to mount Must be a filesystem type supported by the host operating
    system.
    """
    readOnly: bool
    """readOnly defaults to false (read/write)."""
    volumeID: Required[str]
    """volumeID uniquely identifies a Portworx volume"""


class PreferredSchedulingTerm(TypedDict, total=False):
    """An empty preferred scheduling term matches all objects with implicit weight 0 (i.e. it's a no-op)."""

    preference: Required[NodeSelectorTerm]
    """A node selector term, associated with the corresponding weight."""
    weight: Required[int]
    """Weight associated with matching the corresponding nodeSelectorTerm, in the range 1-100."""


class Probe(TypedDict, total=False):
    """Probe describes a health check to be performed against a container to determine whether it is alive or ready
    to receive traffic.
    """

    exec: ExecAction
    """Exec specifies a command to execute in the container."""
    failureThreshold: int
    """Minimum consecutive failures for the probe to be considered failed after having succeeded."""
    grpc: GRPCAction
    """GRPC specifies a GRPC HealthCheckRequest."""
    httpGet: HTTPGetAction
    """HTTPGet specifies an HTTP GET request to perform."""
    initialDelaySeconds: int
    """Number of seconds after the container has started before liveness probes are initiated."""
    periodSeconds: int
    """How often (in seconds) to perform the probe."""
    successThreshold: int
    """Minimum consecutive successes for the probe to be considered successful after having failed."""
    tcpSocket: TCPSocketAction
    """TCPSocket specifies a connection to a TCP port."""
    terminationGracePeriodSeconds: int
    """Optional duration in seconds the pod needs to terminate gracefully upon probe failure."""
    timeoutSeconds: int
    """Number of seconds after which the probe times out."""


class ProjectedVolumeSource(TypedDict, total=False):
    """Represents a projected volume source"""

    defaultMode: int
    """defaultMode are the mode bits used to set permissions on created files by default."""
    sources: Sequence[VolumeProjection]
    """sources is the list of volume projections."""


class QuobyteVolumeSource(TypedDict, total=False):
    """Represents a Quobyte mount that lasts the lifetime of a pod."""

    group: str
    """group to map volume access to Default is no group"""
    readOnly: bool
    """readOnly here will force the Quobyte volume to be mounted with read-only permissions."""
    registry: Required[str]
    """registry represents a single or multiple Quobyte Registry services specified as a string as host:port pair
    (multiple entries are separated with commas) which acts as the central registry for volumes
    """
    tenant: str
    """tenant owning the given Quobyte volume in the Backend Used with dynamically provisioned Quobyte volumes, value
    is set by the plugin
    """
    user: str
    """user to map volume access to Defaults to serivceaccount user"""
    volume: Required[str]
    """volume is a string that references an already created Quobyte volume by name."""


class RBDVolumeSource(TypedDict, total=False):
    """Represents a Rados Block Device mount that lasts the lifetime of a pod."""

    fsType: str
    """fsType is the filesystem type of the volume that you want to mount."""
    image: Required[str]
    """image is the rados image name."""
    keyring: str
    """keyring is the path to key ring for RBDUser."""
    monitors: Required[Sequence[str]]
    """monitors is a collection of Ceph monitors."""
    pool: str
    """pool is the rados pool name."""
    readOnly: bool
    """readOnly here will force the ReadOnly setting in VolumeMounts."""
    secretRef: LocalObjectReference
    """secretRef is name of the authentication secret for RBDUser."""
    user: str
    """user is the rados user name."""


class ResourceClaim(TypedDict, total=False):
    """ResourceClaim references one entry in PodSpec.ResourceClaims."""

    name: Required[str]
    """Name must match the name of one entry in pod.spec.resourceClaims of the Pod where this field is used."""
    request: str
    """Request is the name chosen for a request in the referenced claim."""


class ResourceFieldSelector(TypedDict, total=False):
    """ResourceFieldSelector represents container resources (cpu, memory) and their output format"""

    containerName: str
    """Container name: required for volumes, optional for env vars"""
    divisor: int | str
    """Specifies the output format of the exposed resources, defaults to "1"""
    resource: Required[str]
    """Required: resource to select"""


class ResourceRequirements(TypedDict, total=False):
    """ResourceRequirements describes the compute resource requirements."""

    claims: Sequence[ResourceClaim]
    """Claims lists the names of resources, defined in spec.resourceClaims, that are used by this container."""
    limits: Mapping[str, int | str]
    """Limits describes the maximum amount of compute resources allowed."""
    requests: Mapping[str, int | str]
    """Requests describes the minimum amount of compute resources required."""


class SELinuxOptions(TypedDict, total=False):
    """SELinuxOptions are the labels to be applied to the container"""

    level: str
    """Level is SELinux level label that applies to the container."""
    role: str
    """Role is a SELinux role label that applies to the container."""
    type: str
    """Type is a SELinux type label that applies to the container."""
    user: str
    """User is a SELinux user label that applies to the container."""


class ScaleIOVolumeSource(TypedDict, total=False):
    """ScaleIOVolumeSource represents a persistent ScaleIO volume"""

    fsType: str
    """fsType is the filesystem type to mount."""
    gateway: Required[str]
    """gateway is the host address of the ScaleIO API Gateway."""
    protectionDomain: str
    """protectionDomain is the name of the ScaleIO Protection Domain for the configured storage."""
    readOnly: bool
    """readOnly Defaults to false (read/write)."""
    secretRef: Required[LocalObjectReference]
    """secretRef references to the secret for ScaleIO user and other sensitive information."""
    sslEnabled: bool
    """sslEnabled Flag enable/disable SSL communication with Gateway, default false"""
    storageMode: str
    """storageMode indicates whether the storage for a volume should be ThickProvisioned or ThinProvisioned."""
    storagePool: str
    """storagePool is the ScaleIO Storage Pool associated with the protection domain."""
    system: Required[str]
    """system is the name of the storage system as configured in ScaleIO."""
    volumeName: str
    """volumeName is the name of a volume already created in the ScaleIO system that is associated with this volume
    source.
    """


class SeccompProfile(TypedDict, total=False):
    """SeccompProfile defines a pod/container's seccomp profile settings."""

    localhostProfile: str
    """localhostProfile indicates a profile defined in a file on the node should be used."""
    type: Required[str]
    """type indicates which kind of seccomp profile will be applied."""


class SecretEnvSource(TypedDict, total=False):
    """SecretEnvSource selects a Secret to populate the environment variables with."""

    name: str
    """Name of the referent."""
    optional: bool
    """Specify whether the Secret must be defined"""


class SecretKeySelector(TypedDict, total=False):
    """SecretKeySelector selects a key of a Secret."""

    key: Required[str]
    """The key of the secret to select from."""
    name: str
    """Name of the referent."""
    optional: bool
    """Specify whether the Secret or its key must be defined"""


class SecretProjection(TypedDict, total=False):
    """Adapts a secret into a projected volume."""

    items: Sequence[KeyToPath]
    """items if unspecified, each key-value pair in the Data field of the referenced Secret will be projected into
    the volume as a file whose name is the key and content is the value.
    """
    name: str
    """Name of the referent."""
    optional: bool
    """optional field specify whether the Secret or its key must be defined"""


class SecretVolumeSource(TypedDict, total=False):
    """Adapts a Secret into a volume."""

    defaultMode: int
    """defaultMode is Optional: mode bits used to set permissions on created files by default."""
    items: Sequence[KeyToPath]
    """items If unspecified, each key-value pair in the Data field of the referenced Secret will be projected into
    the volume as a file whose name is the key and content is the value.
    """
    optional: bool
    """optional field specify whether the Secret or its keys must be defined"""
    secretName: str
    """secretName is the name of the secret in the pod's namespace to use."""


class SecurityContext(TypedDict, total=False):
    """SecurityContext holds security configuration that will be applied to a container."""

    allowPrivilegeEscalation: bool
    """AllowPrivilegeEscalation controls whether a process can gain more privileges than its parent process."""
    appArmorProfile: AppArmorProfile
    """appArmorProfile is the AppArmor options to use by this container."""
    capabilities: Capabilities
    """The capabilities to add/drop when running containers."""
    privileged: bool
    """Run container in privileged mode."""
    procMount: str
    """procMount denotes the type of proc mount to use for the containers."""
    readOnlyRootFilesystem: bool
    """Whether this container has a read-only root filesystem."""
    runAsGroup: int
    """The GID to run the entrypoint of the container process."""
    runAsNonRoot: bool
    """Indicates that the container must run as a non-root user."""
    runAsUser: int
    """The UID to run the entrypoint of the container process."""
    seLinuxOptions: SELinuxOptions
    """The SELinux context to be applied to the container."""
    seccompProfile: SeccompProfile
    """The seccomp options to use by this container."""
    windowsOptions: WindowsSecurityContextOptions
    """The Windows specific settings applied to all containers."""


class ServiceAccountTokenProjection(TypedDict, total=False):
    """ServiceAccountTokenProjection represents a projected service account token volume."""

    audience: str
    """audience is the intended audience of the token."""
    expirationSeconds: int
    """expirationSeconds is the requested duration of validity of the service account token."""
    path: Required[str]
    """path is the path relative to the mount point of the file to project the token into."""


class SleepAction(TypedDict, total=False):
    """SleepAction describes a "sleep" action."""

    seconds: Required[int]
    """Seconds is the number of seconds to sleep."""


class StorageOSVolumeSource(TypedDict, total=False):
    """Represents a StorageOS persistent volume resource."""

    fsType: str
    """fsType is the filesystem type to mount."""
    readOnly: bool
    """readOnly defaults to false (read/write)."""
    secretRef: LocalObjectReference
    """secretRef specifies the secret to use for obtaining the StorageOS API credentials."""
    volumeName: str
    """volumeName is the human-readable name of the StorageOS volume."""
    volumeNamespace: str
    """volumeNamespace specifies the scope of the volume within StorageOS."""


class Sysctl(TypedDict, total=False):
    """Sysctl defines a kernel parameter to be set"""

    name: Required[str]
    """Name of a property to set"""
    value: Required[str]
    """Value of a property to set"""


class TCPSocketAction(TypedDict, total=False):
    """TCPSocketAction describes an action based on opening a socket"""

    host: str
    """Optional: Host name to connect to, defaults to the pod IP."""
    port: Required[int | str]
    """Number or name of the port to access on the container."""


class Toleration(TypedDict, total=False):
    """The pod this Toleration is attached to tolerates any taint that matches the triple <key,value,effect> using
    the matching operator <operator>.
    """

    effect: str
    """Effect indicates the taint effect to match."""
    key: str
    """Key is the taint key that the toleration applies to."""
    operator: str
    """Operator represents a key's relationship to the value."""
    tolerationSeconds: int
    """TolerationSeconds represents the period of time the toleration (which must be of effect NoExecute, otherwise
    this field is ignored) tolerates the taint.
    """
    value: str
    """Value is the taint value the toleration matches to."""


class TypedLocalObjectReference(TypedDict, total=False):
    """TypedLocalObjectReference contains enough information to let you locate the typed referenced object inside the
    same namespace.
    """

    apiGroup: str
    """APIGroup is the group for the resource being referenced."""
    kind: Required[str]
    """Kind is the type of resource being referenced"""
    name: Required[str]
    """Name is the name of resource being referenced"""


class TypedObjectReference(TypedDict, total=False):
    """TypedObjectReference contains enough information to let you locate the typed referenced object"""

    apiGroup: str
    """APIGroup is the group for the resource being referenced."""
    kind: Required[str]
    """Kind is the type of resource being referenced"""
    name: Required[str]
    """Name is the name of resource being referenced"""
    namespace: str
    """Namespace is the namespace of resource being referenced Note that when a namespace is specified, a
    gateway.networking.k8s.io/ReferenceGrant object is required in the referent namespace to allow that namespace's
    owner to accept the reference.
    """


class Volume(TypedDict, total=False):
    """Volume represents a named volume in a pod that may be accessed by any container in the pod."""

    awsElasticBlockStore: AWSElasticBlockStoreVolumeSource
    """awsElasticBlockStore represents an AWS Disk resource that is attached to a kubelet's host machine and then
    exposed to the pod.
    """
    azureDisk: AzureDiskVolumeSource
    """azureDisk represents an Azure Data Disk mount on the host and bind mount to the pod."""
    azureFile: AzureFileVolumeSource
    """azureFile represents an Azure File Service mount on the host and bind mount to the pod."""
    cephfs: CephFSVolumeSource
    """cephFS represents a Ceph FS mount on the host that shares a pod's lifetime."""
    cinder: CinderVolumeSource
    """cinder represents a cinder volume attached and mounted on kubelets host machine."""
    configMap: ConfigMapVolumeSource
    """configMap represents a configMap that should populate this volume"""
    csi: CSIVolumeSource
    """csi (Container Storage Interface) represents ephemeral storage that is handled by certain external CSI
    drivers.
    """
    downwardAPI: DownwardAPIVolumeSource
    """downwardAPI represents downward API about the pod that should populate this volume"""
    emptyDir: EmptyDirVolumeSource
    """emptyDir represents a temporary directory that shares a pod's lifetime."""
    ephemeral: EphemeralVolumeSource
    """ephemeral represents a volume that is handled by a cluster storage driver."""
    fc: FCVolumeSource
    """fc represents a Fibre Channel resource that is attached to a kubelet's host machine and then exposed to the
    pod.
    """
    flexVolume: FlexVolumeSource
    """flexVolume represents a generic volume resource that is provisioned/attached using an exec based plugin."""
    flocker: FlockerVolumeSource
    """flocker represents a Flocker volume attached to a kubelet's host machine."""
    gcePersistentDisk: GCEPersistentDiskVolumeSource
    """gcePersistentDisk represents a GCE Disk resource that is attached to a kubelet's host machine and then exposed
    to the pod.
    """
    gitRepo: GitRepoVolumeSource
    """gitRepo represents a git repository at a particular revision."""
    glusterfs: GlusterfsVolumeSource
    """glusterfs represents a Glusterfs mount on the host that shares a pod's lifetime."""
    hostPath: HostPathVolumeSource
    """hostPath represents a pre-existing file or directory on the host machine that is directly exposed to the
    container.
    """
    image: ImageVolumeSource
    """image represents an OCI object (a container image or artifact) pulled and mounted on the kubelet's host
    machine.
    """
    iscsi: ISCSIVolumeSource
    """iscsi represents an ISCSI Disk resource that is attached to a kubelet's host machine and then exposed to the
    pod.
    """
    name: Required[str]
    """name of the volume."""
    nfs: NFSVolumeSource
    """nfs represents an NFS mount on the host that shares a pod's lifetime More info:
    https://kubernetes.io/docs/concepts/storage/volumes#nfs
    """
    persistentVolumeClaim: PersistentVolumeClaimVolumeSource
    """persistentVolumeClaimVolumeSource represents a reference to a PersistentVolumeClaim in the same namespace."""
    photonPersistentDisk: PhotonPersistentDiskVolumeSource
    """photonPersistentDisk represents a PhotonController persistent disk attached and mounted on kubelets host
    machine.
    """
    portworxVolume: PortworxVolumeSource
    """portworxVolume represents a portworx volume attached and mounted on kubelets host machine."""
    projected: ProjectedVolumeSource
    """projected items for all in one resources secrets, configmaps, and downward API"""
    quobyte: QuobyteVolumeSource
    """quobyte represents a Quobyte mount on the host that shares a pod's lifetime."""
    rbd: RBDVolumeSource
    """rbd represents a Rados Block Device mount on the host that shares a pod's lifetime."""
    scaleIO: ScaleIOVolumeSource
    """scaleIO represents a ScaleIO persistent volume attached and mounted on Kubernetes nodes."""
    secret: SecretVolumeSource
    """secret represents a secret that should populate this volume."""
    storageos: StorageOSVolumeSource
    """storageOS represents a StorageOS volume attached and mounted on Kubernetes nodes."""
    vsphereVolume: VsphereVirtualDiskVolumeSource
    """vsphereVolume represents a vSphere volume attached and mounted on kubelets host machine."""


class VolumeDevice(TypedDict, total=False):
    """volumeDevice describes a mapping of a raw block device within a container."""

    devicePath: Required[str]
    """devicePath is the path inside of the container that the device will be mapped to."""
    name: Required[str]
    """name must match the name of a persistentVolumeClaim in the pod"""


class VolumeMount(TypedDict, total=False):
    """VolumeMount describes a mounting of a Volume within a container."""

    mountPath: Required[str]
    """Path within the container at which the volume should be mounted."""
    mountPropagation: str
    """mountPropagation determines how mounts are propagated from the host to container and the other way around."""
    name: Required[str]
    """This must match the Name of a Volume."""
    readOnly: bool
    """Mounted read-only if true, read-write otherwise (false or unspecified)."""
    recursiveReadOnly: str
    """RecursiveReadOnly specifies whether read-only mounts should be handled recursively."""
    subPath: str
    """Path within the volume from which the container's volume should be mounted."""
    subPathExpr: str
    """Expanded path within the volume from which the container's volume should be mounted."""


class VolumeProjection(TypedDict, total=False):
    """Projection that may be projected along with other supported volume types."""

    clusterTrustBundle: ClusterTrustBundleProjection
    """ClusterTrustBundle allows a pod to access the `.spec.trustBundle` field of ClusterTrustBundle objects in an
    auto-updating file.
    """
    configMap: ConfigMapProjection
    """configMap information about the configMap data to project"""
    downwardAPI: DownwardAPIProjection
    """downwardAPI information about the downwardAPI data to project"""
    podCertificate: VolumeProjectionPodCertificate
    secret: SecretProjection
    """secret information about the secret data to project"""
    serviceAccountToken: ServiceAccountTokenProjection
    """serviceAccountToken is information about the serviceAccountToken data to project"""


class VolumeProjectionPodCertificate(TypedDict, total=False):
    """VolumeProjectionPodCertificate of Argo's API."""

    certificateChainPath: str
    credentialBundlePath: str
    keyPath: str
    keyType: Required[str]
    maxExpirationSeconds: int
    signerName: Required[str]
    userAnnotations: Mapping[str, str]


class VolumeResourceRequirements(TypedDict, total=False):
    """VolumeResourceRequirements describes the storage resource requirements for a volume."""

    limits: Mapping[str, int | str]
    """Limits describes the maximum amount of compute resources allowed."""
    requests: Mapping[str, int | str]
    """Requests describes the minimum amount of compute resources required."""


class VsphereVirtualDiskVolumeSource(TypedDict, total=False):
    """Represents a vSphere volume resource."""

    fsType: str
    """fsType is filesystem type to mount."""
    storagePolicyID: str
    """storagePolicyID is the storage Policy Based Management (SPBM) profile ID associated with the
    StoragePolicyName.
    """
    storagePolicyName: str
    """storagePolicyName is the storage Policy Based Management (SPBM) profile name."""
    volumePath: Required[str]
    """volumePath is the path that identifies vSphere volume vmdk"""


class WeightedPodAffinityTerm(TypedDict, total=False):
    """The weights of all of the matched WeightedPodAffinityTerm fields are added per-node to find the most preferred
    node(s)
    """

    podAffinityTerm: Required[PodAffinityTerm]
    """Required."""
    weight: Required[int]
    """weight associated with matching the corresponding podAffinityTerm, in the range 1-100."""


class WindowsSecurityContextOptions(TypedDict, total=False):
    """WindowsSecurityContextOptions contain Windows-specific options and credentials."""

    gmsaCredentialSpec: str
    """GMSACredentialSpec is where the GMSA admission webhook (https://github.com/kubernetes-sigs/windows-gmsa)
    inlines the contents of the GMSA credential spec named by the GMSACredentialSpecName field.
    """
    gmsaCredentialSpecName: str
    """GMSACredentialSpecName is the name of the GMSA credential spec to use."""
    hostProcess: bool
    """HostProcess determines if a container should be run as a 'Host Process' container."""
    runAsUserName: str
    """The UserName in Windows to run the entrypoint of the container process."""


__all__ = [
    "AWSElasticBlockStoreVolumeSource",
    "Affinity",
    "AppArmorProfile",
    "AzureDiskVolumeSource",
    "AzureFileVolumeSource",
    "CSIVolumeSource",
    "Capabilities",
    "CephFSVolumeSource",
    "CinderVolumeSource",
    "ClusterTrustBundleProjection",
    "ConfigMapEnvSource",
    "ConfigMapKeySelector",
    "ConfigMapProjection",
    "ConfigMapVolumeSource",
    "Container",
    "ContainerPort",
    "ContainerResizePolicy",
    "ContainerRestartPolicyRules",
    "ContainerRestartPolicyRulesExitCodes",
    "DownwardAPIProjection",
    "DownwardAPIVolumeFile",
    "DownwardAPIVolumeSource",
    "EmptyDirVolumeSource",
    "EnvFromSource",
    "EnvVar",
    "EnvVarSource",
    "EnvVarSourceFileKeyRef",
    "EphemeralVolumeSource",
    "ExecAction",
    "FCVolumeSource",
    "FlexVolumeSource",
    "FlockerVolumeSource",
    "GCEPersistentDiskVolumeSource",
    "GRPCAction",
    "GitRepoVolumeSource",
    "GlusterfsVolumeSource",
    "HTTPGetAction",
    "HTTPHeader",
    "HostAlias",
    "HostPathVolumeSource",
    "ISCSIVolumeSource",
    "ImageVolumeSource",
    "KeyToPath",
    "LabelSelector",
    "LabelSelectorRequirement",
    "Lifecycle",
    "LifecycleHandler",
    "LocalObjectReference",
    "ModifyVolumeStatus",
    "NFSVolumeSource",
    "NodeAffinity",
    "NodeSelector",
    "NodeSelectorRequirement",
    "NodeSelectorTerm",
    "ObjectFieldSelector",
    "ObjectMeta",
    "PersistentVolumeClaim",
    "PersistentVolumeClaimCondition",
    "PersistentVolumeClaimSpec",
    "PersistentVolumeClaimStatus",
    "PersistentVolumeClaimTemplate",
    "PersistentVolumeClaimVolumeSource",
    "PhotonPersistentDiskVolumeSource",
    "PodAffinity",
    "PodAffinityTerm",
    "PodAntiAffinity",
    "PodDNSConfig",
    "PodDNSConfigOption",
    "PodDisruptionBudgetSpec",
    "PodSecurityContext",
    "PortworxVolumeSource",
    "PreferredSchedulingTerm",
    "Probe",
    "ProjectedVolumeSource",
    "QuobyteVolumeSource",
    "RBDVolumeSource",
    "ResourceClaim",
    "ResourceFieldSelector",
    "ResourceRequirements",
    "SELinuxOptions",
    "ScaleIOVolumeSource",
    "SeccompProfile",
    "SecretEnvSource",
    "SecretKeySelector",
    "SecretProjection",
    "SecretVolumeSource",
    "SecurityContext",
    "ServiceAccountTokenProjection",
    "SleepAction",
    "StorageOSVolumeSource",
    "Sysctl",
    "TCPSocketAction",
    "Toleration",
    "TypedLocalObjectReference",
    "TypedObjectReference",
    "Volume",
    "VolumeDevice",
    "VolumeMount",
    "VolumeProjection",
    "VolumeProjectionPodCertificate",
    "VolumeResourceRequirements",
    "VsphereVirtualDiskVolumeSource",
    "WeightedPodAffinityTerm",
    "WindowsSecurityContextOptions",
]
