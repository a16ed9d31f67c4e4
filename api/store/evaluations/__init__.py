"""Evaluations: rating games of a learning player against its trial's target or a field of its trial."""
