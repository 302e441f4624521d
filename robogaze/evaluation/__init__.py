"""Predictions scored against references."""
