"""`robogaze serve`: starts vLLM with the flags that RoboGaze's requests need."""

from __future__ import annotations

import json
import os
import shlex
import shutil

import click

_MODEL_LEN = 96 * 1024
"""More than the tokens of the largest default request and its answer (docs/models.md)."""

_FLAGS = (
    "--enable-prefix-caching",
    "--enable-prompt-tokens-details",
    # `send: video` states the time of every frame; without this flag vLLM refuses such requests.
    "--trust-request-mm-kwargs",
    # With free whitespace, greedy decoding under a grammar can repeat it forever.
    "--structured-outputs-config",
    json.dumps({"backend": "guidance", "disable_any_whitespace": True}),
)


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("model")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8000, show_default=True, help="Port to listen on.")
@click.option("--gpus", default=1, show_default=True, help="Number of GPUs (tensor parallel size).")
@click.option(
    "--max-model-len",
    default=_MODEL_LEN,
    show_default=True,
    help="Maximum number of tokens of a request and its answer together.",
)
@click.option("--print", "only_print", is_flag=True, help="Print the `vllm serve` command and do not run it.")
@click.argument("more", nargs=-1, type=click.UNPROCESSED)
def serve(
    model: str, host: str, port: int, gpus: int, max_model_len: int, only_print: bool, more: tuple[str, ...]
) -> int:
    """Serve MODEL with `vllm serve`, with prefix caching, token counts, and a grammar backend for JSON schemas.

    Further options are passed on to vLLM.
    """
    from robogaze.backends.config import MAX_PICTURES
    from robogaze.errors import RobogazeError

    command = ["vllm", "serve", model, "--host", host, "--port", str(port)]
    command += ["--tensor-parallel-size", str(gpus), "--max-model-len", str(max_model_len)]
    command += ["--limit-mm-per-prompt", json.dumps({"image": MAX_PICTURES, "video": 1}), *_FLAGS, *more]
    click.echo(shlex.join(command), err=not only_print)
    if only_print:
        return 0
    if shutil.which("vllm") is None:
        raise RobogazeError(
            "vllm is not installed; install it on the GPU machine in its own environment "
            "(uv tool install vllm, or pip install 'robogaze[vllm]'), or use any OpenAI-compatible server"
        )
    click.echo(
        f"when the server is ready, run: robogaze score CLIP --model openai:{model}@http://{host}:{port}/v1", err=True
    )
    return os.execvp("vllm", command)
