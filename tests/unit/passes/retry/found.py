"""What others have met: messages as public sources have them, and messages that only sound like them."""

from __future__ import annotations

from tests.unit.passes.retry.corpus import python

_K8S = "https://github.com/kubernetes/kubernetes/blob/master/pkg"
_ARGO = "https://github.com/argoproj/argo-workflows/blob/main/workflow"
_AIRFLOW = "https://github.com/apache/airflow"
_C10D = "https://github.com/pytorch/pytorch/blob/main/torch/csrc/distributed/c10d"

FOUND: tuple[tuple[str, str, str], ...] = (
    (
        "k8s-pressure",
        "The node was low on resource: ephemeral-storage. Threshold quantity: 4902142351, available: 4528764Ki. "
        "Container sti-build was using 3888Ki, request is 0, has larger consumption of ephemeral-storage.",
        f"{_K8S}/kubelet/eviction/helpers.go",
    ),
    ("k8s-preempted", "Preempted in order to admit critical pod", f"{_K8S}/kubelet/preemption/preemption.go"),
    (
        "k8s-preempted",
        "batch-scheduler: preempting to accommodate a higher priority workload",
        f"{_K8S}/scheduler/framework/preemption/executor.go",
    ),
    (
        "k8s-tainted",
        "Device Taint manager: deleting due to NoExecute taint",
        f"{_K8S}/controller/devicetainteviction/device_taint_eviction.go",
    ),
    (
        "k8s-shutdown",
        "Pod [Failed][TerminationByKubelet] Pod was terminated in response to imminent node shutdown.",
        f"{_K8S}/kubelet/nodeshutdown/nodeshutdown_manager.go",
    ),
    ("k8s-node-lost", "DeletionByPodGC: PodGC: node no longer exists", f"{_K8S}/controller/podgc/gc_controller.go"),
    ("k8s-node-lost", "Node ip-10-0-1-52 which was running pod web-12 is unresponsive", f"{_K8S}/util/node/node.go"),
    (
        "k8s-refused",
        "Pod was rejected: Node didn't have enough resource: memory, requested: 1053818880, used: 5740953600, "
        "capacity: 6198358016",
        f"{_K8S}/kubelet/lifecycle/predicate.go",
    ),
    (
        "k8s-device",
        "Pod was rejected: Allocate failed due to device plugin GetPreferredAllocation rpc failed with err: rpc error: "
        "code = Unknown desc = error getting list of preferred allocation devices: unable to get device link "
        "information, which is unexpected",
        f"{_K8S}/kubelet/cm/admission/errors.go",
    ),
    (
        "k8s-pull-limit",
        'Failed to pull image "nginx:1.14.2": Error response from daemon: toomanyrequests: You have reached your '
        "unauthenticated pull rate limit. https://www.docker.com/increase-rate-limit",
        "https://www.docker.com/increase-rate-limit",
    ),
    (
        "k8s-sandbox",
        'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "1eaf": '
        'plugin type="flannel" failed (add): loadFlannelSubnetEnv failed: open /run/flannel/subnet.env: no such file',
        "https://github.com/flannel-io/flannel",
    ),
    (
        "k8s-volume",
        "Unable to attach or mount volumes: unmounted volumes=[juicefsvol], unattached volumes=[juicefsvol "
        "kube-api-access-px52j]: timed out waiting for the condition",
        f"{_K8S}/kubelet/volumemanager/volume_manager.go",
    ),
    (
        "k8s-volume",
        'Multi-Attach error for volume "pvc-9dbdb7f1" Volume is already exclusively attached to one node and can\'t be '
        "attached to another",
        f"{_K8S}/controller/volume/attachdetach/reconciler/reconciler.go",
    ),
    (
        "k8s-quota",
        'operation cannot be fulfilled on resourcequotas "gke-resource-quotas": StorageError: invalid object, Code: 4',
        "https://github.com/kubernetes/kubernetes/issues/67761",
    ),
    ("argo-shutdown", "Stopped with strategy 'Terminate'", f"{_ARGO}/controller/operator.go"),
    ("argo-shutdown", "workflow shutdown with strategy: Stop", f"{_ARGO}/controller/exec_control.go"),
    ("argo-deadline", "Max duration limit exceeded", f"{_ARGO}/controller/operator.go"),
    ("argo-pod-deleted", "pod deleted during operation", f"{_ARGO}/controller/operator.go"),
    (
        "argo-artifact-load",
        'artifact data failed to load: Get "https://s3.eu-west-1.amazonaws.com/": dial tcp: i/o timeout',
        f"{_ARGO}/executor/executor.go",
    ),
    (
        "airflow-heartbeat",
        "Task did not emit heartbeat within time limit (600 seconds) and will be terminated. See "
        "https://airflow.apache.org/docs/apache-airflow/stable/core-concepts/tasks.html#zombie-undead-tasks",
        f"{_AIRFLOW}/blob/main/airflow-core/src/airflow/jobs/scheduler_job_runner.py",
    ),
    (
        "airflow-queue",
        "Executor LocalExecutor(parallelism=32) reported that the task instance <TaskInstance: etl.load manual__1 "
        "[queued]> finished with state success, but the task instance's state attribute is queued.",
        f"{_AIRFLOW}/blob/main/airflow-core/src/airflow/jobs/scheduler_job_runner.py",
    ),
    (
        "airflow-queue",
        "Executor reports task instance <TaskInstance: CSDISPATCHER_OTHERS.dispatch_restores [queued]> finished "
        "(failed) although the task says it's queued. (Info: None) Was the task killed externally?",
        f"{_AIRFLOW}/issues/39717",
    ),
    (
        "airflow-pod-start",
        "Pod took too long to start. More than 120s. Check the pod events in kubernetes.",
        f"{_AIRFLOW}/blob/main/providers/cncf/kubernetes/src/airflow/providers/cncf/kubernetes/utils/pod_manager.py",
    ),
    (
        "airflow-sigterm",
        "Server indicated the task shouldn't be running anymore",
        f"{_AIRFLOW}/blob/main/task-sdk/src/airflow/sdk/execution_time/supervisor.py",
    ),
    (
        "s3-internal",
        "upload failed: An error occurred (GatewayTimeout) when calling the UploadPart operation",
        "https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html",
    ),
    (
        "s3-clock",
        "fatal error: An error occurred (RequestTimeTooSkewed) when calling the ListObjectsV2 operation: The "
        "difference between the request time and the server's time is too large.",
        "https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html",
    ),
    (
        "oss-busy",
        "oss2.exceptions.RequestError: {'status': -2, 'x-oss-request-id': '', 'details': \"RequestError: ('Connection "
        "aborted.', timeout('timed out'))\"}",
        "https://github.com/aliyun/aliyun-oss-python-sdk/blob/master/oss2/exceptions.py",
    ),
    (
        "hdfs-not-ready",
        "mkdir: Operation category READ is not supported in state standby. Visit https://s.apache.org/sbnn-error",
        "https://s.apache.org/sbnn-error",
    ),
    (
        "gpu-not-ready",
        "RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 802: system not yet initialized",
        "https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html",
    ),
    (
        "nccl-network",
        "[2026-09-09 10:46:33] ubuntu2:319733:319761 [1] transport/net_ib/p2p.cc:648 NCCL WARN NET/IB: Got completion "
        "from peer 10.153.235.13<40554> with status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_RECV_RDMA_WITH_IMM(129)",
        "https://github.com/NVIDIA/nccl/blob/master/src/transport/net_ib/p2p.cc",
    ),
    (
        "nccl-network",
        "kp-ddp-worker-0:3468:3905 [4] ib_plugin.c:1615 NCCL WARN NET/IB : Got completion from peer "
        "10.216.210.236<54862> with status=12 opcode=0 len=0 vendor err 129 (Recv)",
        "https://github.com/NVIDIA/nccl/issues/1405",
    ),
    (
        "nccl-network",
        "NET/IBP:Got completion from peer 7.6.13.83<36315> with status=12 opcode=32698 len=32696 vendor err 129 (Send)",
        "https://github.com/NVIDIA/nccl/issues/1664",
    ),
    (
        "nccl-timeout",
        "[rank0]:[E1218 20:27:21.426415540 ProcessGroupNCCL.cpp:629] [Rank 0] Watchdog caught collective operation "
        "timeout: WorkNCCL(SeqNum=1, OpType=BROADCAST, Timeout(ms)=600000) ran for 600081 milliseconds before timing "
        "out.",
        f"{_C10D}/ProcessGroupNCCL.cpp",
    ),
    (
        "elastic-store",
        "[E728 15:01:59.561275187 socket.cpp:1028] [c10d] The client socket has timed out after 600000ms while trying "
        "to connect to (127.0.0.1, 48315).",
        f"{_C10D}/socket.cpp",
    ),
)
"""By the row that it is: what was said, and the code that says it or the place where somebody met it."""

