"""Versions for use elsewhere: ONNX, torch.export, and a folder that runs without Lanista."""
