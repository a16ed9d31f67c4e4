"""What stands between the routes, the store and Temporal: changes, starts, orders, events, replays."""
