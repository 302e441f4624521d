"""Results for people and other programs: tables, pages that open from disk, JSON, numbers for trackers.

summary.py     counts of a run and sentences about them
tables/        results as tables; terminal, CSV, Markdown, LaTeX
serialize.py   results as JSON
figures.py     SVG
pages/         HTML pages
trackers/      experiment trackers
"""
