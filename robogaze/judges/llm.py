"""A language model as the judge: it reads both descriptions, and no picture, and rates them on the axes of a rubric.

It is asked at temperature 0. An answer that breaks its contract is sent back with what is wrong, up to three tries in
all; what then has no valid answer is unscored, with the reason. The same two texts are asked about once. The answer
begins with the reasons, so that the ratings follow from them (RoboGaze's own prompt has them last).
"""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError, create_model

from robogaze.backends import AnswerStore, Completion, Model, Models, ModelsConfig, Request
from robogaze.domains import Prompts
from robogaze.domains.contract import Answer, Text, json_schema
from robogaze.domains.shelves import shelf
from robogaze.errors import BackendError, RunStopped
from robogaze.judges.base import EMPTY, Judgement, Pair, unscored
from robogaze.judges.rubric import Rubric

TRIES = 3
STAGE, ROLE = "judge", "judge"
_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)
_SHOWN = 2000
"""How many characters of a broken answer are sent back."""
