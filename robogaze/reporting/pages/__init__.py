"""HTML pages that open from disk.

document.py                      an HTML document from a template, styles, scripts and data
bundles.py, videos.py            the files of a page
run.py, run_checks.py            the page of a run
results.py, run_folders.py       what the pages of results share
comparison*.py, evaluation.py, agreement.py, ranking.py, sensitivity.py
                                 the pages of results
plays.py                         the page of the plays of an interactive environment
notebook.py                      one report in a notebook
templates/                       Jinja templates, CSS and JavaScript
"""
