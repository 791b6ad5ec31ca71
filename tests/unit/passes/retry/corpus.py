"""What was said of failures, as it really is said: of platforms (with the row that it is), and of people's own code."""

from __future__ import annotations


def python(last: str, *around: str) -> str:
    """What the engine says of a Python step that raised an error."""
    frame = ['  File "train.py", line 12, in train', "    step(batch)"]
    return "\n".join(["exit code 1", *around, "Traceback (most recent call last):", *frame, last])


PLATFORM: tuple[tuple[str, str, int | None], ...] = (
    # Kubernetes
    ("k8s-oom", "OOMKilled (exit code 137)", 137),
    ("k8s-oom", "out of memory: it needed more than its limit of 256.0 MiB (exit code 137)", 137),
    ("k8s-image-missing", 'ErrImagePull: failed to pull and unpack image "docker.io/acme/train:v7": not found', None),
    (
        "k8s-image-missing",
        "ImagePullBackOff: Back-off pulling image: pull access denied for acme/train, repository does not exist",
        None,
    ),
    ("k8s-image-missing", 'Failed to apply default image tag "acme/Train": InvalidImageName', None),
    ("k8s-config", 'CreateContainerConfigError: secret "db-password" not found', None),
    ("k8s-config", 'MountVolume.SetUp failed for volume "keys" : secret "keys" not found', None),
    (
        "k8s-no-program",
        "StartError: failed to create containerd task: exec: trainer: no such file or directory (exit code 128)",
        128,
    ),
    ("k8s-runtime", 'failed to get sandbox runtime: no runtime for "nvidia" is configured', None),
    (
        "k8s-shared-gpu",
        "Allocate failed due to rpc error: code = Unknown desc = invalid request for sharing GPU (MPS), at most 1 "
        "nvidia.com/gpu can be requested on multi-GPU nodes",
        None,
    ),
    ("k8s-deadline", "Pod was active on the node longer than the specified deadline", None),
    (
        "k8s-disk-limit",
        "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi.",
        None,
    ),
    ("k8s-pressure", "The node was low on resource: memory. Threshold quantity: 100Mi, available: 52Ki.", 137),
    ("k8s-pressure", "The node had condition: [DiskPressure]. ", None),
    ("k8s-preempted", "Preempted by pod 6f3ae7a2 on node gpu-4", 143),
    (
        "k8s-preempted",
        "PreemptionByScheduler: default-scheduler: preempting to accommodate a higher priority pod",
        None,
    ),
    ("k8s-drained", "EvictionByEvictionAPI: Eviction API: evicting", 143),
    ("k8s-tainted", "Taint manager: deleting due to NoExecute taint", None),
    ("k8s-shutdown", "Pod was terminated in response to imminent node shutdown.", None),
    ("k8s-shutdown", "NodeShutdown: Pod was rejected as the node is shutting down.", None),
    ("k8s-node-lost", "Node gke-spot-7f which was running pod train-x7 is unresponsive", None),
    ("k8s-node-lost", "PodGC: node no longer exists", None),
    (
        "k8s-refused",
        "OutOfcpu: Node didn't have enough resource: cpu, requested: 4000, used: 61000, capacity: 64000",
        None,
    ),
    ("k8s-refused", "Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match selector", None),
    (
        "k8s-device",
        "UnexpectedAdmissionError: Allocate failed due to no healthy devices present; cannot allocate "
        "unhealthy devices "
        "nvidia.com/gpu, which is unexpected",
        None,
    ),
    (
        "k8s-pull-limit",
        'Failed to pull image "python:3.11": toomanyrequests: You have reached your pull rate limit.',
        None,
    ),
    ("k8s-pull", 'Failed to pull image "ghcr.io/acme/train:v7": dial tcp 140.82.121.33:443: i/o timeout', None),
    ("k8s-pull", "ErrImagePull: Get https://registry-1.docker.io/v2/: net/http: TLS handshake timeout", None),
    ("k8s-sandbox", "Failed to create pod sandbox: rpc error: plugin type calico failed (add): timed out", None),
    ("k8s-volume", 'Multi-Attach error for volume "pvc-81" Volume is already used by pod(s) load-2', None),
    ("k8s-volume", "Unable to attach or mount volumes: unmounted volumes=[data]: timed out waiting", None),
    ("k8s-quota", 'pods "train-x7" is forbidden: exceeded quota: team-a, requested: requests.cpu=4', None),
    ("k8s-quota", 'Operation cannot be fulfilled on resourcequotas "team-a": the object has been modified', None),
    ("k8s-api", "etcdserver: request timed out", None),
    ("k8s-api", "the server is currently unable to handle the request (get pods)", None),
    # Argo
    ("argo-shutdown", "workflow shutdown with strategy:  Terminate", 143),
    ("argo-deadline", "Step exceeded its deadline", None),
    ("argo-pod-deleted", "pod deleted", None),
    ("argo-pod-deleted", "Error: pod deleted during operation", None),
    ("argo-artifact-load", "artifact model failed to load: timeout (after 5m0s): failed to get file", None),
    ("argo-artifact-save", "Error (exit code 64): failed to put file: Put https://s3:9000/b/k: EOF", 64),
    ("argo-executor", "wait container failed: exit status 2", None),
    # Airflow
    ("airflow-sigterm", python("airflow.exceptions.AirflowException: Task received SIGTERM signal"), 1),
    ("airflow-heartbeat", "Detected zombie job: {'full_filepath': '/dags/a.py', 'msg': 'train'}", None),
    ("airflow-heartbeat", "Task did not emit heartbeat within time limit (300 seconds) and will be terminated.", None),
    (
        "airflow-queue",
        "Executor KubernetesExecutor(parallelism=32) reported that the task instance <TaskInstance: a.b> finished with "
        "state failed, but the task instance's state attribute is queued.",
        None,
    ),
    ("airflow-queue", "Task requeue attempts exceeded max; marking failed. task_instance=a.b", None),
    (
        "airflow-pod-start",
        python(
            "airflow.providers.cncf.kubernetes.utils.pod_manager.PodLaunchTimeoutException: Pod took too long to start."
        ),
        1,
    ),
    (
        "airflow-pod-lost",
        python("airflow.providers.cncf.kubernetes.exceptions.PodNotFoundException: no pod train-x7"),
        1,
    ),
    (
        "airflow-database",
        python(
            "sqlalchemy.exc.OperationalError: (psycopg2.OperationalError) server closed the connection unexpectedly"
        ),
        1,
    ),
    ("airflow-timeout", python("airflow.exceptions.AirflowTaskTimeout: Timeout, PID: 81"), 1),
    (
        "airflow-api",
        python("airflow.sdk.api.client.ServerResponseError: Server returned error: 503 Service Unavailable"),
        1,
    ),
    # stores
    (
        "s3-slow-down",
        python(
            "botocore.exceptions.ClientError: An error occurred (SlowDown) when calling the PutObject operation "
            "(reached max retries: 4): Please reduce your request rate."
        ),
        1,
    ),
    (
        "s3-internal",
        python(
            "botocore.exceptions.ClientError: An error occurred (InternalError) when calling the GetObject "
            "operation: We "
            "encountered an internal error. Please try again."
        ),
        1,
    ),
    (
        "s3-request-timeout",
        python(
            "botocore.exceptions.ClientError: An error occurred (RequestTimeout) when calling the "
            "UploadPart operation: "
            "Your socket connection to the server was not read from or written to within the timeout period."
        ),
        1,
    ),
    (
        "s3-clock",
        python(
            "botocore.exceptions.ClientError: An error occurred (RequestTimeTooSkewed) when calling the ListObjectsV2 "
            "operation: The difference between the request time and the current time is too large."
        ),
        1,
    ),
    (
        "s3-token",
        python(
            "botocore.exceptions.ClientError: An error occurred (ExpiredToken) when calling the GetObject "
            "operation: The "
            "provided token has expired."
        ),
        1,
    ),
    ("s3-way", python('botocore.exceptions.ReadTimeoutError: Read timeout on endpoint URL: "https://b.s3/k"'), 1),
    (
        "s3-way",
        python(
            "botocore.exceptions.ConnectionClosedError: Connection was closed before we received a valid response from "
            'endpoint URL: "https://b.s3/k".'
        ),
        1,
    ),
    ("s3-way", python("urllib3.exceptions.ProtocolError: ('Connection broken: IncompleteRead(10 bytes read)')"), 1),
    (
        "gcs-busy",
        python("google.api_core.exceptions.ServiceUnavailable: 503 GET https://storage.googleapis.com/storage/v1/b/x"),
        1,
    ),
    ("gcs-busy", python("gcsfs.retry.HttpError: Too Many Requests, 429"), 1),
    (
        "azure-busy",
        python("azure.core.exceptions.HttpResponseError: The server is busy.", "x") + "\nErrorCode:ServerBusy",
        1,
    ),
    ("oss-busy", python("oss2.exceptions.RequestError: {'status': -2, 'details': 'Connection aborted.'}"), 1),
    (
        "hdfs-not-ready",
        "org.apache.hadoop.ipc.StandbyException: Operation category READ is not supported in state standby",
        1,
    ),
    # GPUs
    ("gpu-hardware", python("RuntimeError: CUDA error: hardware stack error"), 1),
    ("gpu-driver-mismatch", "Failed to initialize NVML: Driver/library version mismatch", 1),
    ("gpu-off-the-bus", "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.", 1),
    ("gpu-ecc", python("RuntimeError: CUDA error: uncorrectable ECC error encountered"), 1),
    ("gpu-nvlink", python("RuntimeError: CUDA error: uncorrectable NVLink error detected during the execution"), 1),
    (
        "gpu-not-ready",
        python("RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 802: system not yet initialized"),
        1,
    ),
    (
        "gpu-unavailable",
        python("RuntimeError: CUDA error: CUDA-capable device(s) is/are busy or unavailable"),
        1,
    ),
    (
        "nccl-remote",
        python(
            "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1970, remote process "
            "exited or there "
            "was a network error, NCCL version 2.21.5"
        ),
        1,
    ),
    (
        "nccl-system",
        python(
            "torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:275, unhandled system error (run with "
            "NCCL_DEBUG=INFO for details), NCCL version 2.21.5"
        ),
        1,
    ),
    (
        "nccl-timeout",
        "exit code 134\n[rank1]:[E424 ProcessGroupNCCL.cpp:629] [Rank 1] Watchdog caught collective operation timeout: "
        "WorkNCCL(SeqNum=4, OpType=BROADCAST) ran for 1800010 milliseconds before timing out.",
        134,
    ),
    (
        "nccl-timeout",
        python(
            "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
            "[rank4]:[E321 ProcessGroupNCCL.cpp:607] [Rank 4] Watchdog caught collective operation timeout: "
            "WorkNCCL(…)",
        ),
        1,
    ),
    ("nccl-network", "gpu-3:81:99 [1] NCCL WARN NET/IB : Got completion from peer 10.0.0.4 with error 12, opcode 0", 1),
    ("elastic-rendezvous", python("torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError"), 1),
    (
        "elastic-store",
        python(
            "torch.distributed.DistNetworkError: The client socket has timed out after 600s while trying to connect"
        ),
        1,
    ),
    # machines
    ("machine-disk-full", python("OSError: [Errno 28] No space left on device: '/tmp/model.pt'"), 1),
    (
        "machine-shm",
        python(
            "RuntimeError: DataLoader worker (pid 812) is killed by signal: Bus error. It is possible that "
            "dataloader's workers are out of shared memory."
        ),
        1,
    ),
    ("machine-no-memory", python("OSError: [Errno 12] Cannot allocate memory"), 1),
    ("machine-disk-broken", python("OSError: [Errno 116] Stale file handle: '/data/train.bin'"), 1),
    ("machine-names", python("socket.gaierror: [Errno -3] Temporary failure in name resolution"), 1),
    ("machine-connection", python("ConnectionResetError: [Errno 104] Connection reset by peer"), 1),
    (
        "machine-connection",
        python("requests.exceptions.ConnectionError: ('Connection aborted.', RemoteDisconnected('Remote end closed'))"),
        1,
    ),
    ("machine-lost", "its warden ended without a record: killed, out of memory or disk space", None),
    ("machine-ended", "Error (exit code 143)", 143),
    ("machine-killed", "exit code 137", 137),
    ("machine-killed", "killed", -9),
)
"""By the row that it is."""

