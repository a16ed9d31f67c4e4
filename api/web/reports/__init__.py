"""Reports of tournaments: made once from the recorded games, written as JSON, CSV, Markdown or HTML."""
