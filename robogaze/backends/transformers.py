"""Runs a model in this process with transformers. Decoding is constrained to the answer's JSON schema.

llguidance masks the tokens that cannot continue a valid answer. Requests are answered one at a time. For more
throughput, serve the model with vLLM and use the openai backend.
"""

import io
import json
import time
from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from threading import Lock
from typing import Any

from robogaze.backends.base import Completion, Request
from robogaze.backends.config import ModelConfig
from robogaze.core.pictures import FrameImage
from robogaze.errors import MissingExtra, RequestRefused
from robogaze.threads import in_thread

_PACKAGES = ("torch", "transformers", "llguidance", "PIL")


def open_backend(config: ModelConfig, environ: Mapping[str, str]) -> "TransformersBackend":
    """The backend of a model. Raises MissingExtra when a package is not installed."""
    return TransformersBackend(config.name)


class TransformersBackend:
    """A vision-language model from a folder or a hub id; loaded on first use."""

    def __init__(self, name: str) -> None:
        """Raises MissingExtra when a package is not installed."""
        for package in _PACKAGES:
            try:
                import_module(package)
            except ImportError as error:
                raise MissingExtra(package, "transformers") from error
        self.name = name
        self._lock = Lock()

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"kind": "transformers", "name": self.name}

    async def ready(self) -> None:
        """Load the model. Raises RequestRefused when the model cannot be loaded."""
        await in_thread(self._load)

    async def complete(self, request: Request) -> Completion:
        """Answer a request; see `robogaze.backends.base.Backend`."""
        return await in_thread(self._generate, request)

    async def close(self) -> None:
        """Release the model's memory."""
        self.__dict__.pop("_loaded", None)

    def _load(self) -> None:
        with self._lock:
            _ = self._loaded

    @cached_property
    def _loaded(self) -> tuple[Any, Any, Any]:
        """Processor, model, and the tokenizer in the form that llguidance needs."""
        import llguidance.hf
        import torch
        from transformers import AutoModelForImageTextToText, AutoProcessor

        device = "cuda" if torch.cuda.is_available() else "cpu"
        try:
            processor = AutoProcessor.from_pretrained(self.name)
            model = AutoModelForImageTextToText.from_pretrained(self.name, dtype="auto").to(device).eval()
        except (OSError, ValueError) as error:
            reason = str(error).strip().splitlines()[0]
            raise RequestRefused(
                f"transformers cannot load {self.name} ({reason}); use a folder or a hub id of a model"
            ) from error
        vocabulary = model.get_output_embeddings().weight.shape[0]
        return processor, model, llguidance.hf.from_tokenizer(processor.tokenizer, n_vocab=vocabulary)

    def _generate(self, request: Request) -> Completion:
        import torch

        with self._lock, torch.inference_mode():
            started = time.perf_counter()
            processor, model, grammar = self._loaded
            inputs = processor.apply_chat_template(
                _messages(request), add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt"
            ).to(model.device)
            prompt_tokens = inputs["input_ids"].shape[1]
            if request.decoding.seed is not None:
                torch.manual_seed(request.decoding.seed + request.sample)
            output = model.generate(**inputs, **_settings(request), logits_processor=_constraint(request, grammar))
            answer = output[0, prompt_tokens:]
            text = processor.decode(answer, skip_special_tokens=True)
            cut_off = len(answer) >= request.decoding.max_tokens
        return Completion(
            text=text,
            model=self.name,
            finish_reason="length" if cut_off else "stop",
            prompt_tokens=int(prompt_tokens),
            completion_tokens=len(answer),
            latency_s=round(time.perf_counter() - started, 3),
        )


def _messages(request: Request) -> list[dict[str, Any]]:
    from PIL import Image

    content: list[dict[str, Any]] = []
    for part in request.parts:
        if isinstance(part, FrameImage):
            content.append({"type": "text", "text": part.label})
            content.append({"type": "image", "image": Image.open(io.BytesIO(part.jpeg)).convert("RGB")})
        else:
            content.append({"type": "text", "text": part})
    system = [{"type": "text", "text": request.system}]
    return [{"role": "system", "content": system}, {"role": "user", "content": content}]


def _settings(request: Request) -> dict[str, Any]:
    decoding = request.decoding
    settings: dict[str, Any] = {"max_new_tokens": decoding.max_tokens, "do_sample": bool(decoding.temperature)}
    if decoding.temperature:
        settings["temperature"] = decoding.temperature
        settings["top_k"] = 0
        if decoding.top_p is not None:
            settings["top_p"] = decoding.top_p
    return settings


def _constraint(request: Request, grammar: Any) -> Any:
    """A logits processor that allows only tokens that continue an answer of the request's schema."""
    from transformers import LogitsProcessorList

    if request.schema is None:
        return LogitsProcessorList()
    return LogitsProcessorList([_GrammarMask(json.dumps(request.schema), grammar)])


class _GrammarMask:
    """Masks the tokens that cannot continue a valid answer."""

    def __init__(self, schema: str, tokenizer: Any) -> None:
        from llguidance import LLMatcher

        compiled = LLMatcher.grammar_from_json_schema(schema, defaults={"whitespace_flexible": False})
        self._matcher = LLMatcher(tokenizer, compiled)
        self._mask: Any = None

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        import llguidance.numpy as masks
        import torch

        if self._mask is None:
            self._mask = masks.allocate_token_bitmask(1, scores.shape[-1])
        elif not self._matcher.is_stopped():
            self._matcher.consume_token(int(input_ids[0, -1]))
        masks.fill_next_token_bitmask(self._matcher, self._mask, 0)
        allowed = scores.float().cpu().numpy().copy()
        masks.apply_token_bitmask_inplace(allowed, self._mask)
        return torch.from_numpy(allowed).to(scores.device)
