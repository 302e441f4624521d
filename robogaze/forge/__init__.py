"""Clips with known glitches, planted or simulated, and the sensitivity of an evaluator to them."""
