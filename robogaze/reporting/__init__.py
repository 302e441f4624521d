"""Shows results to people and other programs, as tables, HTML pages, JSON, and metrics in experiment trackers.

summary.py     the counts of a run, and sentences that describe them
tables/        results as tables: terminal, CSV, Markdown, LaTeX
serialize.py   results as JSON
figures.py     figures as SVG
pages/         HTML pages
trackers/      experiment trackers
"""
