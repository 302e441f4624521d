"""Make a tiny vision-language model from random weights: Qwen3-VL's architecture with 0.7 million parameters.

It sees pictures, speaks its chat format, can be served by vLLM and loaded by transformers, and knows nothing. For tests
of everything but judgement, on a machine without GPU or model hub.

    python tests/servers/build_tiny_vlm.py FOLDER
"""

import argparse
from pathlib import Path

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    GenerationConfig,
    PreTrainedTokenizerFast,
    Qwen2VLImageProcessor,
    Qwen3VLConfig,
    Qwen3VLForConditionalGeneration,
    Qwen3VLProcessor,
    Qwen3VLVideoProcessor,
)

END, PAD = "<|im_end|>", "<|endoftext|>"
VISION = {
    "vision_start_token_id": "<|vision_start|>",
    "vision_end_token_id": "<|vision_end|>",
    "image_token_id": "<|image_pad|>",
    "video_token_id": "<|video_pad|>",
}
SPECIAL = [PAD, "<|im_start|>", END, *VISION.values()]
TEXT = "The hand moves the cup. {} [] true false null 0123456789 abcdefghijklmnopqrstuvwxyz"
PATCH_PX = 16

TEMPLATE = """\
{%- for message in messages -%}
<|im_start|>{{ message.role }}
{% if message.content is string %}{{ message.content }}{% else %}{% for part in message.content -%}
{%- if part.type in ('image', 'image_url') %}<|vision_start|><|image_pad|><|vision_end|>
{%- elif part.type in ('video', 'video_url') %}<|vision_start|><|video_pad|><|vision_end|>
{%- else %}{{ part.text }}{% endif %}{% endfor %}{% endif %}<|im_end|>
{% endfor -%}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif -%}
"""


def tokenizer() -> PreTrainedTokenizerFast:
    """Byte-level, so that any text can be written."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(
        [TEXT], trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, show_progress=False)
    )
    made.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL])
    fast = PreTrainedTokenizerFast(tokenizer_object=made, eos_token=END, pad_token=PAD)
    fast.chat_template = TEMPLATE
    return fast


def config(words: PreTrainedTokenizerFast) -> Qwen3VLConfig:
    """Two layers each for text and vision."""
    size = -(-len(words) // 64) * 64
    text = {
        "vocab_size": size,
        "hidden_size": 128,
        "intermediate_size": 256,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 32,
        "max_position_embeddings": 32768,
        "tie_word_embeddings": True,
        "eos_token_id": words.convert_tokens_to_ids(END),
        "pad_token_id": words.convert_tokens_to_ids(PAD),
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": 5e6,
            "mrope_section": [8, 4, 4],
            "mrope_interleaved": True,
        },
    }
    vision = {
        "depth": 2,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_heads": 2,
        "out_hidden_size": 128,
        "patch_size": PATCH_PX,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
        "num_position_embeddings": 256,
        "deepstack_visual_indexes": [0],
    }
    ids = {name: words.convert_tokens_to_ids(token) for name, token in VISION.items()}
    return Qwen3VLConfig(text_config=text, vision_config=vision, tie_word_embeddings=True, **ids)


def processor(words: PreTrainedTokenizerFast) -> Qwen3VLProcessor:
    """At most 16 tokens a picture, so that many fit."""
    cell = (2 * PATCH_PX) ** 2
    look = {
        "patch_size": PATCH_PX,
        "merge_size": 2,
        "temporal_patch_size": 2,
        "image_mean": [0.5] * 3,
        "image_std": [0.5] * 3,
    }
    images = Qwen2VLImageProcessor(size={"shortest_edge": 4 * cell, "longest_edge": 16 * cell}, **look)
    videos = Qwen3VLVideoProcessor(size={"shortest_edge": 4 * cell, "longest_edge": 16 * 64 * cell}, **look)
    return Qwen3VLProcessor(image_processor=images, tokenizer=words, video_processor=videos, chat_template=TEMPLATE)


def main() -> None:
    """Write the model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    torch.manual_seed(0)
    words = tokenizer()
    settings = config(words)
    model = Qwen3VLForConditionalGeneration(settings).to(torch.float32).eval()
    ends = {"eos_token_id": settings.text_config.eos_token_id, "pad_token_id": settings.text_config.pad_token_id}
    model.generation_config = GenerationConfig(**ends)
    model.save_pretrained(folder)
    processor(words).save_pretrained(folder)


if __name__ == "__main__":
    main()
