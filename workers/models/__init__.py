"""Policy and value networks. The contract they keep is in `workers.models.contract`."""
