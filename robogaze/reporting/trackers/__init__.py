"""Numbers of a run for those who keep them in a tracker of experiments, over many clips and never of one.

numbers.py   what is sent: numbers by name
base.py      what a tracker is, and the one way numbers go to it
registry.py  trackers by name
one module a tracker; a new one is written like these and named in registry.py
"""

from robogaze.reporting.trackers.base import Tracker, send
from robogaze.reporting.trackers.numbers import run_numbers, standing_numbers
from robogaze.reporting.trackers.registry import TRACKERS, open_tracker

__all__ = ["TRACKERS", "Tracker", "open_tracker", "run_numbers", "send", "standing_numbers"]
