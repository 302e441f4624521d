"""The annotator: people mark events in clips in a browser, and review the events of a model.

drafts                what an annotator has saved for a clip, and what is wrong with it
annotation_store      every revision, in one SQLite file
clip_media            exact frame times, videos that a browser plays, thumbnails
clip_queue            which clips an annotator sees, and how much is left
starts                annotations to start from: earlier ones, or a model's report
calibration_feedback  feedback against reference annotations
review                a sample of a run to review, and the precision that the verdicts give
annotation_reports    submitted annotations as reports
store_summary         what a store holds
opening               opens clips for annotation
adjudicator           what annotators disagree on, and how it is settled
annotator             all of it for some clips
access                who may ask the server
app                   the routes
"""
