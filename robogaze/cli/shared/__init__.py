"""The shared parts of the commands."""
