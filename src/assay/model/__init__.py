"""The values that travel through the product.

    study ──▶ cases ──▶ trials ──▶ measurements ──▶ estimates + findings ──▶ report

Every arrow hands on one of these immutable values; nothing downstream reaches back.
They are `msgspec` structs: decoding validates them, encoding is the stored form, and
their JSON Schema is published with the run format (`assay schema run`).

Units are suffixes of the field names: `_ns`, `_per_s`, `_bytes`.
"""

import msgspec


class Value(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of all stored values: immutable, keyword-only, strict about unknown keys.

    Each value repeats `frozen` and `kw_only`: msgspec does not hand `kw_only` down, and type
    checkers read both from the class itself.
    """