OWN: tuple[tuple[str, int | None], ...] = (
    *(
        (python(last), 1)
        for last in (
            "ValueError: could not convert string to float: 'n/a'",
            "ValueError: Connection reset by peer",
            "ValueError: the pod was OOMKilled in the test data",
            "KeyError: 'SlowDown'",
            "KeyError: 'pod deleted'",
            "AssertionError: expected 503, got 200",
            "AssertionError: NCCL error",
            "TypeError: unsupported operand type(s) for +: 'int' and 'str'",
            "AttributeError: 'NoneType' object has no attribute 'shape'",
            "IndexError: list index out of range",
            "ZeroDivisionError: division by zero",
            "FileNotFoundError: [Errno 2] No such file or directory: '/data/train.csv'",
            "PermissionError: [Errno 13] Permission denied: '/data/out'",
            "IsADirectoryError: [Errno 21] Is a directory: '/data'",
            "NotADirectoryError: [Errno 20] Not a directory: '/data/x'",
            "ModuleNotFoundError: No module named 'torch'",
            "ImportError: cannot import name 'Adam' from 'torch'",
            "NameError: name 'np' is not defined",
            "UnboundLocalError: cannot access local variable 'x'",
            "RecursionError: maximum recursion depth exceeded",
            "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte",
            "NotImplementedError: evicted rows are not supported",
            "OverflowError: int too large to convert to float",
            "StopIteration",
            "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
            "pandas.errors.ParserError: Error tokenizing data. C error: Expected 3 fields in line 4, saw 5",
            "pydantic.ValidationError: 1 validation error for Config",
            "numpy.linalg.LinAlgError: Singular matrix",
            "sqlalchemy.exc.ProgrammingError: (psycopg2.errors.UndefinedTable) relation does not exist",
            "sqlalchemy.exc.IntegrityError: duplicate key value violates unique constraint",
            "MemoryError",
            "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 64.0 GiB for an array",
            "RuntimeError: mat1 and mat2 shapes cannot be multiplied (64x512 and 256x10)",
            "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, "
            "cuda:0 and cpu!",
            "RuntimeError: CUDA error: device-side assert triggered",
            "RuntimeError: CUDA error: an illegal memory access was encountered",
            "RuntimeError: CUDA error: invalid device ordinal",
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
            "RuntimeError: Error(s) in loading state_dict for Net: Missing key(s)",
            "RuntimeError: The NVIDIA driver on your system is too old",
            "RuntimeError: CUDA error: no kernel image is available for execution on the device",
            "torch.distributed.DistBackendError: NCCL error: invalid usage, ncclInvalidUsage: Duplicate GPU detected",
            "botocore.exceptions.ClientError: An error occurred (AccessDenied) when calling the PutObject operation: "
            "Access Denied",
            "botocore.exceptions.ClientError: An error occurred (NoSuchKey) when calling the GetObject operation: The "
            "specified key does not exist.",
            "botocore.errorfactory.NoSuchBucket: An error occurred (NoSuchBucket) when calling the "
            "ListObjectsV2 operation",
            "botocore.exceptions.ClientError: An error occurred (404) when calling the HeadObject operation: Not Found",
            "botocore.exceptions.NoCredentialsError: Unable to locate credentials",
            "google.api_core.exceptions.NotFound: 404 GET https://storage.googleapis.com/storage/v1/b/x",
            "google.api_core.exceptions.Forbidden: 403 the caller does not have storage.objects.get access",
            "azure.core.exceptions.ResourceNotFoundError: The specified blob does not exist. ErrorCode:BlobNotFound",
            "requests.exceptions.HTTPError: 404 Client Error: Not Found for url: https://example.com/data",
            "requests.exceptions.InvalidURL: Failed to parse: http://",
            "ConnectionRefusedError: [Errno 111] Connection refused",
            "TimeoutError: the model didn't converge in 100 rounds",
            "airflow.exceptions.AirflowFailException: no rows today",
            "my.package.EvictedError: The node was not found",
            "couler: the step returned a Model",
            "SystemExit: 3",
        )
    ),
    ("exit code 1", 1),
    ("exit code 2\nusage: train.py [-h] --epochs EPOCHS\ntrain.py: error: the following arguments are required", 2),
    ("exit code 127\nsh: 1: trainer: not found", 127),
    ("exit code 126\nsh: 1: ./run.sh: Permission denied", 126),
    ("Error (exit code 1)", 1),
    ("exit code 139\nSegmentation fault (core dumped)", 139),
    ("exit code 1\ncouler: the output 'result' is 120000 bytes long, and a value can have 96000", 1),
    ("timed out after 5 seconds", None),
    ("failed to save outputs: cannot save parameter /tmp/out: no such file or directory", 64),
    ("exit code 1\nmake: *** [Makefile:3: test] Error 1", 1),
    ("exit code 1\nException in thread main java.lang.NullPointerException", 1),
    ("exit code 101\nthread 'main' panicked at src/main.rs:4:5:\nindex out of bounds", 101),
    ("exit code 1\nretrying after 503\nconnected\nloading\ntraining\nloss is nan\nValueError: loss is nan", 1),
    (python("ValueError: no rows", "WARNING: Connection reset by peer, trying again", "connected"), 1),
    (
        python("ValueError: gave up").replace(
            "exit code 1",
            'exit code 1\nTraceback (most recent call last):\n  File "x"\nConnectionResetError: '
            "[Errno 104] Connection reset by peer\n\nDuring handling of the above exception, another occurred:\n",
        ),
        1,
    ),
)
"""What people's own code and settings do wrong: none of it is the platform's."""
