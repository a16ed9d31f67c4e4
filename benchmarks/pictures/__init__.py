"""Pictures of every page of the web page, to be looked at: `python -m benchmarks.pictures --help`."""
