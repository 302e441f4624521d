"""The demo clips: a simulated tabletop, scripted motion, planted faults, and what is true about them.

`stage` builds a scene, `motion` moves the arm and records the physics once, `picture` plays a recording back as
frames, `clips` tells each clip's story, `truth` writes down what a viewer should find.
"""
