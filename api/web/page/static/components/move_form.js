// How a person moves where the picture has no areas to click: legal moves as buttons, or numbers to type.
import { h } from "../core/dom.js";

/** Whether an action is numbers that a person types: those of a Box, MultiDiscrete or the like. */
export const isByNumbers = (game) => game.position.numbers?.length > 0;

const bounds = ({ low, high, whole, choices: allowed }) =>
  allowed.length
    ? `one of ${allowed.join(", ")}`
    : [whole ? "whole" : null, low === null ? null : `from ${low}`, high === null ? null : `to ${high}`].filter(Boolean).join(" ");

export function numberForm(game, waiting, moveBy) {
  return h(
    "form",
    {
      class: "fields",
      "aria-label": "Your move",
      onsubmit: (event) => {
        event.preventDefault();
        moveBy([...event.target.querySelectorAll("input")].map((input) => Number(input.value)));
      },
    },
    game.position.numbers.map((each, place) =>
      h(
        "label",
        { key: place },
        game.position.numbers.length > 1 ? `Number ${place + 1}` : "Number",
        h("input", {
          type: "number",
          name: `number-${place}`,
          required: true,
          step: each.whole ? 1 : "any",
          min: each.low,
          max: each.high,
          value: each.choices[0] ?? Math.min(Math.max(0, each.low ?? 0), each.high ?? 0),
        }),
        h("small", {}, bounds(each)),
      ),
    ),
    h("button", { type: "submit", disabled: waiting }, "Move"),
  );
}

export function choices(game, waiting, move) {
  return h(
    "div",
    { class: "choose", role: "group", "aria-label": "Legal moves" },
    (game.position.legal[Math.max(0, game.position.seats.indexOf(game.seat))] ?? []).map((each) =>
      h("button", { key: each.action, class: "plain", disabled: waiting, onclick: () => move(each.action) }, each.name),
    ),
  );
}
