"""Run one planted study in this process: python -m planting NUMBER FOLDER."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

from planting import plants, run_here

if __name__ == "__main__":
    plant, folder = plants.ALL[int(sys.argv[1])], Path(sys.argv[2])
    if plant.descriptors:
        resource.setrlimit(resource.RLIMIT_NOFILE, (plant.descriptors, plant.descriptors))
    run_here(plant, folder)
