// The controls of a replay: step, slide, play by itself at a speed, and the keys for it.
import { h } from "../core/dom.js";
import { pick } from "./widgets.js";

const SPEEDS = [
  ["0.5", "½ ×"],
  ["1", "1 ×"],
  ["2", "2 ×"],
  ["4", "4 ×"],
];

/** The position on display: `ply` of the address, within the game. */
export const plyOf = (context, last) => Math.max(0, Math.min(last, Number(context.query.ply ?? 0) || 0));
export const goTo = (ply, context) => context.setQuery({ ply });
export const secondsPerMove = (context) => 1 / (Number(context.query.speed) || 1);

/** A page of a replay listens to keys while it is shown; `lastOf` gives the number of its last position. */
export function enterReplay(context, lastOf) {
  context.keys = (event) => {
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || event.altKey || event.ctrlKey || event.metaKey) return;
    const last = lastOf(context);
    if (event.key === " " && event.target.tagName !== "BUTTON") togglePlaying(last, context);
    else {
      const now = plyOf(context, last);
      const to = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: last }[event.key];
      if (to === undefined) return;
      stopPlaying(context);
      goTo(Math.max(0, Math.min(last, to)), context);
    }
    event.preventDefault();
  };
  document.addEventListener("keydown", context.keys);
}

export function leaveReplay(context) {
  stopPlaying(context);
  document.removeEventListener("keydown", context.keys);
}

export function stopPlaying({ state }) {
  clearTimeout(state.playing);
  state.playing = null;
}

/** Begin to play from here, from the start where this is the end, or pause. */
function togglePlaying(last, context) {
  const { state } = context;
  if (state.playing) {
    stopPlaying(context);
    context.redraw();
    return;
  }
  const step = async () => {
    const next = plyOf(context, last) + 1;
    const mine = (state.playing = setTimeout(step, 1000 * secondsPerMove(context)));
    await goTo(next, context);
    if (next < last || state.playing !== mine) return;
    stopPlaying(context);
    context.redraw();
  };
  state.playing = setTimeout(step, 1000 * secondsPerMove(context));
  if (plyOf(context, last) === last) goTo(0, context);
  else context.redraw();
}

export function controls(ply, last, context) {
  const go = (to) => {
    stopPlaying(context);
    goTo(to, context);
  };
  const jump = (to, text, label) =>
    h("button", { class: "plain", "aria-label": label, disabled: to < 0 || to > last || to === ply, onclick: () => go(to) }, text);
  const { playing } = context.state;
  return [
    h(
      "div",
      { class: "row center", role: "group", "aria-label": "Moves" },
      jump(0, "«", "First position"),
      jump(ply - 1, "‹", "Previous move"),
      h("button", { class: "play", disabled: !last, onclick: () => togglePlaying(last, context) }, playing ? "❚❚ Pause" : "▶ Play"),
      jump(ply + 1, "›", "Next move"),
      jump(last, "»", "Last position"),
      h("span", { role: playing ? null : "status", class: "ply" }, `${ply} of ${last}`),
      pick("Speed", "speed", SPEEDS, context.query.speed ?? "1", (value) => context.setQuery({ speed: value === "1" ? "" : value })),
    ),
    h("label", { class: "unseen", for: "ply" }, "Position"),
    h("input", { id: "ply", type: "range", min: 0, max: last, value: ply, oninput: (event) => go(event.target.value) }),
    h("p", { class: "quiet center" }, "Arrow keys: one move. Home and End: first and last position. Space: play and pause."),
  ];
}
