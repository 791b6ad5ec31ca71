"""What object stores and file systems of clusters say when they are busy, and what is said of the way there."""

from __future__ import annotations

from couler_py.passes.retry.pattern import Pattern

_S3 = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/ErrorBestPractices.html"
_CODES = "https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html"
_BOTO = "https://boto3.amazonaws.com/v1/documentation/api/latest/guide/retries.html"
_GCS = "https://cloud.google.com/storage/docs/retry-strategy"
_AZURE = "https://learn.microsoft.com/en-us/rest/api/storageservices/common-rest-api-error-codes"
_HDFS = "https://hadoop.apache.org/docs/stable/hadoop-project-dist/hadoop-hdfs/HdfsUserGuide.html#Safemode"

ROWS = (
    Pattern(
        "s3-slow-down",
        "S3",
        "the store asks to be called less often",
        "later",
        "let fewer steps read and write at once (`parallel=`), or spread the keys over more prefixes",
        _S3,
        r"\((?:SlowDown|503|Throttling\w*|RequestLimitExceeded|TooManyRequests\w*)\) when calling|\bSlowDown\b|"
        r"[Pp]lease reduce your request rate",
    ),
    Pattern(
        "s3-internal",
        "S3",
        "the store met an error of its own",
        "again",
        "nothing, where it goes through",
        _S3,
        r"\((?:InternalError|ServiceUnavailable|GatewayTimeout|500|502|504)\) when calling|"
        r"We encountered an internal error\. Please try again",
    ),
    Pattern(
        "s3-request-timeout",
        "S3",
        "the connection to the store was too slow",
        "again",
        "nothing, where it goes through",
        _CODES,
        r"\(RequestTimeout\) when calling|Your socket connection to the server was not read from or written to within",
    ),
    Pattern(
        "s3-clock",
        "S3",
        "the clock of its node is wrong",
        "later",
        "the node's clock has to be set by whoever keeps it",
        _CODES,
        r"\bRequestTimeTooSkewed\b",
    ),
    Pattern(
        "s3-token",
        "S3",
        "the credentials that it was lent ran out while it worked",
        "again",
        "a new attempt gets new ones; where steps take longer, let credentials last longer",
        _CODES,
        r"\((?:ExpiredToken(?:Exception)?|RequestExpired|TokenRefreshRequired)\) when calling",
    ),
    Pattern(
        "s3-way",
        "S3",
        "the way to the store was cut",
        "again",
        "where it stays so, look whether the node reaches the store",
        _BOTO,
        r"\b(?:botocore\.exceptions|urllib3\.exceptions|http\.client)\.(?:ReadTimeoutError|ConnectTimeoutError|"
        r"ConnectionClosedError|IncompleteRead\w*|ResponseStreamingError|ProtocolError)\b|"
        r"Connection was closed before we received a valid response from endpoint",
    ),
    Pattern(
        "gcs-busy",
        "Google Cloud Storage",
        "the store is busy, or met an error of its own",
        "later",
        "nothing, where it goes through; else let fewer steps read and write at once",
        _GCS,
        r"google\.api_core\.exceptions\.(?:TooManyRequests|ServiceUnavailable|InternalServerError|BadGateway|"
        r"GatewayTimeout)\b|\b(?:rateLimitExceeded|userRateLimitExceeded|backendError)\b|"
        r"gcsfs\.retry\.HttpError: .*\b(?:429|50[0-4])\b",
    ),
    Pattern(
        "azure-busy",
        "Azure Blob Storage",
        "the store is busy, or met an error of its own",
        "later",
        "nothing, where it goes through; else let fewer steps read and write at once",
        _AZURE,
        r"ErrorCode: ?(?:ServerBusy|OperationTimedOut|InternalError)\b|"
        r"azure\.core\.exceptions\.ServiceResponse\w*Error\b",
    ),
    Pattern(
        "oss-busy",
        "Alibaba Cloud OSS",
        "the store is busy, or the way to it was cut",
        "later",
        "nothing, where it goes through",
        "https://www.alibabacloud.com/help/en/oss/user-guide/http-5xx-status-code",
        r"oss2\.exceptions\.(?:ServerError|RequestError)\W.*(?:'status': -2|'status': 50[0-4]|DownloadTrafficRateLimit"
        r"|QpsLimitExceeded)",
    ),
    Pattern(
        "hdfs-not-ready",
        "HDFS",
        "the name node isn't the active one, or still starts",
        "later",
        "nothing, where it goes through",
        _HDFS,
        r"\bStandbyException\b|is not supported in state standby|\bSafeModeException\b|Name node is in safe mode",
    ),
)
