"""Environments of Gymnasium and PettingZoo as outside processes that call a gateway."""
