"""The JSON Schema of a session's lines, for whoever reads a log with another program.

Everything here is computed from `RECORD_TYPES` and from the rules of blocks, so a record that the
log accepts has the form, and one whose form is wrong is refused by both. What no schema can say is
said by the log alone: that turns and steps enclose each other, that numbers count on, that a value
survives JSON, how large it may be.
"""

from typing import Any, Final

from .codec import HEADER_FIELDS, HEADER_TYPE
from .content import BLOCK_STRINGS, INTEGER_MAX
from .log import FORMAT_VERSION
from .record_types import NAMESPACES, RECORD_TYPES, Field, RecordType

__all__ = ["PLUGIN_TYPE", "record_schema"]

PLUGIN_TYPE: Final = rf"^(?!(?:{'|'.join(sorted(NAMESPACES))})/)[^/]+/[\s\S]+"
"""What the name of a plugin's type of record looks like, as a regular expression."""

_SEQ: Final = {"$ref": "#/$defs/seq"}


def record_schema() -> dict[str, Any]:
    """Return the schema of one line, a record or the header, in the dialect of 2020-12."""
    of_types = {name.replace("/", "-"): _typed(each) for name, each in RECORD_TYPES.items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:quiesce:session:{FORMAT_VERSION}",
        "title": "A line of a session",
        "description": "The header, or a record of a type of the runtime or of a plugin. The log "
        "also checks what no schema can: the order of records, the size of values, that they "
        "survive JSON.",
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in ("header", *of_types, "plugin")],
        "$defs": {
            "header": _header(),
            **of_types,
            "plugin": _plugin(),
            "seq": {
                "description": "The place of a record in the log, from 0.",
                "type": "integer",
                "minimum": 0,
                "maximum": INTEGER_MAX,
            },
            "time_ms": {
                "description": "Milliseconds since the Unix epoch, UTC; never goes backwards.",
                "type": "integer",
            },
            "block": _block(),
            "placement": _placement(),
            "sources": {
                "description": "The seqs of the earlier records that it was made from.",
                "type": "array",
                "items": _SEQ,
                "minItems": 1,
                "uniqueItems": True,
            },
        },
    }


_NAMES: Final[dict[type, str]] = {str: "string", int: "integer", type(None): "null"}


def _header() -> dict[str, Any]:
    types = {name: [_NAMES[each] for each in kinds] for name, kinds in HEADER_FIELDS.items()}
    return {
        "description": "What is known of a session beside its records; the first line of a file.",
        "type": "object",
        "properties": {
            **{name: {"type": each} for name, each in types.items()},
            "type": {"const": HEADER_TYPE},
            "format_version": {"const": FORMAT_VERSION},
        },
        "required": list(HEADER_FIELDS),
        "additionalProperties": False,
    }


def _typed(declared: RecordType) -> dict[str, Any]:
    data = {
        "type": "object",
        "properties": {each.name: _field(each) for each in declared.fields},
        "required": [each.name for each in declared.fields if each.is_required],
        "additionalProperties": False,
    }
    schema = _record(declared.story, {"const": declared.name}, data)
    if declared.is_message:
        schema["properties"]["placement"] = {"$ref": "#/$defs/placement"}
        schema["properties"]["sources"] = {"$ref": "#/$defs/sources"}
        schema["required"].append("placement")
    return schema


def _plugin() -> dict[str, Any]:
    story = "A record of a plugin, free in its fields; it lies inside a turn and no model sees it."
    return _record(story, {"type": "string", "pattern": PLUGIN_TYPE}, {"type": "object"})


def _record(story: str, of_type: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    return {
        "description": story,
        "type": "object",
        "properties": {
            "seq": _SEQ,
            "time_ms": {"$ref": "#/$defs/time_ms"},
            "type": of_type,
            "data": data,
        },
        "required": ["seq", "time_ms", "type", "data"],
        "additionalProperties": False,
    }


def _field(declared: Field) -> dict[str, Any]:
    schema: dict[str, Any] = {"description": declared.meaning, "type": declared.kind}
    if declared.kind == "integer":
        schema |= {"minimum": 1, "maximum": INTEGER_MAX}
    if declared.kind == "array":
        schema["items"] = {"$ref": "#/$defs/block"}
    if declared.choices:
        schema["enum"] = list(declared.choices)
    return schema


def _block() -> dict[str, Any]:
    return {
        "description": "One block of content; a type that is not listed belongs to a plugin.",
        "type": "object",
        "properties": {"type": {"type": "string"}},
        "required": ["type"],
        "allOf": [
            {
                "if": {"properties": {"type": {"const": kind}}},
                "then": {
                    "properties": {name: {"type": "string"} for name in names},
                    "required": list(names),
                },
            }
            for kind, names in BLOCK_STRINGS.items()
        ],
    }


def _placement() -> dict[str, Any]:
    return {
        "description": "Where it stands in the history that a model sees: at its end, or in the "
        "place of the records from one seq to another, both included.",
        "oneOf": [
            {"const": "append"},
            {
                "type": "object",
                "properties": {
                    "replace": {
                        "type": "object",
                        "properties": {"start": _SEQ, "end": _SEQ},
                        "required": ["start", "end"],
                        "additionalProperties": False,
                    }
                },
                "required": ["replace"],
                "additionalProperties": False,
            },
        ],
    }
