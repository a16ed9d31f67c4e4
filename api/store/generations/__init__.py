"""Generations: planned, recorded once, judged, and their metrics."""
