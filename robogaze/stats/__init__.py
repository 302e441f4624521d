"""Statistics: intervals, comparisons and agreement. Nothing here depends on clips or reports.

resample.py              bootstrap resamples of clips, and the sums over each resample
interval.py              bootstrap intervals
jackknife.py             Student's intervals
proportions.py           shares (proportions), and paired differences of shares
paired.py                differences and ranks of systems on the same clips
multiple_comparisons.py  adjusted p-values
prediction_powered.py    means of a judge's predictions, corrected with a few labels
correlation.py           correlations and mean differences
agreement.py             kappas and Krippendorff's alpha
unitizing.py             Krippendorff's alpha for stretches of time
"""
