"""The sweep file: a base trial, the space around it, and how the space is searched."""
