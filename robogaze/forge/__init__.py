"""The forge: glitches whose truth is known exactly, to find out what an evaluator sees."""
