"""A diagram of states as an SVG: a ladder, drawn without any other program.

The states stand below each other in their order. An arrow to the next one goes straight down; every
other arrow leaves its state sideways, runs along a lane and enters the state it leads to: on the
right when it leads down, on the left when it leads up. All arrows of one style to one state share a
lane, so that many ways to one place are one line. Lanes that overlap lie beside each other, shorter
ones nearer to the states. Nothing is placed by hand, and the same arrows give the same text.
"""

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Final

from attrs import frozen

__all__ = ["Arrow", "ladder"]

_BOX_WIDTH: Final = 210
_BOX_HEIGHT: Final = 28
_PITCH: Final = 46
_TOP: Final = 44
_LABEL_WIDTH: Final = 150
"""Between a state and its nearest lane, where the words of an arrow stand."""
_LANE: Final = 14
_SLOT: Final = 7
_STYLE: Final = """\
<style>
  text { font: 11px sans-serif; fill: #222 } .state { font: bold 12px sans-serif }
  .note, .word { font-size: 10px; fill: #666 } .note { font-style: italic }
  rect { fill: #fff; stroke: #555 } .paper { stroke: none } .band { fill: #eef3fa; stroke: none }
  path { fill: none; stroke: #335 } .dashed { stroke: #b33; stroke-dasharray: 4 3 }
  polygon { fill: #335 }
  @media (prefers-color-scheme: dark) {
    text { fill: #ddd } .note, .word { fill: #aab }
    rect { fill: #161b22; stroke: #8b949e } .band { fill: #212b38 }
    path { stroke: #9bb8e8 } .dashed { stroke: #f2938c } polygon { fill: #9bb8e8 }
  }
</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7"
 orient="auto"><polygon points="0,1 8,4 0,7"/></marker></defs>"""


@frozen(kw_only=True)
class Arrow:
    """One way from a state to another, and the words that stand at it."""

    before: str
    after: str
    words: str = ""
    is_dashed: bool = False


@frozen
class _Lane:
    """What all arrows of one style to one state have in common, on one side."""

    after: int
    is_dashed: bool
    befores: tuple[int, ...]
    is_down: bool

    @property
    def first(self) -> int:
        return min(self.after, *self.befores)

    @property
    def last(self) -> int:
        return max(self.after, *self.befores)

    def overlaps(self, other: "_Lane") -> bool:
        return self.first <= other.last and other.first <= self.last


@frozen(kw_only=True)
class _Ladder:
    """The places of everything."""

    states: tuple[str, ...]
    arrows: tuple[Arrow, ...]
    lanes: dict[_Lane, int]
    """Lane -> its distance from the states, from 0, on its side."""
    left: int
    """Where the states begin."""

    @property
    def right(self) -> int:
        return self.left + _BOX_WIDTH


def ladder(
    states: Iterable[str],
    arrows: Iterable[Arrow],
    *,
    notes: Mapping[str, str] | None = None,
    band: tuple[str, str, str] | None = None,
    captions: tuple[str, str] = ("", ""),
) -> str:
    """Return the SVG.

    Args:
        states: from top to bottom.
        arrows: ways between them; one from a state to itself is left out.
        notes: a few words inside some of the states.
        band: the first and the last state that have something in common, and what.
        captions: what an arrow means, and what a dashed one does.
    """
    names = tuple(states)
    moves = tuple(arrow for arrow in arrows if arrow.before != arrow.after)
    lanes = _placed(_lanes(names, moves))
    width = {side: _margin(lanes, is_down=side) for side in (True, False)}
    plan = _Ladder(states=names, arrows=moves, lanes=lanes, left=width[False])
    size = (plan.right + width[True], _TOP + _PITCH * len(names))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}"'
        f' width="{size[0]}" height="{size[1]}">',
        _STYLE,
        f'<rect class="paper" width="{size[0]}" height="{size[1]}"/>',
        *_captions(captions),
        *_band(plan, band),
        *_straight(plan),
        *(line for lane in lanes for line in _along(plan, lane)),
        *_boxes(plan, notes or {}),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


# -- Lanes -----------------------------------------------------------------------------------------


def _lanes(states: tuple[str, ...], arrows: tuple[Arrow, ...]) -> list[_Lane]:
    """Return the lanes, shortest first."""
    befores: dict[tuple[int, bool, bool], list[int]] = {}
    for arrow in arrows:
        before, after = states.index(arrow.before), states.index(arrow.after)
        if after != before + 1:
            befores.setdefault((after, arrow.is_dashed, after > before), []).append(before)
    lanes = [_Lane(key[0], key[1], tuple(sorted(each)), key[2]) for key, each in befores.items()]
    return sorted(lanes, key=lambda lane: (lane.last - lane.first, lane.first, lane.is_dashed))


def _placed(lanes: Iterable[_Lane]) -> dict[_Lane, int]:
    """Give each lane the nearest place that no lane beside it has."""
    placed: dict[_Lane, int] = {}
    for lane in lanes:
        taken = {
            place
            for other, place in placed.items()
            if other.is_down is lane.is_down and other.overlaps(lane)
        }
        placed[lane] = next(place for place in range(len(taken) + 1) if place not in taken)
    return placed


