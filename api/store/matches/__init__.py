"""Single games: scoring, openings, games of people against versions, and the lists of matches."""
