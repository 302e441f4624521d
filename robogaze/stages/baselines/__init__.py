"""The baselines of the papers: one request about the whole clip, or a vote over several requests."""
