"""The report of a league: one HTML file without scripts, links or other files."""
