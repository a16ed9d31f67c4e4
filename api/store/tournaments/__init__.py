"""Tournaments and their schedules: entrants, pairings, results, withdrawals, promotion."""
