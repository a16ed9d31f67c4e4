// A person against a version.
import { get, post } from "../api.js";
import { board } from "../board.js";
import { toast } from "../dialog.js";
import { h } from "../dom.js";
import { versionName } from "../format.js";
import { card, pick, versionLink } from "../pieces.js";

export const title = ({ version }) => `Play against ${versionName(version.player, version.number)}`;
export const hear = () => false;

export async function load({ parameters, query, state }) {
  const version = await get(`/versions/${parameters.version}`);
  if (query.game && state.game?.id !== query.game) {
    try {
      state.game = await get(`/play/${query.game}`);
    } catch (problem) {
      if (problem.status !== 404) throw problem;
      state.game = null; // kept for an hour only
    }
  }
  return { version };
}

export function view({ version }, context) {
  const { game } = context.state;
  const seat = context.query.seat ?? "0";
  return [
    h("h1", { key: "h" }, "You against ", versionLink(version.id, versionName(version.player, version.number))),
    h("div", { class: "filters", key: "filters" }, pick("You move", "seat", [["0", "first"], ["1", "second"]], seat, (value) => context.setQuery({ seat: value })),
      pick("It plays", "best", [["", "by its probabilities"], ["best", "its best move"]], context.query.best ?? "", (value) => context.setQuery({ best: value })),
      h("button", { disabled: context.state.waiting, onclick: () => begin(version, context) }, game ? "New game" : "Begin")),
    game ? h("div", { class: "beside", key: "game" }, h("section", { class: "card", "aria-label": "Board" }, board(game.position), h("p", { role: "status", class: "say" }, say(game, context))),
      card("Your moves", game.position.done ? h("p", {}, "The game is over.") : choices(game, context)))
      : h("section", { class: "empty", key: "none" }, h("h2", {}, "Ready when you are"), h("p", {}, "Choose who begins, then press Begin. Games of people are not recorded.")),
  ];
}

function choices(game, context) {
  return h("div", { class: "choose", role: "group", "aria-label": "Legal moves" }, (game.position.legal[0] ?? []).map((each) =>
    h("button", { key: each.action, class: "plain", disabled: context.state.waiting, onclick: () => move(each.action, context) }, each.name)));
}

function say(game, { state }) {
  if (state.waiting) return "It thinks …";
  const earned = game.position.returns[game.seat];
  if (game.position.done) return earned > 0 ? "You won." : earned < 0 ? "You lost." : "A draw.";
  return "Your move.";
}

async function begin(version, context) {
  await answered(context, () => post("/play", { version_id: version.id, seat: Number(context.query.seat ?? 0), sampled: context.query.best !== "best" }));
  if (context.state.game) await context.setQuery({ game: context.state.game.id });
}

const move = (action, context) => answered(context, () => post(`/play/${context.state.game.id}/moves`, { action }));

async function answered(context, call) {
  context.state.waiting = true;
  context.redraw();
  try {
    context.state.game = await call();
  } catch (problem) {
    toast(problem.message, "bad");
  }
  context.state.waiting = false;
  context.redraw();
}
