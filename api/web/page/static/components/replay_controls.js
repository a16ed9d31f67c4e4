// The controls of a replay: step, slide, play by itself at a speed, and the keys for it.
import { h } from "../core/dom.js";
import { pick } from "./widgets.js";

const SPEEDS = [
  ["0.5", "½ ×"],
  ["1", "1 ×"],
  ["2", "2 ×"],
  ["4", "4 ×"],
  ["10", "10 ×"],
  ["30", "30 ×"],
];
const MOST_A_SECOND = 10; // redraws while it plays; a faster one leaves out positions
const LONG = 300; // positions: such a game is no sequence of moves but a film

/** The position on display: `ply` of the address, within the game. */
export const plyOf = (context, last) => Math.max(0, Math.min(last, Number(context.query.ply ?? 0) || 0));
export const goTo = (ply, context) => context.setQuery({ ply });
const speedOf = ({ query, lastOf }) => query.speed ?? (lastOf() > LONG ? "30" : "1");
export const secondsPerMove = (context) => 1 / (Number(speedOf(context)) || 1);

/** A page of a replay listens to keys while it is shown; `lastOf` gives the number of its last position. */
export function enterReplay(context, lastOf) {
  context.lastOf = () => lastOf(context); // it grows while a long game loads
  context.keys = (event) => {
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || event.altKey || event.ctrlKey || event.metaKey) return;
    const last = context.lastOf();
    if (event.key === " " && event.target.tagName !== "BUTTON") togglePlaying(context);
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
function togglePlaying(context) {
  const { state } = context;
  if (state.playing) {
    stopPlaying(context);
    context.redraw();
    return;
  }
  const movesAtOnce = () => Math.max(1, Math.round(1 / secondsPerMove(context) / MOST_A_SECOND));
  const wait = () => setTimeout(step, 1000 * secondsPerMove(context) * movesAtOnce());
  const step = async () => {
    const last = context.lastOf();
    const next = Math.min(last, plyOf(context, last) + movesAtOnce());
    const mine = (state.playing = wait());
    await goTo(next, context);
    const isLast = next === context.lastOf() && !state.replay?.next; // else it waits for what still loads
    if (!isLast || state.playing !== mine) return;
    stopPlaying(context);
    context.redraw();
  };
  state.playing = wait();
  if (plyOf(context, context.lastOf()) === context.lastOf()) goTo(0, context);
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
      h("button", { class: "play", disabled: !last, onclick: () => togglePlaying(context) }, playing ? "❚❚ Pause" : "▶ Play"),
      jump(ply + 1, "›", "Next move"),
      jump(last, "»", "Last position"),
      h("span", { role: playing ? null : "status", class: "ply" }, `${ply} of ${last}`),
      pick("Speed", "speed", SPEEDS, speedOf(context), (value) => context.setQuery({ speed: value })),
    ),
    h("label", { class: "unseen", for: "ply" }, "Position"),
    h("input", { id: "ply", type: "range", min: 0, max: last, value: ply, oninput: (event) => go(event.target.value) }),
    h("p", { class: "quiet center" }, "Arrow keys: one move. Home and End: first and last position. Space: play and pause."),
  ];
}
