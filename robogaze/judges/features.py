"""What the offline judge compares in two descriptions, as numbers.

    words, spelling       cosine of weighted words and of weighted character n-grams, in [0, 1]
    concepts              the same of concepts, and of words that belong to none
    nearly_same           how far `words` is above NEAR, in units of what is left to 1
    KIND.agree            of each kind of concept: the share of both sides' mentions that the other side has, too
    KIND.apart            how many mentions the other side lacks, at most MOST_APART a side
    KIND.against          1 where a fact of one side is denied by the other, or excludes what the other says
    event.agree, .shared  the same over faults and actions together; 1 where any of them is shared
    role                  the share of the reference's faults that befall the same thing in the prediction
    longer                how much longer the prediction is than the reference, as a logarithm
    type.same, .other     1 where both labels are given and are the same, or are not

A related or wider concept counts half. Things and phases count as mentioned whether they are a fact or not. All pairs
are computed at once, as products of sparse matrices with one row a description.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import TfidfTransformer

from robogaze.judges.base import Pair
from robogaze.judges.readings import Reading, read
from robogaze.judges.words import Words

Floats = NDArray[np.float64]

NEAR, MOST_APART, HALF = 0.9, 3.0, 0.5
_EVENT = ("fault", "action")
"""The kinds of concept that say what happens."""
_ALWAYS = ("entity", "phase")
"""The kinds that count as mentioned also where they are denied."""
_THING = "entity"
_HASHES = 2**18
