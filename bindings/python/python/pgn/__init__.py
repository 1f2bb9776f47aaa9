"""Learned data structures: train, evaluate and inspect pointer graph networks.

>>> import pgn
>>> data = pgn.sample("dsu", nodes=20, ops=30, count=70, seed=0)
>>> data
Dataset(task='dsu', count=70, ops=30, nodes=20, seed=0, split='train')
>>> data.pointers.shape, data.pointers.dtype
((70, 30, 20), dtype('uint32'))

What is where:

==================== =====================================================================
data                 :func:`sample`, :func:`replay`, :func:`concatenate`, :class:`Dataset`,
                     :func:`tasks`
structures           :class:`DisjointSet`, :class:`LinkCutTree`, :class:`RootedForest`,
                     and any class like :class:`Structure`; :func:`check`
training             :func:`train`, :class:`Progress`
trained models       :func:`load`, :func:`pretrained`, :class:`Model`, :class:`Rollout`,
                     :class:`State`
any model's scores   :func:`score`, :func:`benchmark`, :class:`Scores`
beyond scores        :meth:`Model.analyse`, :meth:`Model.inspect`, :meth:`Model.verify`
pictures             :func:`draw`, :func:`play`
machines             :mod:`pgn.machines`
a benchmark          :mod:`pgn.suite`
the CLRS benchmark   :mod:`pgn.clrs`
other libraries      :mod:`pgn.export`
==================== =====================================================================
"""

from pgn import clrs, export, machines, suite
from pgn._analysis import Analysis, Verification
from pgn._benchmark import Benchmark, Questions, benchmark
from pgn._check import check
from pgn._dataset import Dataset, concatenate, replay, sample
from pgn._draw import Drawing, draw
from pgn._inspect import Inspection
from pgn._model import BestSoFar, Model, load, pretrained
from pgn._native import DisjointSet, LinkCutTree, Rng, RootedForest, __version__
from pgn._play import Player, play
from pgn._rollout import Rollout
from pgn._scores import Scores, score
from pgn._settings import Settings, config
from pgn._state import Answer, State
from pgn._structure import Structure, tasks
from pgn._train import STOP, Progress, train

__all__ = [
    "Analysis",
    "Answer",
    "Benchmark",
    "BestSoFar",
    "Dataset",
    "DisjointSet",
    "Drawing",
    "Inspection",
    "LinkCutTree",
    "Model",
    "Player",
    "Progress",
    "Questions",
    "Rng",
    "Rollout",
    "RootedForest",
    "STOP",
    "Scores",
    "Settings",
    "State",
    "Structure",
    "Verification",
    "__version__",
    "benchmark",
    "check",
    "clrs",
    "concatenate",
    "config",
    "draw",
    "export",
    "load",
    "machines",
    "play",
    "pretrained",
    "replay",
    "sample",
    "score",
    "suite",
    "tasks",
    "train",
]
