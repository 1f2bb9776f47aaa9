"""Learned data structures: train, evaluate and inspect pointer graph networks.

>>> import pgn
>>> data = pgn.sample("dsu", nodes=20, ops=30, count=70, seed=0)
>>> data
Dataset(task='dsu', count=70, ops=30, nodes=20, seed=0, split='train')
>>> data.pointers.shape, data.pointers.dtype
((70, 30, 20), dtype('uint32'))

What is where:

==================== =====================================================================
data                 :func:`sample`, :func:`replay`, :class:`Dataset`
structures           :class:`DisjointSet`, :class:`LinkCutTree`, :class:`RootedForest`,
                     and any class like :class:`Structure`
training             :func:`train`, :class:`Progress`
trained models       :func:`load`, :class:`Model`, :class:`Rollout`, :class:`State`
the CLRS benchmark   :mod:`pgn.clrs`
==================== =====================================================================
"""

from pgn import clrs
from pgn._dataset import Dataset, replay, sample
from pgn._model import Answer, Model, Rollout, State, load
from pgn._native import DisjointSet, LinkCutTree, Rng, RootedForest, __version__
from pgn._structure import Structure
from pgn._train import Progress, config, train

__all__ = [
    "Answer",
    "Dataset",
    "DisjointSet",
    "LinkCutTree",
    "Model",
    "Progress",
    "Rng",
    "Rollout",
    "RootedForest",
    "State",
    "Structure",
    "__version__",
    "clrs",
    "config",
    "load",
    "replay",
    "sample",
    "train",
]