NEAR: tuple[tuple[str, str], ...] = (
    ("k8s-pressure", "exit code 2\nerror: queue 7 was low on resource credits"),
    ("k8s-preempted", "exit code 1\nRuntimeError: job was preempted by a call of cancel()"),
    ("k8s-drained", "exit code 1\nlru cache: evicting 12 entries"),
    ("k8s-tainted", "exit code 1\nerror: deleting rows with a tainted key"),
    ("k8s-shutdown", "exit code 1\nshutting down the node editor"),
    ("k8s-node-lost", 'exit code 1\nerror: node "b" of the graph is unresponsive'),
    ("k8s-refused", "exit code 1\njava.lang.OutOfMemoryError: Java heap space"),
    (
        "k8s-device",
        "Pod was rejected: Allocate failed due to rpc error: code = Unknown desc = invalid request for sharing GPU "
        "(MPS), at most 1 nvidia.com/gpu can be requested on multi-GPU nodes, which is unexpected",
    ),
    (
        "k8s-pull-limit",
        python("requests.exceptions.HTTPError: 429 Client Error: Too Many Requests for url: https://a.b/c"),
    ),
    (
        "k8s-sandbox",
        "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox runtime: no runtime for "
        '"runsc" is configured',
    ),
    ("k8s-sandbox", 'Failed to create pod sandbox: rpc error: desc = RuntimeHandler "runsc" not supported'),
    ("k8s-volume", 'FailedMount: MountVolume.SetUp failed for volume "keys" : secret "keys" not found'),
    ("k8s-quota", "exit code 1\nquota_exceeded: your plan allows 5 requests a minute"),
    ("k8s-api", "exit code 1\nassert etcdserver == 'ready'"),
    ("argo-shutdown", "exit code 1\nthe workflow's shutdown strategy is unknown"),
    ("argo-deadline", "exit code 1\nframe 7 took longer than its deadline"),
    ("argo-pod-deleted", "exit code 1\n3 entries for a pod deleted from the table"),
    ("argo-artifact-load", "artifact model failed to load: failed to get file: stat /tmp/part-5031.csv: no such file"),
    ("argo-artifact-save", "Error (exit code 64): failed to put file: open /tmp/5030.csv: permission denied"),
    ("airflow-heartbeat", "exit code 1\nno heartbeat in recording 7"),
    ("airflow-queue", "exit code 1\nmessage 7 is stuck in the queue"),
    ("airflow-pod-start", "exit code 1\nPodcast took too long to start"),
    ("airflow-sigterm", "exit code 1\nhandler of SIGTERM is not callable"),
    ("s3-slow-down", python("ValueError: SlowDown must be positive")),
    (
        "s3-token",
        python("botocore.exceptions.ClientError: An error occurred (InvalidAccessKeyId) when calling the ListBuckets"),
    ),
    ("gcs-busy", python("gcsfs.retry.HttpError: Anonymous caller does not have storage.objects.get access, 401")),
    (
        "azure-busy",
        python("azure.core.exceptions.ResourceExistsError: The specified blob already exists.")
        + "\nErrorCode:BlobAlreadyExists",
    ),
    ("oss-busy", python("oss2.exceptions.NoSuchKey: {'status': 404, 'details': {'Code': 'NoSuchKey'}}")),
    ("hdfs-not-ready", "mkdir: Permission denied: user=etl, access=WRITE, inode=/standby"),
    ("gpu-driver-mismatch", "exit code 1\npoetry.lock: driver/library version mismatch"),
    ("gpu-off-the-bus", "NVRM: Xid (PCI:0000:3b:00): 13, pid=1, Graphics Exception: ESR 0x404600=0x80000002"),
    ("gpu-nvlink", "exit code 1\nNVLink is not supported by this topology"),
    ("gpu-not-ready", "exit code 1\ntrace system not yet initialized"),
    ("nccl-network", "node-2:5776:5902 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth0:10.2.0.4<0>"),
    ("nccl-timeout", "exit code 1\nwatchdog: the operation took 600 ms"),
    ("elastic-store", "exit code 1\nthe client of the socket is not logged in"),
)
"""By the row that it sounds like and isn't: none of it is worth another attempt."""
