"""Metrics of matched reports.

tally.py              the counts of a clip and a system, as one row
scores.py             computes every metric from sums of rows
breakdown.py          scores by dimension and type, and the confusion of dimensions
errors.py             kinds of errors, and what each kind costs
controls.py           predictions made without looking at the clip
released.py           the input and the result of both released evaluators
released_robogaze.py  the evaluator released with RoboGaze
released_glide.py     the evaluator released with GLIDE
"""
