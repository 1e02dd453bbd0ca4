"""The values that travel through the product.

    study ──▶ cases ──▶ trials ──▶ measurements ──▶ estimates + findings ──▶ report

Every arrow hands on one of these immutable values; nothing downstream reaches back.
They are `msgspec` structs: decoding validates them, encoding is the stored form, and
their JSON Schema is published with the run format (`assay schema run`).

Units are suffixes of the field names: `_ns`, `_per_s`, `_bytes`.
"""
