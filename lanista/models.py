"""Names for your own models: `from lanista.models import mask_logits`."""

from workers.models.contract import ILLEGAL, BadModel, build_model, head_of, mask_logits, run_model
from workers.models.conv import ConvNet
from workers.models.convres import ConvRes
from workers.models.encoding import Encoder
from workers.models.gru import GruNet
from workers.models.head_factory import make_head
from workers.models.heads import Head
from workers.models.mlp import Mlp
from workers.models.nature import NatureNet
from workers.models.normalised import Normalised

__all__ = [
    "ILLEGAL",
    "BadModel",
    "ConvNet",
    "ConvRes",
    "Encoder",
    "GruNet",
    "Head",
    "Mlp",
    "NatureNet",
    "Normalised",
    "build_model",
    "head_of",
    "make_head",
    "mask_logits",
    "run_model",
]
