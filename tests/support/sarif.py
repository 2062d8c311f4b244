"""The part of the schema of SARIF 2.1.0 that applies to logs of this package.

The names, types, required properties and limits are those of
https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json, which allows no
other properties.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def schema_of_object(required: tuple[str, ...], **properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": {**properties, "properties": {"type": "object"}},
        "required": list(required),
        "additionalProperties": False,
    }


def array_of(items: Schema, *, is_set: bool = False) -> Schema:
    return {"type": "array", "items": items, "uniqueItems": is_set}


TEXT: Schema = {"type": "string", "minLength": 1}
INDEX: Schema = {"type": "integer", "minimum": -1}
POSITION: Schema = {"type": "integer", "minimum": 1}
MESSAGE = schema_of_object(("text",), text=TEXT, markdown=TEXT)
RULE = schema_of_object(("id",), id=TEXT, shortDescription=MESSAGE, help=MESSAGE)
DRIVER = schema_of_object(("name",), name=TEXT, version=TEXT, rules=array_of(RULE, is_set=True))
PLACE = schema_of_object(
    ("artifactLocation",),
    artifactLocation=schema_of_object(
        (), uri={"type": "string", "pattern": r"^[!#-;=?-Z_a-z~%]+$"}
    ),
    region=schema_of_object(
        (), startLine=POSITION, startColumn=POSITION, endLine=POSITION, endColumn=POSITION
    ),
)
LOCATION = schema_of_object((), id=INDEX, physicalLocation=PLACE, message=MESSAGE)
RESULT = schema_of_object(
    ("message",),
    ruleId=TEXT,
    ruleIndex=INDEX,
    level={"enum": ["none", "note", "warning", "error"]},
    message=MESSAGE,
    locations=array_of(LOCATION, is_set=True),
    relatedLocations=array_of(LOCATION, is_set=True),
)
RUN = schema_of_object(
    ("tool",),
    tool=schema_of_object(("driver",), driver=DRIVER),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    results=array_of(RESULT),
)
LOG: Schema = schema_of_object(("version", "runs"), version={"enum": ["2.1.0"]}, runs=array_of(RUN))
LOG["properties"]["$schema"] = TEXT
