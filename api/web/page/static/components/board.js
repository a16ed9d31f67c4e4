// A position as a picture on light ground, for the games draw with dark ink; over it, where the game is known here,
// squares to click and to show what a version thinks of each.
import { h } from "../core/dom.js";
import { percent } from "../core/format.js";

/** How actions lie on the picture; `row(moves, action)` is the row, from the top, that the last move took. */
const GRIDS = {
  connect_four: {
    columns: 7,
    rows: 1,
    cells: [7, 6],
    word: "column",
    row: (moves, action) => 6 - moves.filter((each) => each === action).length,
  },
  tic_tac_toe: { columns: 3, rows: 3, cells: [3, 3], word: "cell", row: (_, action) => Math.floor(action / 3) },
};

export const gridOf = (game) => GRIDS[game] ?? null;

/** What an action is called on the page: where it lies on the board, counted as the keys are; else as the game says. */
export const actionName = (game, action, name) => (GRIDS[game] ? String(action + 1) : name);

/**
 * `moves` are the actions that led here. With `act` the legal squares are buttons; with `opinion` (probabilities by
 * action) each square is tinted by it.
 */
export function board(position, { game, moves = [], act, disabled = false, opinion } = {}) {
  const grid = gridOf(game);
  const picture = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(position.svg)}`; // as an image it cannot run anything
  const image = h("img", { src: picture, alt: `The position after ${position.ply} moves: ${position.text}` });
  if (!grid) return h("div", { class: "board" }, image);
  const [across, down] = grid.cells;
  return h(
    "div",
    { class: "board", style: `--ratio:${across / down}` },
    h(
      "div",
      { class: "felt" },
      image,
      lastMove(grid, moves),
      h(
        "div",
        {
          class: "squares",
          role: act ? "group" : null,
          "aria-label": act ? "The board" : null,
          style: `grid-template-columns:repeat(${grid.columns},1fr)`,
        },
        Array.from({ length: grid.columns * grid.rows }, (_, action) => square(action, position, grid, { act, disabled, opinion })),
      ),
    ),
  );
}

function square(action, position, grid, { act, disabled, opinion }) {
  const legal = (position.legal[0] ?? []).find((each) => each.action === action);
  if (act) {
    return h("button", {
      key: action,
      type: "button",
      class: "square",
      "data-action": action,
      "aria-label": `${grid.word} ${action + 1}${legal ? "" : ", not possible"}`,
      "aria-disabled": !legal || disabled,
      onclick: () => legal && !disabled && act(action),
    });
  }
  const share = opinion?.get(action);
  if (share === undefined || !legal || share < 0.005) return h("span", { key: action, class: "square" });
  return h(
    "span",
    {
      key: action,
      class: `square thought${position.actions.includes(action) ? " played" : ""}`,
      style: `--share:${share.toFixed(3)}`,
      "aria-hidden": "true",
    },
    h("b", {}, percent(share)),
  );
}

function lastMove(grid, moves) {
  if (!moves.length) return null;
  const [across, down] = grid.cells;
  const action = moves.at(-1);
  return h("span", {
    class: "last",
    "aria-hidden": "true",
    style: `left:${(100 * ((action % across) + 0.5)) / across}%;top:${(100 * (grid.row(moves, action) + 0.5)) / down}%`,
  });
}

/** Move the focus over the squares; true if the key was meant for that. */
export function stepFocus(key, grid) {
  const squares = [...document.querySelectorAll(".squares button")];
  const now = squares.indexOf(document.activeElement);
  const change = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -grid.columns, ArrowDown: grid.columns }[key];
  if (change === undefined || !squares.length) return false;
  squares[now < 0 ? 0 : Math.max(0, Math.min(squares.length - 1, now + change))].focus();
  return true;
}

/** The legal actions with the probabilities a version gives them, the largest first. */
export function opinions(position, game) {
  const legal = [...(position.legal[0] ?? [])].filter((each) => each.probability !== null).sort((a, b) => b.probability - a.probability);
  return legal.map((each) => ({
    key: each.action,
    name: actionName(game, each.action, each.name) + (position.actions.includes(each.action) ? " ◂ played" : ""),
    share: each.probability,
  }));
}
