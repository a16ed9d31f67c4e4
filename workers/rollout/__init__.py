"""From games to samples: seating, sampling, trajectories and tallies."""
