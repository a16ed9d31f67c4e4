// A recorded game, move by move.
import { get } from "../api.js";
import { board, opinions } from "../board.js";
import { h } from "../dom.js";
import { fixed, signed, versionName, words } from "../format.js";
import { badge, card, facts, pick, shares, time, versionLink } from "../pieces.js";

export const title = ({ replay }) => `Game #${replay.match.id}`;
export const hear = () => false;

export async function load({ parameters, query, state }) {
  const key = `${parameters.match} ${query.annotate ?? ""}`;
  if (state.key === key) return { replay: state.replay };
  state.replay = await get(`/matches/${parameters.match}/replay`, { annotate: query.annotate });
  state.key = key;
  return { replay: state.replay };
}

export function enter(context) {
  context.keys = (event) => {
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || event.altKey || event.ctrlKey || event.metaKey) return;
    const last = (context.state.replay?.positions.length ?? 1) - 1;
    const now = plyOf(context, last);
    const to = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    context.setQuery({ ply: Math.max(0, Math.min(last, to)) });
  };
  document.addEventListener("keydown", context.keys);
}

export const leave = (context) => document.removeEventListener("keydown", context.keys);

const plyOf = (context, last) => Math.max(0, Math.min(last, Number(context.query.ply ?? 0) || 0));

export function view({ replay }, context) {
  const { match, positions } = replay;
  const last = positions.length - 1;
  const ply = plyOf(context, last);
  const position = positions[ply];
  const names = [versionName(match.player, match.version_number), versionName(match.opponent, match.opponent_version_number)];
  const seats = match.seat === 0 ? names : [names[1], names[0]];
  const jump = (to, text, label) => h("button", { class: "plain", "aria-label": label, disabled: to < 0 || to > last || to === ply, onclick: () => context.setQuery({ ply: to }) }, text);
  return [
    h("div", { key: "title" }, h("p", { class: "crumbs" }, match.trial_id ? h("a", { href: `/trials/${match.trial_id}/matches` }, "Matches") : "Game"), h("h1", {}, `Game #${match.id} `, badge(match.result))),
    h("div", { class: "beside", key: "game" },
      h("section", { class: "card", "aria-label": "Board" }, board(position),
        h("div", { class: "row center", role: "group", "aria-label": "Moves" }, jump(0, "«", "First position"), jump(ply - 1, "‹", "Move before"), h("span", { role: "status" }, `${ply} of ${last}`), jump(ply + 1, "›", "Next move"), jump(last, "»", "Last position")),
        h("label", { class: "unseen", for: "ply" }, "Position"), h("input", { id: "ply", type: "range", min: 0, max: last, value: ply, oninput: (event) => context.setQuery({ ply: event.target.value }) }),
        h("p", { class: "quiet" }, "Arrow keys step; Home and End jump.")),
      h("div", {}, card("Players", facts([["First", match.seat === 0 ? versionLink(match.version_id, seats[0]) : versionLink(match.opponent_version_id, seats[0])],
        ["Second", match.seat === 0 ? versionLink(match.opponent_version_id, seats[1]) : versionLink(match.version_id, seats[1])],
        ["Result", `${match.result} for ${names[0]}`], ["Played for", words(match.stream)], ["When", time(match.played_at)], ["Seed", h("code", {}, match.seed)]])),
      h("section", { class: "card", "aria-label": "Opinion" }, h("h2", {}, "What a version thinks here"),
        pick("Opinion of", "annotate", [["", "nobody"], [match.version_id, names[0]], [match.opponent_version_id, names[1]]], context.query.annotate ?? "", (value) => context.setQuery({ annotate: value })),
        position.done ? h("p", {}, `The game is over: ${position.returns.map((value) => signed(value, 0)).join(" : ")}.`)
          : [h("p", {}, `To move: ${position.seats.map((seat) => seats[seat] ?? `seat ${seat}`).join(", ")}.`, position.value === null ? "" : ` Expects to earn ${fixed(position.value)}.`),
            context.query.annotate ? shares(opinions(position), "Policy") : null]),
      card("Moves", h("ol", { class: "moves" }, positions.slice(0, -1).map((each, place) => h("li", { key: place }, h("button", { class: "tab", "aria-current": place === ply ? "step" : null, onclick: () => context.setQuery({ ply: place + 1 }) }, each.names.join(", ") || "–")))))))];
}
