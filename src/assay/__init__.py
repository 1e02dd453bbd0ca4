"""Assay weighs web servers honestly."""
