"""The demo clips of games: a platformer and a yard in three dimensions, drawn by us, with planted glitches.

`platformer` and `yard` move and draw, `clips` tells each clip's story, `film` writes it with what is true about it.
"""
