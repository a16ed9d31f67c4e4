"""How actors explore: schedules of rates, and noises as functions of uniform draws."""
