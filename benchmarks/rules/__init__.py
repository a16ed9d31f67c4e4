"""The rules of the league against known truth, and how fast they are."""
