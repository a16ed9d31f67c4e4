// One tournament: standings with intervals, who beat whom, and its rounds.
import { get, getAll, may, post } from "../api.js";
import { chart, colour, diverging, seriesColours } from "../charts.js";
import { ask, toast } from "../dialog.js";
import { h } from "../dom.js";
import { fixed, percent, words } from "../format.js";
import { badge, bar, card, empty, table, time, versionLink } from "../pieces.js";

export const title = ({ tournament }) => tournament.name;
export const hear = (event) => /^(tournament|ratings)\./.test(event.type);
const POLL_MS = 2000;

export function enter(context) {
  context.timer = setInterval(() => ["pending", "running"].includes(context.state.status) && document.visibilityState === "visible" && context.refresh(), POLL_MS);
}
export const leave = (context) => clearInterval(context.timer);

export async function load({ parameters, state }) {
  const root = `/tournaments/${parameters.tournament}`;
  const [tournament, pairings, report] = await Promise.all([get(root), getAll(`${root}/pairings`, {}, { most: 1000 }), get(`${root}/report`)]);
  state.status = tournament.status;
  return { tournament, pairings, report };
}

export function view({ tournament, pairings, report }, context) {
  const over = !["pending", "running"].includes(tournament.status);
  const { standings } = report;
  return [
    h("div", { class: "title", key: "title" }, h("div", {}, h("p", { class: "crumbs" }, h("a", { href: "/tournaments" }, "Tournaments"), " / ", tournament.project), h("h1", {}, tournament.name, " ", badge(tournament.status)),
      h("p", { class: "quiet" }, `${words(tournament.format)} · ${tournament.game} · ${tournament.entrants} entrants · made `, time(tournament.created_at), tournament.status_reason ? ` · ${tournament.status_reason}` : "")),
    h("div", { class: "row" }, over && h("a", { class: "button plain", href: `/api/v1/tournaments/${tournament.id}/report?format=html`, "data-outside": true }, "Report"), !over && may("operator") && h("button", { class: "plain", onclick: () => cancel(tournament, context) }, "Cancel"))),
    h("div", { key: "bar" }, bar(tournament.pairings_played, tournament.pairings_known, "Pairings played"), h("small", {}, `${tournament.pairings_played} of ${tournament.pairings_known} pairings played`)),
    standings.length ? h("div", { class: "grid", key: "grid" }, card("Standings", standingTable(standings, tournament)), card("Ratings with 95 % intervals", intervals(standings)), card("Cross table", crossTable(standings, report.cross_table)),
      card("Upsets", report.upsets.length ? h("ul", {}, report.upsets.slice(0, 8).map((each) => h("li", {}, `${each.winner} scored ${percent(each.score)} against ${each.loser}, ${percent(each.expected)} expected`))) : h("p", { class: "quiet" }, "None.")))
      : empty("No standings yet", "They come with the first pairing."),
    h("div", { key: "rounds" }, card("Rounds", rounds(pairings, tournament))),
  ];
}

function standingTable(standings, tournament) {
  const swiss = tournament.format === "swiss";
  return table("Standings", [["Place", (line) => line.rank, "number"], ["Entrant", (line) => versionLink(line.version_id, line.label)], ["Points", (line) => line.points, "number"], ["Won", (line) => line.wins, "number"], ["Drawn", (line) => line.draws, "number"], ["Lost", (line) => line.losses, "number"],
    ["Elo", (line) => `${fixed(line.elo, 0)}`, "number"], ["95 %", (line) => `${fixed(line.low, 0)} to ${fixed(line.high, 0)}`, "number"], ...(swiss ? [["Buchholz", (line) => line.buchholz, "number"]] : [])], standings, (line) => line.number);
}

function intervals(standings) {
  const rows = [...standings].sort((a, b) => a.elo - b.elo);
  return chart("intervals", "Elo of each entrant with its 95 percent interval", () => ({
    data: [{ type: "scatter", mode: "markers", x: rows.map((line) => line.elo), y: rows.map((line) => line.label), marker: { size: 9, color: seriesColours()[0] }, hovertemplate: "%{y}: %{x:.0f} Elo<extra></extra>",
      error_x: { type: "data", symmetric: false, array: rows.map((line) => line.high - line.elo), arrayminus: rows.map((line) => line.elo - line.low), color: seriesColours()[0] } }],
    layout: { xaxis: { title: { text: "Elo" } }, yaxis: { type: "category" } } }), { height: Math.min(900, Math.max(220, 90 + 24 * rows.length)) });
}

function crossTable(standings, cells) {
  const place = new Map(standings.map((line, at) => [line.number, at]));
  const rates = standings.map(() => standings.map(() => null));
  const texts = standings.map(() => standings.map(() => ""));
  for (const { first, second, wins, draws, losses } of cells) {
    const [a, b, games] = [place.get(first), place.get(second), wins + draws + losses];
    if (a === undefined || b === undefined || !games) continue;
    rates[a][b] = (wins + draws / 2) / games;
    rates[b][a] ??= 1 - rates[a][b];
    texts[a][b] = `${wins}–${draws}–${losses}`;
    texts[b][a] ||= `${losses}–${draws}–${wins}`;
  }
  const labels = standings.map((line) => line.label);
  const few = labels.length <= 12;
  return chart("cross", `Scores of ${labels.length} entrants against each other`, () => ({
    data: [{ type: "heatmap", x: labels, y: labels, z: rates, text: texts, zmin: 0, zmax: 1, colorscale: diverging(), hoverongaps: false, showscale: false, xgap: 1, ygap: 1, texttemplate: few ? "%{text}" : "", hovertemplate: "%{y} against %{x}: %{z:.0%} (%{text})<extra></extra>" }],
    layout: { plot_bgcolor: colour("--blank"), margin: { l: 90, r: 8, t: 8, b: 80 }, xaxis: { type: "category", showgrid: false }, yaxis: { type: "category", autorange: "reversed", showgrid: false } } }), { height: Math.min(800, Math.max(280, 120 + 26 * labels.length)) });
}

function rounds(pairings, tournament) {
  const found = new Map();
  for (const pairing of pairings) found.set(pairing.round, [...(found.get(pairing.round) ?? []), pairing]);
  if (!found.size) return h("p", { class: "quiet" }, "Nothing is paired yet.");
  return h("div", { class: tournament.format === "knockout" ? "bracket" : "rounds" }, [...found].map(([round, pairs]) => h("section", { key: round, "aria-label": `Round ${round + 1}` }, h("h3", {}, `Round ${round + 1}`),
    h("ul", { tabindex: 0, "aria-label": `Pairings of round ${round + 1}` }, pairs.slice(0, 200).map((pair) => h("li", { key: pair.pair, "data-status": pair.status }, h("span", { class: pair.wins > pair.losses ? "won" : "" }, pair.first), h("b", {}, pair.status === "played" ? `${pair.wins}–${pair.draws}–${pair.losses}` : words(pair.status)), h("span", { class: pair.losses > pair.wins ? "won" : "" }, pair.second ?? "bye")))))));
}

async function cancel(tournament, context) {
  const said = await ask({ title: `Cancel ${tournament.name}?`, action: "Cancel it", danger: true, text: "What was played stays.", fields: [{ name: "reason", label: "Reason", value: "cancelled by an operator", required: true, maxlength: 500 }],
    perform: (values) => post(`/tournaments/${tournament.id}/cancel`, values) });
  if (said) toast("It is being cancelled.");
  await context.refresh();
}
