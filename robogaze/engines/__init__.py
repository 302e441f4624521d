"""Engines: where the clips of a run are diagnosed.

An engine is given clips and hands back what became of each, in any order; it knows nothing of the run folder.
"""
