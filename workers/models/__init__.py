"""Policy and value networks. Their interface is in `workers.models.contract`."""
