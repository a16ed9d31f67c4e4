// A position as a picture. Where the picture marks the areas of actions, each area is a button, or shows a probability.
import { h } from "../core/dom.js";
import { percent } from "../core/format.js";

const LEAST_SHARE = 0.005; // smaller probabilities are not shown on the board

/**
 * The areas of a picture by action: `<rect data-action="3" data-noun="column" data-label="4" data-stack="6" x y width height>`
 * is a button named "column 4". `data-stack` divides the area from the bottom: the n-th move of the action fills the n-th part.
 * The parser runs no scripts. A picture without such areas gives an empty map.
 */
export function areasOf(position) {
  const picture = new DOMParser().parseFromString(position.svg, "image/svg+xml").documentElement;
  const [left, top, width, height] = (picture.getAttribute("viewBox") ?? "").split(/[\s,]+/).map(Number);
  const areas = new Map();
  if (!(width > 0 && height > 0)) return areas;
  for (const rect of picture.querySelectorAll("rect[data-action]")) {
    const number = (name) => Number(rect.getAttribute(name));
    const { action, noun = "move", label = action, stack = 1 } = rect.dataset;
    areas.set(Number(action), {
      x: (number("x") - left) / width,
      y: (number("y") - top) / height,
      width: number("width") / width,
      height: number("height") / height,
      ratio: width / height,
      stack: Number(stack),
      noun,
      label,
    });
  }
  return areas;
}

/** What an action is called: its label on the board, else the name that the game gives it. */
export const actionName = (areas, action, name) => areas.get(action)?.label ?? name;

/**
 * `moves` are the actions that led here. With `act` the legal areas are buttons; with `policy` (probabilities by action)
 * each area is tinted by its probability.
 */
export function board(position, { areas, moves = [], act, disabled = false, policy } = {}) {
  const source = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(position.svg)}`; // an image runs no scripts
  const image = h("img", { src: source, alt: `The position after ${position.ply} moves: ${position.text}` });
  if (!areas.size) return h("div", { class: "board" }, image);
  const [{ ratio }] = areas.values();
  return h(
    "div",
    { class: "board", style: `--ratio:${ratio}` },
    h(
      "div",
      { class: "overlaid" },
      image,
      lastMove(areas, moves),
      h(
        "div",
        { class: "squares", role: act ? "group" : null, "aria-label": act ? "The board" : null },
        [...areas].map(([action, area]) => square(action, area, position, { act, disabled, policy })),
      ),
    ),
  );
}

const share = (value) => `${(100 * value).toFixed(3)}%`;
const placeOf = ({ x, y, width, height }) => `left:${share(x)};top:${share(y)};width:${share(width)};height:${share(height)}`;

function square(action, area, position, { act, disabled, policy }) {
  const legal = (position.legal[0] ?? []).some((each) => each.action === action);
  if (act) {
    return h("button", {
      key: action,
      type: "button",
      class: "square",
      style: placeOf(area),
      "data-action": action,
      "aria-label": `${area.noun} ${area.label}${legal ? "" : ", not legal"}`,
      "aria-disabled": !legal || disabled,
      onclick: () => legal && !disabled && act(action),
    });
  }
  const probability = legal ? (policy?.get(action) ?? 0) : 0;
  if (probability < LEAST_SHARE) return h("span", { key: action, class: "square", style: placeOf(area) });
  return h(
    "span",
    {
      key: action,
      class: `square policy${position.actions.includes(action) ? " played" : ""}`,
      style: `${placeOf(area)};--share:${probability.toFixed(3)}`,
      "aria-hidden": "true",
    },
    h("b", {}, percent(probability)),
  );
}

/** A dot on the part of its area that the last move filled. */
function lastMove(areas, moves) {
  const action = moves.at(-1);
  const area = areas.get(action);
  if (!area) return null;
  const times = moves.filter((each) => each === action).length;
  const y = area.y + area.height * (1 - (times - 0.5) / area.stack);
  return h("span", { class: "last", "aria-hidden": "true", style: `left:${share(area.x + area.width / 2)};top:${share(y)}` });
}

/** Move the focus over the squares by an arrow key; true if the key was one. */
export function stepFocus(key) {
  const squares = [...document.querySelectorAll(".squares button")];
  if (!/^Arrow(Left|Right|Up|Down)$/.test(key) || !squares.length) return false;
  const now = squares.indexOf(document.activeElement);
  if (now < 0) squares[0].focus();
  else if (key === "ArrowLeft" || key === "ArrowRight") squares[now + (key === "ArrowRight" ? 1 : -1)]?.focus();
  else vertical(squares, squares[now], key === "ArrowDown" ? 1 : -1)?.focus();
  return true;
}

/** The nearest square above or below. */
function vertical(squares, from, direction) {
  const offset = (each) => direction * (each.offsetTop - from.offsetTop);
  const distance = (each) => offset(each) + 2 * Math.abs(each.offsetLeft - from.offsetLeft);
  const candidates = squares.filter((each) => offset(each) > 0);
  return candidates.sort((one, other) => distance(one) - distance(other))[0];
}

/** The legal actions of a mover with the probabilities a version gives them, the largest first. */
export function policyShares(position, areas, by = "probability", mover = 0) {
  const legal = (position.legal[mover] ?? []).filter((each) => each[by] !== null && each[by] !== undefined);
  return legal
    .sort((one, other) => other[by] - one[by])
    .map((each) => ({
      key: each.action,
      name: actionName(areas, each.action, each.name) + (position.actions[mover] === each.action ? " ◂ played" : ""),
      share: each[by],
    }));
}
