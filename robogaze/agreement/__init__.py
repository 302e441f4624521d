"""Agreement of annotators, from reports alone; and what a human scores where a model is scored."""

from robogaze.agreement.agree import AgreementConfig, AgreementResult, agree
from robogaze.agreement.annotation_set import AnnotationSet
from robogaze.agreement.ratings import RatingAgreement, Ratings, agree_on_ratings

__all__ = [
    "AgreementConfig",
    "AgreementResult",
    "AnnotationSet",
    "RatingAgreement",
    "Ratings",
    "agree",
    "agree_on_ratings",
]
