"""Interactive environments, and agents that act in them and report what is wrong (GBQA)."""
