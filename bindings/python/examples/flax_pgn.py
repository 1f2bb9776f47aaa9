"""The network of `jax_pgn.py` as a Flax (linen) module; needs `flax`.

    module = flax_module(model.config["network"])
    module.apply({"params": jax_pgn.parameters(model)}, priorities, operands)
"""

from __future__ import annotations

from typing import Any

from flax import linen as nn
from jax_pgn import Network, rollouts


def flax_module(network: Network) -> Any:
    """A module whose parameters are named and shaped as `jax_pgn.parameters` has them."""
    k, m = network["k"], len(network["inputs"])
    width = k if network["attention_input"] == "h" else 2 * k
    shapes = {
        "encoder": (m + k if network.get("processor", "once") == "once" else m, k),
        "message": (2 * k, k),
        "update": (2 * k, k),
        "decoder": (2 * k, 1),
    }
    if network["pointers"] == "masked" or network["losses"]["masks"] > 0:
        shapes["mask"] = (2 * k, 1)
    if network["pointers"] in ("masked", "every") or network["losses"]["pointers"] > 0:
        shapes |= {"query": (width, k), "key": (width, k)}

    class Weights(nn.Module):
        shape: tuple[int, int]
        bias: bool

        @nn.compact
        def __call__(self):
            # As the paper's training here begins: truncated normal, σ = 1/√fan_in; biases zero.
            normal = nn.initializers.variance_scaling(1.0, "fan_in", "truncated_normal")
            weights = {"kernel": self.param("kernel", normal, self.shape)}
            if self.bias:
                zeros = nn.initializers.zeros_init()
                weights["bias"] = self.param("bias", zeros, self.shape[1:])
            return weights

    class PGN(nn.Module):
        @nn.compact
        def __call__(self, priorities, operands, given=None, masks=None):
            params = {
                name: Weights(shape, name not in ("query", "key"), name=name)()
                for name, shape in shapes.items()
            }
            return rollouts(params, network, priorities, operands, given, masks)

    return PGN()
