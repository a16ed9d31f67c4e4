"""Names for your own models: `from lanista.models import mask_logits`."""

from workers.models.contract import ILLEGAL, BadModel, build_model, mask_logits
from workers.models.conv import ConvNet
from workers.models.gru import GruNet
from workers.models.mlp import Mlp
from workers.models.normalised import Normalised

__all__ = ["ILLEGAL", "BadModel", "ConvNet", "GruNet", "Mlp", "Normalised", "build_model", "mask_logits"]
