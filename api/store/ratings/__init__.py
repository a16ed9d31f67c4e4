"""Ratings: Bradley-Terry, online, and over the field of a tournament; and what the API reads of them."""
