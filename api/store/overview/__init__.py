"""Answers put together from several rooms of the store: whether a trial goes well."""
