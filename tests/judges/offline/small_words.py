"""A word list that fits on a page, with features that can be counted by hand."""

from pathlib import Path

SMALL = """\
schema_version: 1
irregular: {fall: "fell, fallen", hold: held}
idle: the, a, it, is, of, to, be
denials: not, never, fails to, no
wanted: should, told to
breaks: but, while, after
things: thing
events: fault
always: thing
concepts:
  thing:
    cup: cup, mug
    box: box, carton
    ball: ball
    item: item, object
  colour:
    red: red, scarlet
    blue: blue
    green: green
  fault:
    fall: fall, drop, come down
    rise: rise, go up
    float: float, hang in the air
    open: open
    shut: shut, close
opposites: fall / rise
exclusive: colour
related: fall / float
complements: open / shut
broader:
  item: cup, box
"""


def write_words(folder: Path, text: str = SMALL) -> Path:
    """The list as a file."""
    path = folder / "words.yaml"
    path.write_text(text)
    return path
