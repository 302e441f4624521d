"""The annotator: people mark events in clips in a browser, and review the events of a model.

drafts                the unfinished annotation of a clip, and the problems in it
annotation_store      all revisions of all annotations, in one SQLite file
clip_media            exact frame times, videos that a browser plays, thumbnails
clip_queue            which clips an annotator sees, and how many are left
starts                annotations that annotators start from: earlier ones, or a model's report
calibration_feedback  feedback that compares an annotation with the reference
review                the sample of a run to review, and the precision estimated from the verdicts
annotation_reports    submitted annotations as reports
store_summary         a summary of the annotations in a store
opening               opens clips for annotation
adjudicator           the disagreements of annotators, and how people settle them
annotator             combines these modules for the clips to annotate
access                who may use the server
app                   the routes of the server
"""
