"""Argo's and Kubernetes' objects as types, in their own words. Made by `make schemas`.

A value of one is a plain dict; type checkers and editors know its fields. Each name is loaded when it is
first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from couler_py.backends.argo.words.argo import (
        ArchiveStrategy as ArchiveStrategy,
    )
    from couler_py.backends.argo.words.argo import (
        Arguments as Arguments,
    )
    from couler_py.backends.argo.words.argo import (
        Artifact as Artifact,
    )
    from couler_py.backends.argo.words.argo import (
        ArtifactGC as ArtifactGC,
    )
    from couler_py.backends.argo.words.argo import (
        ArtifactLocation as ArtifactLocation,
    )
    from couler_py.backends.argo.words.argo import (
        ArtifactoryArtifact as ArtifactoryArtifact,
    )
    from couler_py.backends.argo.words.argo import (
        ArtifactPaths as ArtifactPaths,
    )
    from couler_py.backends.argo.words.argo import (
        ArtifactRepositoryRef as ArtifactRepositoryRef,
    )
    from couler_py.backends.argo.words.argo import (
        AzureArtifact as AzureArtifact,
    )
    from couler_py.backends.argo.words.argo import (
        Backoff as Backoff,
    )
    from couler_py.backends.argo.words.argo import (
        BasicAuth as BasicAuth,
    )
    from couler_py.backends.argo.words.argo import (
        ClientCertAuth as ClientCertAuth,
    )
    from couler_py.backends.argo.words.argo import (
        ContainerNode as ContainerNode,
    )
    from couler_py.backends.argo.words.argo import (
        ContainerSetRetryStrategy as ContainerSetRetryStrategy,
    )
    from couler_py.backends.argo.words.argo import (
        ContainerSetTemplate as ContainerSetTemplate,
    )
    from couler_py.backends.argo.words.argo import (
        ContinueOn as ContinueOn,
    )
    from couler_py.backends.argo.words.argo import (
        Counter as Counter,
    )
    from couler_py.backends.argo.words.argo import (
        CreateS3BucketOptions as CreateS3BucketOptions,
    )
    from couler_py.backends.argo.words.argo import (
        CronWorkflowSpec as CronWorkflowSpec,
    )
    from couler_py.backends.argo.words.argo import (
        DAGTask as DAGTask,
    )
    from couler_py.backends.argo.words.argo import (
        DAGTemplate as DAGTemplate,
    )
    from couler_py.backends.argo.words.argo import (
        DataSource as DataSource,
    )
    from couler_py.backends.argo.words.argo import (
        DataTemplate as DataTemplate,
    )
    from couler_py.backends.argo.words.argo import (
        ExecutorConfig as ExecutorConfig,
    )
    from couler_py.backends.argo.words.argo import (
        Gauge as Gauge,
    )
    from couler_py.backends.argo.words.argo import (
        GCSArtifact as GCSArtifact,
    )
    from couler_py.backends.argo.words.argo import (
        GitArtifact as GitArtifact,
    )
    from couler_py.backends.argo.words.argo import (
        HDFSArtifact as HDFSArtifact,
    )
    from couler_py.backends.argo.words.argo import (
        Header as Header,
    )
    from couler_py.backends.argo.words.argo import (
        Histogram as Histogram,
    )
    from couler_py.backends.argo.words.argo import (
        HTTPArtifact as HTTPArtifact,
    )
    from couler_py.backends.argo.words.argo import (
        HTTPAuth as HTTPAuth,
    )
    from couler_py.backends.argo.words.argo import (
        HTTPBodySource as HTTPBodySource,
    )
    from couler_py.backends.argo.words.argo import (
        HTTPHeaderSource as HTTPHeaderSource,
    )
    from couler_py.backends.argo.words.argo import (
        HTTPTemplate as HTTPTemplate,
    )
    from couler_py.backends.argo.words.argo import (
        HTTPTemplateHeader as HTTPTemplateHeader,
    )
    from couler_py.backends.argo.words.argo import (
        Inputs as Inputs,
    )
    from couler_py.backends.argo.words.argo import (
        LabelValueFrom as LabelValueFrom,
    )
    from couler_py.backends.argo.words.argo import (
        LifecycleHook as LifecycleHook,
    )
    from couler_py.backends.argo.words.argo import (
        ManifestFrom as ManifestFrom,
    )
    from couler_py.backends.argo.words.argo import (
        Memoize as Memoize,
    )
    from couler_py.backends.argo.words.argo import (
        MemoizeCache as MemoizeCache,
    )
    from couler_py.backends.argo.words.argo import (
        Metadata as Metadata,
    )
    from couler_py.backends.argo.words.argo import (
        MetricLabel as MetricLabel,
    )
    from couler_py.backends.argo.words.argo import (
        Metrics as Metrics,
    )
    from couler_py.backends.argo.words.argo import (
        Mutex as Mutex,
    )
    from couler_py.backends.argo.words.argo import (
        OAuth2Auth as OAuth2Auth,
    )
    from couler_py.backends.argo.words.argo import (
        OAuth2EndpointParam as OAuth2EndpointParam,
    )
    from couler_py.backends.argo.words.argo import (
        OSSArtifact as OSSArtifact,
    )
    from couler_py.backends.argo.words.argo import (
        OSSLifecycleRule as OSSLifecycleRule,
    )
    from couler_py.backends.argo.words.argo import (
        Outputs as Outputs,
    )
    from couler_py.backends.argo.words.argo import (
        Parameter as Parameter,
    )
    from couler_py.backends.argo.words.argo import (
        PluginArtifact as PluginArtifact,
    )
    from couler_py.backends.argo.words.argo import (
        PodGC as PodGC,
    )
    from couler_py.backends.argo.words.argo import (
        Prometheus as Prometheus,
    )
    from couler_py.backends.argo.words.argo import (
        RawArtifact as RawArtifact,
    )
    from couler_py.backends.argo.words.argo import (
        ResourceTemplate as ResourceTemplate,
    )
    from couler_py.backends.argo.words.argo import (
        RetryAffinity as RetryAffinity,
    )
    from couler_py.backends.argo.words.argo import (
        RetryStrategy as RetryStrategy,
    )
    from couler_py.backends.argo.words.argo import (
        S3Artifact as S3Artifact,
    )
    from couler_py.backends.argo.words.argo import (
        S3EncryptionOptions as S3EncryptionOptions,
    )
    from couler_py.backends.argo.words.argo import (
        ScriptTemplate as ScriptTemplate,
    )
    from couler_py.backends.argo.words.argo import (
        SemaphoreRef as SemaphoreRef,
    )
    from couler_py.backends.argo.words.argo import (
        StopStrategy as StopStrategy,
    )
    from couler_py.backends.argo.words.argo import (
        SuspendTemplate as SuspendTemplate,
    )
    from couler_py.backends.argo.words.argo import (
        SyncDatabaseRef as SyncDatabaseRef,
    )
    from couler_py.backends.argo.words.argo import (
        Synchronization as Synchronization,
    )
    from couler_py.backends.argo.words.argo import (
        TarStrategy as TarStrategy,
    )
    from couler_py.backends.argo.words.argo import (
        Template as Template,
    )
    from couler_py.backends.argo.words.argo import (
        TemplateRef as TemplateRef,
    )
    from couler_py.backends.argo.words.argo import (
        TransformationStep as TransformationStep,
    )
    from couler_py.backends.argo.words.argo import (
        TTLStrategy as TTLStrategy,
    )
    from couler_py.backends.argo.words.argo import (
        UserContainer as UserContainer,
    )
    from couler_py.backends.argo.words.argo import (
        ValueFrom as ValueFrom,
    )
    from couler_py.backends.argo.words.argo import (
        VolumeClaimGC as VolumeClaimGC,
    )
    from couler_py.backends.argo.words.argo import (
        WithSequence as WithSequence,
    )
    from couler_py.backends.argo.words.argo import (
        WorkflowLevelArtifactGC as WorkflowLevelArtifactGC,
    )
    from couler_py.backends.argo.words.argo import (
        WorkflowMetadata as WorkflowMetadata,
    )
    from couler_py.backends.argo.words.argo import (
        WorkflowSpec as WorkflowSpec,
    )
    from couler_py.backends.argo.words.argo import (
        WorkflowSpecExecutorPlugins as WorkflowSpecExecutorPlugins,
    )
    from couler_py.backends.argo.words.argo import (
        WorkflowSpecExecutorPluginsMetadata as WorkflowSpecExecutorPluginsMetadata,
    )
    from couler_py.backends.argo.words.argo import (
        WorkflowSpecExecutorPluginsSpec as WorkflowSpecExecutorPluginsSpec,
    )
    from couler_py.backends.argo.words.argo import (
        WorkflowSpecExecutorPluginsSpecSidecar as WorkflowSpecExecutorPluginsSpecSidecar,
    )
    from couler_py.backends.argo.words.argo import (
        WorkflowSpecResourceClaims as WorkflowSpecResourceClaims,
    )
    from couler_py.backends.argo.words.argo import (
        WorkflowStep as WorkflowStep,
    )
    from couler_py.backends.argo.words.argo import (
        WorkflowTemplateRef as WorkflowTemplateRef,
    )
    from couler_py.backends.argo.words.forms import (
        ArtifactFields as ArtifactFields,
    )
    from couler_py.backends.argo.words.forms import (
        ContainerFields as ContainerFields,
    )
    from couler_py.backends.argo.words.forms import (
        ContainerSetFields as ContainerSetFields,
    )
    from couler_py.backends.argo.words.forms import (
        DAGFields as DAGFields,
    )
    from couler_py.backends.argo.words.forms import (
        DataFields as DataFields,
    )
    from couler_py.backends.argo.words.forms import (
        HTTPFields as HTTPFields,
    )
    from couler_py.backends.argo.words.forms import (
        ParameterFields as ParameterFields,
    )
    from couler_py.backends.argo.words.forms import (
        PluginFields as PluginFields,
    )
    from couler_py.backends.argo.words.forms import (
        RawTemplateFields as RawTemplateFields,
    )
    from couler_py.backends.argo.words.forms import (
        ResourceFields as ResourceFields,
    )
    from couler_py.backends.argo.words.forms import (
        ScheduledWorkflowSpec as ScheduledWorkflowSpec,
    )
    from couler_py.backends.argo.words.forms import (
        ScriptFields as ScriptFields,
    )
    from couler_py.backends.argo.words.forms import (
        StepsFields as StepsFields,
    )
    from couler_py.backends.argo.words.forms import (
        SuspendFields as SuspendFields,
    )
    from couler_py.backends.argo.words.forms import (
        TaskAdditions as TaskAdditions,
    )
    from couler_py.backends.argo.words.forms import (
        TemplateAdditions as TemplateAdditions,
    )
    from couler_py.backends.argo.words.forms import (
        TemplateFields as TemplateFields,
    )
    from couler_py.backends.argo.words.forms import (
        WorkflowFields as WorkflowFields,
    )
    from couler_py.backends.argo.words.kubernetes import (
        Affinity as Affinity,
    )
    from couler_py.backends.argo.words.kubernetes import (
        AppArmorProfile as AppArmorProfile,
    )
    from couler_py.backends.argo.words.kubernetes import (
        AWSElasticBlockStoreVolumeSource as AWSElasticBlockStoreVolumeSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        AzureDiskVolumeSource as AzureDiskVolumeSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        AzureFileVolumeSource as AzureFileVolumeSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        Capabilities as Capabilities,
    )
    from couler_py.backends.argo.words.kubernetes import (
        CephFSVolumeSource as CephFSVolumeSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        CinderVolumeSource as CinderVolumeSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        ClusterTrustBundleProjection as ClusterTrustBundleProjection,
    )
    from couler_py.backends.argo.words.kubernetes import (
        ConfigMapEnvSource as ConfigMapEnvSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        ConfigMapKeySelector as ConfigMapKeySelector,
    )
    from couler_py.backends.argo.words.kubernetes import (
        ConfigMapProjection as ConfigMapProjection,
    )
    from couler_py.backends.argo.words.kubernetes import (
        ConfigMapVolumeSource as ConfigMapVolumeSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        Container as Container,
    )
    from couler_py.backends.argo.words.kubernetes import (
        ContainerPort as ContainerPort,
    )
    from couler_py.backends.argo.words.kubernetes import (
        ContainerResizePolicy as ContainerResizePolicy,
    )
    from couler_py.backends.argo.words.kubernetes import (
        ContainerRestartPolicyRules as ContainerRestartPolicyRules,
    )
    from couler_py.backends.argo.words.kubernetes import (
        ContainerRestartPolicyRulesExitCodes as ContainerRestartPolicyRulesExitCodes,
    )
    from couler_py.backends.argo.words.kubernetes import (
        CSIVolumeSource as CSIVolumeSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        DownwardAPIProjection as DownwardAPIProjection,
    )
    from couler_py.backends.argo.words.kubernetes import (
        DownwardAPIVolumeFile as DownwardAPIVolumeFile,
    )
    from couler_py.backends.argo.words.kubernetes import (
        DownwardAPIVolumeSource as DownwardAPIVolumeSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        EmptyDirVolumeSource as EmptyDirVolumeSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        EnvFromSource as EnvFromSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        EnvVar as EnvVar,
    )
    from couler_py.backends.argo.words.kubernetes import (
        EnvVarSource as EnvVarSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        EnvVarSourceFileKeyRef as EnvVarSourceFileKeyRef,
    )
    from couler_py.backends.argo.words.kubernetes import (
        EphemeralVolumeSource as EphemeralVolumeSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        ExecAction as ExecAction,
    )
    from couler_py.backends.argo.words.kubernetes import (
        FCVolumeSource as FCVolumeSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        FlexVolumeSource as FlexVolumeSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        FlockerVolumeSource as FlockerVolumeSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        GCEPersistentDiskVolumeSource as GCEPersistentDiskVolumeSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        GitRepoVolumeSource as GitRepoVolumeSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        GlusterfsVolumeSource as GlusterfsVolumeSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        GRPCAction as GRPCAction,
    )
    from couler_py.backends.argo.words.kubernetes import (
        HostAlias as HostAlias,
    )
    from couler_py.backends.argo.words.kubernetes import (
        HostPathVolumeSource as HostPathVolumeSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        HTTPGetAction as HTTPGetAction,
    )
    from couler_py.backends.argo.words.kubernetes import (
        HTTPHeader as HTTPHeader,
    )
    from couler_py.backends.argo.words.kubernetes import (
        ImageVolumeSource as ImageVolumeSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        ISCSIVolumeSource as ISCSIVolumeSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        KeyToPath as KeyToPath,
    )
    from couler_py.backends.argo.words.kubernetes import (
        LabelSelector as LabelSelector,
    )
    from couler_py.backends.argo.words.kubernetes import (
        LabelSelectorRequirement as LabelSelectorRequirement,
    )
    from couler_py.backends.argo.words.kubernetes import (
        Lifecycle as Lifecycle,
    )
    from couler_py.backends.argo.words.kubernetes import (
        LifecycleHandler as LifecycleHandler,
    )
    from couler_py.backends.argo.words.kubernetes import (
        LocalObjectReference as LocalObjectReference,
    )
    from couler_py.backends.argo.words.kubernetes import (
        ModifyVolumeStatus as ModifyVolumeStatus,
    )
    from couler_py.backends.argo.words.kubernetes import (
        NFSVolumeSource as NFSVolumeSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        NodeAffinity as NodeAffinity,
    )
    from couler_py.backends.argo.words.kubernetes import (
        NodeSelector as NodeSelector,
    )
    from couler_py.backends.argo.words.kubernetes import (
        NodeSelectorRequirement as NodeSelectorRequirement,
    )
    from couler_py.backends.argo.words.kubernetes import (
        NodeSelectorTerm as NodeSelectorTerm,
    )
    from couler_py.backends.argo.words.kubernetes import (
        ObjectFieldSelector as ObjectFieldSelector,
    )
    from couler_py.backends.argo.words.kubernetes import (
        ObjectMeta as ObjectMeta,
    )
    from couler_py.backends.argo.words.kubernetes import (
        PersistentVolumeClaim as PersistentVolumeClaim,
    )
    from couler_py.backends.argo.words.kubernetes import (
        PersistentVolumeClaimCondition as PersistentVolumeClaimCondition,
    )
    from couler_py.backends.argo.words.kubernetes import (
        PersistentVolumeClaimSpec as PersistentVolumeClaimSpec,
    )
    from couler_py.backends.argo.words.kubernetes import (
        PersistentVolumeClaimStatus as PersistentVolumeClaimStatus,
    )
    from couler_py.backends.argo.words.kubernetes import (
        PersistentVolumeClaimTemplate as PersistentVolumeClaimTemplate,
    )
    from couler_py.backends.argo.words.kubernetes import (
        PersistentVolumeClaimVolumeSource as PersistentVolumeClaimVolumeSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        PhotonPersistentDiskVolumeSource as PhotonPersistentDiskVolumeSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        PodAffinity as PodAffinity,
    )
    from couler_py.backends.argo.words.kubernetes import (
        PodAffinityTerm as PodAffinityTerm,
    )
    from couler_py.backends.argo.words.kubernetes import (
        PodAntiAffinity as PodAntiAffinity,
    )
    from couler_py.backends.argo.words.kubernetes import (
        PodDisruptionBudgetSpec as PodDisruptionBudgetSpec,
    )
    from couler_py.backends.argo.words.kubernetes import (
        PodDNSConfig as PodDNSConfig,
    )
    from couler_py.backends.argo.words.kubernetes import (
        PodDNSConfigOption as PodDNSConfigOption,
    )
    from couler_py.backends.argo.words.kubernetes import (
        PodSecurityContext as PodSecurityContext,
    )
    from couler_py.backends.argo.words.kubernetes import (
        PortworxVolumeSource as PortworxVolumeSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        PreferredSchedulingTerm as PreferredSchedulingTerm,
    )
    from couler_py.backends.argo.words.kubernetes import (
        Probe as Probe,
    )
    from couler_py.backends.argo.words.kubernetes import (
        ProjectedVolumeSource as ProjectedVolumeSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        QuobyteVolumeSource as QuobyteVolumeSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        RBDVolumeSource as RBDVolumeSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        ResourceClaim as ResourceClaim,
    )
    from couler_py.backends.argo.words.kubernetes import (
        ResourceFieldSelector as ResourceFieldSelector,
    )
    from couler_py.backends.argo.words.kubernetes import (
        ResourceRequirements as ResourceRequirements,
    )
    from couler_py.backends.argo.words.kubernetes import (
        ScaleIOVolumeSource as ScaleIOVolumeSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        SeccompProfile as SeccompProfile,
    )
    from couler_py.backends.argo.words.kubernetes import (
        SecretEnvSource as SecretEnvSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        SecretKeySelector as SecretKeySelector,
    )
    from couler_py.backends.argo.words.kubernetes import (
        SecretProjection as SecretProjection,
    )
    from couler_py.backends.argo.words.kubernetes import (
        SecretVolumeSource as SecretVolumeSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        SecurityContext as SecurityContext,
    )
    from couler_py.backends.argo.words.kubernetes import (
        SELinuxOptions as SELinuxOptions,
    )
    from couler_py.backends.argo.words.kubernetes import (
        ServiceAccountTokenProjection as ServiceAccountTokenProjection,
    )
    from couler_py.backends.argo.words.kubernetes import (
        SleepAction as SleepAction,
    )
    from couler_py.backends.argo.words.kubernetes import (
        StorageOSVolumeSource as StorageOSVolumeSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        Sysctl as Sysctl,
    )
    from couler_py.backends.argo.words.kubernetes import (
        TCPSocketAction as TCPSocketAction,
    )
    from couler_py.backends.argo.words.kubernetes import (
        Toleration as Toleration,
    )
    from couler_py.backends.argo.words.kubernetes import (
        TypedLocalObjectReference as TypedLocalObjectReference,
    )
    from couler_py.backends.argo.words.kubernetes import (
        TypedObjectReference as TypedObjectReference,
    )
    from couler_py.backends.argo.words.kubernetes import (
        Volume as Volume,
    )
    from couler_py.backends.argo.words.kubernetes import (
        VolumeDevice as VolumeDevice,
    )
    from couler_py.backends.argo.words.kubernetes import (
        VolumeMount as VolumeMount,
    )
    from couler_py.backends.argo.words.kubernetes import (
        VolumeProjection as VolumeProjection,
    )
    from couler_py.backends.argo.words.kubernetes import (
        VolumeProjectionPodCertificate as VolumeProjectionPodCertificate,
    )
    from couler_py.backends.argo.words.kubernetes import (
        VolumeResourceRequirements as VolumeResourceRequirements,
    )
    from couler_py.backends.argo.words.kubernetes import (
        VsphereVirtualDiskVolumeSource as VsphereVirtualDiskVolumeSource,
    )
    from couler_py.backends.argo.words.kubernetes import (
        WeightedPodAffinityTerm as WeightedPodAffinityTerm,
    )
    from couler_py.backends.argo.words.kubernetes import (
        WindowsSecurityContextOptions as WindowsSecurityContextOptions,
    )


def __getattr__(name: str) -> Any:
    for home in ("argo", "kubernetes", "forms"):
        module = importlib.import_module(f"couler_py.backends.argo.words.{home}")
        if name in module.__all__:
            found = globals()[name] = getattr(module, name)
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
