"""How far annotators agree, and how an annotator scores in the metrics that are used for systems.

Everything is computed from reports.

agree.py                robogaze.agree: read, match, measure
annotator_agreement.py  the whole result
config.py               options
annotation_set.py       who annotated which clips
event_matching.py       which events of several annotators are the same event
coefficients.py         kappas, alphas and means
slices.py               the ratings of some clips, or of one dimension
ceiling.py              each annotator scored against the others
adjudication.py         settled events, and the queue of the events that are not settled
ratings.py              agreement on labels from a table
"""

from robogaze.agreement.agree import agree, agree_async
from robogaze.agreement.annotation_set import AnnotationSet
from robogaze.agreement.annotator_agreement import AgreementResult, measure_agreement
from robogaze.agreement.config import AgreementConfig
from robogaze.agreement.ratings import RatingAgreement, Ratings, agree_on_ratings

__all__ = [
    "AgreementConfig",
    "AgreementResult",
    "AnnotationSet",
    "RatingAgreement",
    "Ratings",
    "agree",
    "agree_async",
    "agree_on_ratings",
    "measure_agreement",
]
