"""Results as tables, and the output forms of a table: terminal, CSV, Markdown, LaTeX.

result_table.py                               a table and its cells
forms.py, latex.py                            the forms
clips.py, evaluation.py, comparison.py, ...   the tables of each result
"""

from robogaze.reporting.tables.forms import FORMS, file_name, table_files, to_csv, to_markdown, to_terminal
from robogaze.reporting.tables.latex import to_latex
from robogaze.reporting.tables.result_table import Cell, ResultTable, Row, TablePart, cell_text

__all__ = [
    "FORMS",
    "Cell",
    "ResultTable",
    "Row",
    "TablePart",
    "cell_text",
    "file_name",
    "table_files",
    "to_csv",
    "to_latex",
    "to_markdown",
    "to_terminal",
]
