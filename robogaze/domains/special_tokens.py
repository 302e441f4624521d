"""Special tokens of chat templates in text that is data.

A server turns text such as `<|im_end|>` or `[INST]` in a prompt into the token that ends a turn or represents an image.
Text from instructions, files and models must not become one of these tokens: the first character of each special token
in it is written as its JSON escape (`\\u003c|im_end|>`). A reader can still see the original text, and a JSON parser
returns it unchanged.
"""

import re

_ANGLED = (
    # Turns, texts and their ends
    "s",
    "bos",
    "eos",
    "pad",
    "unk",
    "mask",
    "sep",
    "cls",
    "start_of",
    "end_of",
    "begin_of",
    "endoftext",
    "SYS",
    "system",
    "user",
    "assistant",
    "human",
    "bot",
    "turn",
    "tool",
    # Reasoning and tools
    "think",
    "thinking",
    "thought",
    "reasoning",
    "scratchpad",
    "channel",
    "seed",
    "tools",
    "tool_call",
    "tool_calls",
    "tool_response",
    "tool_result",
    "function",
    "function_call",
    "function_calls",
    # Images, videos and places in them
    "image",
    "img",
    "video",
    "audio",
    "frame",
    "media",
    "picture",
    "vision",
    "box",
    "ref",
    "quad",
    "point",
    "points",
    "patch",
    "slice",
    "loc",
    "seg",
    "boi",
    "eoi",
    "soi",
    "fake_token_around_image",
    "global-img",
    "row",
    # Unused tokens in vocabularies
    "unused",
    "extra_id",
    "reserved",
    "fim_prefix",
    "fim_middle",
    "fim_suffix",
    "0x",
)
"""What follows `<` or `</` in the special tokens of open models, up to a digit, a word character or the end."""

_SQUARED = (
    "INST",
    "SYSTEM_PROMPT",
    "AVAILABLE_TOOLS",
    "TOOL_RESULTS",
    "TOOL_CALLS",
    "TOOL_CONTENT",
    "TOOL_REFERENCE",
    "CALL_ID",
    "ARGS",
    "IMG",
    "IMG_BREAK",
    "IMG_END",
    "AUDIO",
    "BEGIN_AUDIO",
    "THINK",
    "PREFIX",
    "MIDDLE",
    "SUFFIX",
    "CLS",
    "SEP",
    "MASK",
    "PAD",
    "UNK",
    "BOS",
    "EOS",
    "gMASK",
    "sMASK",
)

_TOKENS = re.compile(
    "[<\N{FULLWIDTH LESS-THAN SIGN}](?=[|\N{FULLWIDTH VERTICAL LINE}\N{LIGHT VERTICAL BAR}])"
    rf"|<(?=/?(?:{'|'.join(map(re.escape, _ANGLED))})(?:[\d_:-][\w:-]*)?\s?/?>)"
    rf"|<(?=<\s?/?SYS\b)|\[(?=/?(?:{'|'.join(map(re.escape, _SQUARED))})\])"
    "|\N{WHITE LEFT-POINTING TRIANGLE}(?=/?\\w+\N{WHITE RIGHT-POINTING TRIANGLE})",
    re.IGNORECASE,
)


def broken_up(text: str) -> str:
    """The text with its special tokens broken up; applying it again changes nothing."""
    return _TOKENS.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
