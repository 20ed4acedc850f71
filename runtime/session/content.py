"""Content of messages: what a block is, and what is accepted as content or as a source.

The rules of JSON itself, and the frozen form that everything accepted is kept in, stand in
`frozen`; both files are used through this one.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from runtime.errors import InvalidContentError
from runtime.limits import DEFAULT_LIMITS, Limits

from .frozen import (
    INTEGER_MAX,
    MEASURES,
    FrozenList,
    FrozenObject,
    Json,
    UnfitError,
    freeze_json,
    refused,
    thaw,
    too_large,
)

__all__ = [
    "BLOCK_STRINGS",
    "INTEGER_MAX",
    "MEASURES",
    "USER_SOURCE",
    "Block",
    "FrozenList",
    "FrozenObject",
    "Json",
    "UnfitError",
    "accept_content",
    "accept_source",
    "check_blocks",
    "freeze_json",
    "text_of",
    "thaw",
    "too_large",
]

Block: TypeAlias = FrozenObject
"""One block of content: an object whose `type` is a string."""


def accept_content(value: object, *, limits: Limits = DEFAULT_LIMITS) -> tuple[Block, ...]:
    """Check, copy and freeze the content of a message.

    A string becomes one text block. Otherwise content is a list of blocks: objects with a `type`,
    where a `text` or a `reasoning` block has a `text`, too.

    Raises:
        InvalidContentError: it is empty, is no content, or would not survive the log; the message
            names the path to the first offending value.
        LimitError: it is larger or deeper than `limits` allow.

    Clauses: A-07 A-08 D-05 D-07 D-08 D-09
    """
    if type(value) is str:
        value = [{"type": "text", "text": value}]
    frozen = freeze_json(value, what="content", limits=limits)
    if type(frozen) is not FrozenList:
        raise refused("content", "must be a string or a list of blocks", frozen)
    check_blocks(frozen, "content")
    for block in frozen:
        if block["type"] != "text" or block["text"]:
            return frozen
    raise InvalidContentError("content is empty: it needs a block that is not an empty text")


def check_blocks(content: Sequence[Any], path: str) -> None:
    """Check that every item of a frozen list is a block, and that our own blocks are whole.

    Raises:
        InvalidContentError: an item is not; the message names the path to it.
    """
    for index, block in enumerate(content):
        if type(block) is not FrozenObject:
            raise refused(f"{path}[{index}]", "must be a block, an object with a type", block)
        kind = block.get("type")
        if kind == "text" and type(block.get("text")) is str:
            continue
        if type(kind) is not str:
            expected = "must be a string that says what the block is"
            raise refused(f"{path}[{index}].type", expected, kind)
        for name in BLOCK_STRINGS.get(kind, ()):
            if type(block.get(name)) is not str:
                raise refused(f"{path}[{index}].{name}", "must be a string", block.get(name))


BLOCK_STRINGS: Final = {
    "text": ("text",),
    "reasoning": ("text",),
    "tool-call": ("call_id", "name", "arguments"),
}
"""The strings in each block of ours; a block of another type is of the plugin that named it."""


def accept_source(value: object, *, limits: Limits = DEFAULT_LIMITS) -> FrozenObject:
    """Check, copy and freeze where a message comes from; None means the user.

    Raises:
        InvalidContentError: it is no object with a string `kind`, or would not survive the log.

    Clauses: A-04 A-08
    """
    if value is None:
        return USER_SOURCE
    frozen = freeze_json(value, what="source", limits=limits)
    if type(frozen) is not FrozenObject:
        raise refused("source", "must be an object with a kind", frozen)
    if type(frozen.get("kind")) is not str:
        raise refused("source.kind", "must be a string", frozen.get("kind"))
    return frozen


def text_of(content: Sequence[Mapping[str, Any]]) -> str:
    """Return the texts of the text blocks, one after the other."""
    return "".join(block["text"] for block in content if block["type"] == "text")


USER_SOURCE: Final[FrozenObject] = freeze_json({"kind": "user"}, what="source")
"""Where a message comes from when nobody says anything else."""
