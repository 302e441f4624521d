"""HTML pages that open from disk.

document.py                      makes an HTML document from a template, styles, scripts and data
bundles.py, videos.py            the files next to a page: its data and its videos
run.py, run_checks.py            the page of a run
results.py, run_folders.py       the parts that all pages of results have in common
comparison*.py, evaluation.py, agreement.py, ranking.py, sensitivity.py
                                 the pages of results
plays.py                         the page of an agent's plays in interactive environments
notebook.py                      shows one report in a notebook
templates/                       Jinja templates, CSS and JavaScript
"""
