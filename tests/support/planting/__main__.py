"""Run one injected study in this process: python -m planting NUMBER BLOCKS FOLDER."""

from __future__ import annotations

import resource
import sys
from dataclasses import replace
from pathlib import Path

from planting import plants, run_here

if __name__ == "__main__":
    number, blocks, folder = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    plant = replace(plants.EVERY[number], blocks=blocks)
    if plant.descriptors:
        resource.setrlimit(resource.RLIMIT_NOFILE, (plant.descriptors, plant.descriptors))
    run_here(plant, folder)
