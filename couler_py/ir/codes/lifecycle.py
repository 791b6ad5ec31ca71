"""Diagnostic codes of the area: lifecycle."""

from __future__ import annotations

from couler_py.ir.diagnostics import Code

CODES: tuple[Code, ...] = (
    Code(
        "CLR710",
        "Nobody answers, or the answer broke off",
        "The address is right in form, but nothing listens there, or the connection ended before the answer did. "
        "Reading is tried again a few times, with longer and longer pauses; so is every change that comes to the "
        "same when it is made twice. `kubectl cluster-info` shows whether the cluster is there; the Argo server "
        "is often only reachable through `kubectl -n argo port-forward svc/argo-server 2746:2746`.",
    ),
    Code(
        "CLR711",
        "The token isn't accepted",
        "The server doesn't know who calls (401): no token, a wrong one, or one that has run out. The token of "
        "the Argo server comes from --token-file, else ARGO_TOKEN, else (where ARGO_SERVER chooses the server) "
        "from the kubeconfig. `kubectl create token ACCOUNT` makes one. Airflow's comes from --token-file or "
        "COULER_AIRFLOW_TOKEN, or is fetched for COULER_AIRFLOW_USERNAME and COULER_AIRFLOW_PASSWORD. The text "
        "`Bearer ` before a token is optional.",
        example="couler runs --server https://argo.example.com",
        instead="kubectl create token ci > token\ncouler runs --server https://argo.example.com --token-file token",
    ),
    Code(
        "CLR712",
        "The account may not do that",
        "The server knows who calls, and refuses (403). The message names the verb and the kind, and the rule "
        "that a Role has to have. `couler rbac argo FILE --submitter` prints all rules that submitting and "
        "steering need, and `couler rbac argo FILE` those that the workflow's own pods need.",
    ),
    Code(
        "CLR713",
        "There is no such object on the cluster",
        "Not found (404). Where the message says that the server could not find the requested resource, the API "
        "itself is missing: Argo isn't installed on that cluster, or the URL is another server's.",
    ),
    Code(
        "CLR714",
        "There is one of that name already, or it was changed meanwhile",
        "A conflict (409). A run with a fixed name can be started once: give the document `generateName` instead "
        "of `name`. `create` makes templates anew, `apply` replaces them. A change that somebody else's came "
        "before is made again a few times by itself.",
        example="metadata:\n  name: nightly",
        instead="metadata:\n  generateName: nightly-",
    ),
    Code(
        "CLR715",
        "The server has too many requests",
        "It said so (429) again and again, although the pauses that it asked for were kept, up to a minute each. "
        "Try later, or list and watch less at once.",
    ),
    Code(
        "CLR716",
        "The server has a problem of its own",
        "An answer of 500 and above. Reading is tried again a few times by itself. What remains is for whoever "
        "runs the cluster: the logs of the API server, of the Argo server, or of the proxy in between say more.",
    ),
    Code(
        "CLR717",
        "The answer isn't one of this API",
        "What came isn't JSON, or is a redirection: a login page, a proxy's error page, another program on that "
        "port, or http where it should be https. The message shows how it begins.",
        example="couler runs --server https://argo.example.com/login",
        instead="couler runs --server https://argo.example.com",
    ),
    Code(
        "CLR718",
        "The cluster refuses the document",
        "The API server or the Argo server looked at it and says what is wrong (400, 422). `couler lint FILE` "
        "finds most of that here, with the line.",
    ),
    Code(
        "CLR719",
        "It isn't known whether it was done",
        "The connection broke after a change was sent and before its answer came, and sending it again could do "
        "it twice (a retry, a resubmission, letting everything go on that waits). Look how the run stands, then "
        "do it again if it wasn't done. Starting a run isn't among these: it has its name and a mark before it is"
        " sent, so it is sent again, and started once.",
        example="couler resubmit argo:team-a/flow-x7d2p   # cut off, sent again in a script",
        instead="couler runs --engine argo\ncouler resubmit argo:team-a/flow-x7d2p",
    ),
    Code(
        "CLR722",
        "What a step does with the Kubernetes API can't be known from the file",
        "The kind of a manifest is put together while the workflow runs (`kind: {{inputs.parameters.kind}}`, a "
        "manifest from an artifact, a whole manifest in a parameter), or a template is in a file that wasn't "
        "given. `couler rbac` prints the rules for all else; those for that step have to be added by hand.",
        example="manifest: '{{inputs.parameters.manifest}}'",
        instead="manifest: |\n  apiVersion: batch/v1\n  kind: Job\n  ...",
    ),
    Code(
        "CLR724",
        "Airflow can't import the DAG file",
        "The file is in the folder of DAGs, and reading it raised: the message has Airflow's traceback. What a file "
        "imports must be installed where Airflow's dag-processor runs; files that couler-py writes need Airflow 3.1 or "
        "later and the providers that their first lines import. The version before lies beside, as NAME.py.old.",
    ),
    Code(
        "CLR725",
        "Airflow hasn't read the DAG file yet",
        "It is in the folder, and the server doesn't show it. Airflow looks for new files every `refresh_interval` "
        "seconds of the section `dag_processor`, 300 as it comes. Beyond that: the folder isn't the one that this "
        "Airflow reads (`airflow config get-value core dags_folder`), the dag-processor doesn't run, or a bundle "
        "brings DAGs from elsewhere, as from git.",
        example="couler deploy nightly.py --to airflow --dags-folder ./dags",
        instead="couler deploy nightly.py --to airflow --dags-folder /opt/airflow/dags",
    ),
    Code(
        "CLR723",
        "The server's certificate isn't trusted",
        "It is signed by nobody whom this machine trusts, or made for another name. --certificate-authority FILE "
        "names whom to trust. --insecure-skip-tls-verify (ARGO_INSECURE_SKIP_VERIFY=true) trusts everybody, also "
        "one who listens in between and reads the token: for tests alone.",
        example="couler runs --server https://argo.internal --insecure-skip-tls-verify",
        instead="couler runs --server https://argo.internal --certificate-authority ca.pem",
    ),
)
