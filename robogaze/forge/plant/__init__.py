"""Known glitches planted into the clips a user has.

recipe.py      which glitches a domain has planted, and what they are called there: forge.yaml
frame_array.py a clip with its frames at hand, in any order
scene.py       what can be asked of a clip before something is planted; standing.py: which things stand still in it
edit.py        what a planter answers, and the names of the planters
pictures.py    planters that change whole pictures
cover.py       the planter that covers what moves
order.py       planters that change which frames are shown
things.py      planters that change one thing in the picture
words.py       the planter that changes the instruction
truth.py       what is true of the clip that comes of it
folder.py      the data set they become, resumable
"""
