"""The guide of a domain for the page: what to look for, how severe it is, and how many events one cause makes."""

from typing import Any

from robogaze.domains import Dimension, Domain, EventType


def guide_of(domain: Domain) -> dict[str, Any]:
    """The dimensions with their types, the severity levels and the cascade rule, as JSON values."""
    return {
        "domain": {"id": domain.id, "version": domain.file.version},
        "dimensions": [_dimension(dimension) for dimension in domain.taxonomy.dimensions],
        "severities": [
            {"level": level.level, "name": level.name, "meaning": level.definition}
            for level in domain.taxonomy.severity
        ],
        "cascade_rule": domain.taxonomy.cascade,
        "not_annotated": domain.taxonomy.not_annotated,
    }


def _dimension(dimension: Dimension) -> dict[str, Any]:
    return {
        "id": dimension.id,
        "code": dimension.code,
        "name": dimension.name,
        "definition": dimension.definition,
        "types": [_type(kind) for kind in dimension.types],
    }


def _type(kind: EventType) -> dict[str, Any]:
    return {
        "id": kind.id,
        "name": kind.name,
        "definition": kind.definition,
        "cues": kind.cues,
        "confused_with": [{"type": other.type, "tell": other.tell} for other in kind.confused_with],
        "severity": kind.severity,
        "span_covers": f"{kind.span.covers}: from {kind.span.starts} to {kind.span.ends}",
        "evidence_limiting": kind.evidence_limiting,
    }
