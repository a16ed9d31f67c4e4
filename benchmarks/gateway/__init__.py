"""What a gateway does a second, and what a tick costs."""
