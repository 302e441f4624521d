"""Clips, events, reports and annotations: frozen data types without I/O."""
