"""Reads a run's event file with TensorBoard itself and compares it with metrics.jsonl.

usage: check.py RUN_DIRECTORY
"""

import json
import pathlib
import struct
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

run = pathlib.Path(sys.argv[1])
lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
events = EventAccumulator(str(run), size_guidance={"scalars": 0})
events.Reload()


def as_f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


expected = {"learning_rate": [line["learning_rate"] for line in lines]}
for key in lines[0]["losses"]:
    expected[f"loss/{key}"] = [line["losses"][key] for line in lines]
for key in ("f1", "precision", "recall", "accuracy", "pointer_accuracy", "mask_accuracy"):
    expected[f"validation/{key}"] = [line["validation"][key] for line in lines]

assert set(events.Tags()["scalars"]) == set(expected), events.Tags()["scalars"]
for tag, values in expected.items():
    scalars = events.Scalars(tag)
    assert [scalar.step for scalar in scalars] == [line["epoch"] for line in lines], tag
    assert [scalar.value for scalar in scalars] == [as_f32(value) for value in values], tag
    times = [scalar.wall_time for scalar in scalars]
    assert times == sorted(times) and times[0] > 1.6e9, tag
print(f"{len(expected)} curves of {len(lines)} epochs agree")
