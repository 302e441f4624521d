"""Statistics: intervals, comparisons and agreement. Nothing here depends on clips or reports.

resample.py              bootstrap over clips, kept as sums
interval.py              bootstrap intervals
jackknife.py             Student's intervals
proportions.py           shares, and paired differences of shares
paired.py                differences and ranks of systems on the same clips
multiple_comparisons.py  adjusted p-values
prediction_powered.py    means corrected with a few labels
correlation.py           correlations and mean differences
agreement.py             kappas and Krippendorff's alpha
unitizing.py             Krippendorff's alpha for stretches of time
"""
