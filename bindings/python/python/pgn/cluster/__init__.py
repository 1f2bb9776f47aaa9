"""Sweeps on clusters. :mod:`pgn.cluster.ray` runs them on Ray; for Slurm, see ``pgn cluster``."""