def _margin(lanes: Mapping[_Lane, int], *, is_down: bool) -> int:
    places = [place for lane, place in lanes.items() if lane.is_down is is_down]
    return _LABEL_WIDTH + _LANE * (max(places) + 2) if places else 40


# -- Lines -----------------------------------------------------------------------------------------


def _y(state: int) -> int:
    return _TOP + _PITCH * state


def _straight(plan: _Ladder) -> Iterator[str]:
    for arrow in plan.arrows:
        before, after = plan.states.index(arrow.before), plan.states.index(arrow.after)
        if after == before + 1:
            x = plan.left + _BOX_WIDTH // (4 if arrow.is_dashed else 2)
            start = _y(before) + _BOX_HEIGHT
            yield _path(f"M{x} {start}V{_y(after)}", is_dashed=arrow.is_dashed, has_tip=True)
            yield _text(x + 5, start + 13, arrow.words, "word")


def _along(plan: _Ladder, lane: _Lane) -> Iterator[str]:
    """Draw a lane: its way in, and a way from each of its states to it."""
    edge = plan.right if lane.is_down else plan.left
    distance = _LABEL_WIDTH + _LANE * plan.lanes[lane]
    x = edge + distance if lane.is_down else edge - distance
    end = _y(lane.after) + _slot(plan, lane, lane.after)
    outermost = min(lane.befores) if lane.is_down else max(lane.befores)
    start = _y(outermost) + _slot(plan, lane, outermost)
    yield _path(f"M{x} {start}V{end}H{edge}", is_dashed=lane.is_dashed, has_tip=True)
    for before in lane.befores:
        y = _y(before) + _slot(plan, lane, before)
        yield _path(f"M{edge} {y}H{x}", is_dashed=lane.is_dashed)
        words = _words(plan, lane, before)
        if words:
            at, anchor = (edge + 6, "start") if lane.is_down else (edge - 6, "end")
            is_first = _touching(plan, lane, before)[0] is lane
            yield _text(at, y - 3 if is_first else y + 10, words, "word", anchor)


def _slot(plan: _Ladder, lane: _Lane, state: int) -> int:
    """Return where on the side of a state a lane touches it, from the top of the state."""
    touching = _touching(plan, lane, state)
    return _BOX_HEIGHT // 2 + _SLOT * touching.index(lane) - _SLOT * (len(touching) - 1) // 2


def _touching(plan: _Ladder, lane: _Lane, state: int) -> list[_Lane]:
    """List the lanes on this side of a state from top to bottom: each nearer to its other end."""
    touching = [
        each
        for each in plan.lanes
        if each.is_down is lane.is_down and state in {each.after, *each.befores}
    ]
    # Of those that leave, dashed ones come first, so that words below the last line are free.
    touching.sort(key=lambda each: ((each.after != state) is each.is_down, not each.is_dashed))
    return touching


def _words(plan: _Ladder, lane: _Lane, before: int) -> str:
    ends = plan.states[before], plan.states[lane.after], lane.is_dashed
    found = (each for each in plan.arrows if (each.before, each.after, each.is_dashed) == ends)
    return ", ".join(each.words for each in found if each.words)


# -- The rest --------------------------------------------------------------------------------------


def _boxes(plan: _Ladder, notes: Mapping[str, str]) -> Iterator[str]:
    for number, state in enumerate(plan.states):
        y = _y(number)
        yield (
            f'<rect x="{plan.left}" y="{y}" width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" rx="6"/>'
        )
        yield _text(plan.left + 10, y + 18, state, "state")
        yield _text(plan.right - 8, y + 18, notes.get(state, ""), "note", "end")


def _band(plan: _Ladder, band: tuple[str, str, str] | None) -> Iterator[str]:
    if band is not None:
        first, last, words = band
        top, bottom = _y(plan.states.index(first)) - 10, _y(plan.states.index(last)) + 38
        yield (
            f'<rect class="band" x="{plan.left - 60}" y="{top}" width="{_BOX_WIDTH + 120}"'
            f' height="{bottom - top}"/>'
        )
        yield _text(plan.left - 54, top + 14, words, "note")


def _captions(captions: tuple[str, str]) -> Iterator[str]:
    x = 12
    for is_dashed, words in zip((False, True), captions, strict=True):
        if words:
            yield _path(f"M{x} 18H{x + 34}", is_dashed=is_dashed, has_tip=True)
            yield _text(x + 42, 22, words, "word")
            x += 60 + 6 * len(words)


def _path(points: str, *, is_dashed: bool, has_tip: bool = False) -> str:
    style = ' class="dashed"' if is_dashed else ""
    tip = ' marker-end="url(#tip)"' if has_tip else ""
    return f'<path{style} d="{points}"{tip}/>'


def _text(x: int, y: int, words: str, style: str, anchor: str = "start") -> str:
    return f'<text class="{style}" x="{x}" y="{y}" text-anchor="{anchor}">{escape(words)}</text>'
