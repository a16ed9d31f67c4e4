"""How answers are written: pages of lists, ETags, CSV, JSON bytes."""
