"""Metrics of matched reports.

tally.py              a clip and a system as one row of counts
scores.py             every metric, from sums of rows
breakdown.py          scores by dimension and type, and the confusion of dimensions
errors.py             kinds of errors and what each costs
controls.py           predictions made without looking at the clip
released.py           what both released evaluators take and return
released_robogaze.py  the evaluator released with RoboGaze
released_glide.py     the evaluator released with GLIDE
"""
