// A tournament: standings with intervals, cross table, surprises and rounds.
import { get, getAll, hasScope, post } from "../core/api.js";
import { chart, prefetchCharts } from "../charts/line_charts.js";
import { seriesColours } from "../charts/colours.js";
import { ask, toast } from "../components/dialog.js";
import { h } from "../core/dom.js";
import { linkedPieces } from "../core/event_links.js";
import { fixed, gameName, percent, humanize, properMinus, versionLabel, whole } from "../core/format.js";
import { part, problemOf } from "../core/parts.js";
import { colourKey, heatMap } from "../charts/heat_map.js";
import { share } from "../components/share.js";
import { badge, bar, card, empty, orProblem, problemWith, table, time, versionLink } from "../components/widgets.js";
import { entrantLinks, rounds } from "../components/tournament_rounds.js";

const MOST_INTERVALS = 40; // that can be told apart
export const title = ({ tournament }) => tournament.name;
export const enter = prefetchCharts;
export const onEvent = (event, context) =>
  /^(tournament|pairing|ratings)\./.test(event.type) && [undefined, context.parameters.tournament].includes(event.payload.tournament_id);

export async function load({ parameters }) {
  const root = `/tournaments/${parameters.tournament}`;
  const [tournament, pairings, report] = await Promise.all([
    get(root),
    part(getAll(`${root}/pairings`, {}, { maximum: 1000 })),
    part(get(`${root}/report`), { standings: [] }),
  ]);
  return { tournament, pairings, report };
}

export function view({ tournament, pairings, report }, context) {
  const over = !["pending", "running"].includes(tournament.status);
  const { standings } = report;
  return [
    h(
      "div",
      { class: "title", key: "title" },
      h(
        "div",
        {},
        h(
          "p",
          { class: "crumbs" },
          h("a", { href: "/tournaments" }, "Tournaments"),
          " / ",
          h("a", { href: `/tournaments?project=${encodeURIComponent(tournament.project)}` }, tournament.project),
        ),
        h("h1", {}, tournament.name, " ", badge(tournament.status)),
        h(
          "p",
          { class: "quiet" },
          `${humanize(tournament.format)} · ${gameName(tournament.game)} · ${tournament.entrants} entrants · created `,
          time(tournament.created_at),
          tournament.status_reason ? ` · ${tournament.status_reason}` : "",
        ),
      ),
      h(
        "div",
        { class: "row" },
        over && h("a", { class: "button plain", href: `/api/v1/tournaments/${tournament.id}/report?format=html` }, "Report"),
        hasScope("operator") &&
          h("button", { class: "plain", onclick: () => share({ tournament_id: tournament.id }, tournament.name, context) }, "Share"),
        !over && hasScope("operator") && h("button", { class: "plain", onclick: () => cancel(tournament, context) }, "Cancel"),
      ),
    ),
    h(
      "div",
      { key: "bar" },
      bar(tournament.pairings_played, tournament.pairings_known, "Pairings played"),
      h("small", {}, `${whole(tournament.pairings_played)} of ${whole(tournament.pairings_known)} pairings played`),
    ),
    problemOf(report) ? h("div", { key: "grid" }, card("Standings", orProblem(report))) : null,
    standings.length && report.games ? h("p", { key: "leads", class: "leads" }, winner(tournament, standings), leads(report)) : null,
    standings.length && report.games
      ? h(
          "div",
          { class: "grid", key: "grid" },
          card("Standings", standingTable(standings, tournament)),
          card("Ratings with 95 % intervals", intervals(standings, report.anchor)),
          card("Cross table", crossTable(standings, report.cross_table, tournament, context)),
          card("Surprises", surprises(report)),
        )
      : problemOf(report)
        ? null
        : empty("No standings yet", `Shown after the first pairing. ${standings.length} entrants wait for their games.`),
    h(
      "div",
      { key: "rounds" },
      card(
        tournament.format === "knockout" ? "Bracket" : "Rounds",
        orProblem(pairings, () => (problemOf(report) ? null : rounds(pairings, tournament, standings))),
        problemOf(report) ? problemWith("Who the entrants are", report) : null,
      ),
    ),
  ];
}

/** Who won a knockout: the ratings, of which the next sentence speaks, need not agree. */
function winner({ format, status }, [first, second]) {
  if (format !== "knockout" || status !== "completed" || first.rank !== 1 || second?.rank === 1) return null;
  return [versionLink(first.version_id, versionLabel(first.label)), " won the final. "];
}

/** Who leads, and by how much; a name stays as it is written, also where it begins the sentence. */
function leads({ leads: text, standings }) {
  const names = new Map(standings.map((line) => [line.label, `/versions/${line.version_id}`]));
  const pieces = linkedPieces(properMinus(text), names).map((piece, place) => {
    if (typeof piece !== "string") return h("a", { href: piece.href }, versionLabel(piece.name));
    return place ? piece : piece[0].toUpperCase() + piece.slice(1);
  });
  return [...pieces, "."];
}

function surprises({ upsets, instructive_games: games, standings }) {
  const link = entrantLinks(standings);
  if (!upsets.length && !games.length) return h("p", { class: "quiet" }, "None: all scores are close to what the ratings predict.");
  return [
    upsets.length
      ? table(
          "Pairings that the weaker side won",
          [
            ["Winner", (each) => link(each.winner)],
            ["Against", (each) => link(each.loser)],
            ["Score", (each) => percent(each.score), "number"],
            ["Expected", (each) => percent(each.expected), "number"],
          ],
          upsets.slice(0, 8),
          (each) => `${each.round} ${each.pair}`,
        )
      : null,
    games.length
      ? [
          h("h3", {}, "Surprising games"),
          table(
            "Games that the weaker side won",
            [
              ["Game", (each) => h("a", { href: `/matches/${each.match_id}` }, `#${each.match_id}`)],
              ["Winner", (each) => link(each.winner)],
              ["Against", (each) => link(each.loser)],
              ["Expected", (each) => percent(each.expected), "number"],
              ["Moves", (each) => each.plies, "number"],
            ],
            games.slice(0, 8),
            (each) => each.match_id,
          ),
        ]
      : null,
  ];
}

function standingTable(standings, tournament) {
  const swiss = tournament.format === "swiss";
  return table(
    "Standings",
    [
      ["Place", (line) => (line.games || line.byes ? line.rank : "–"), "number"],
      [
        "Entrant",
        (line) => [
          versionLink(line.version_id, versionLabel(line.label)),
          line.withdrawn && h("span", { class: "badge", "data-status": "withdrawn", title: line.withdrawn }, "withdrawn"),
        ],
      ],
      ["Points", (line) => line.points, "number"],
      ["Won", (line) => line.wins, "number"],
      ["Drawn", (line) => line.draws, "number"],
      ["Lost", (line) => line.losses, "number"],
      ["Elo", (line) => (line.games ? fixed(line.elo, 0) : "–"), "number"],
      ["95 %", intervalOf, "number"],
      ...(swiss ? [["Buchholz", (line) => line.buchholz, "number"]] : []),
    ],
    standings,
    (line) => line.number,
  );
}

/** The anchor has no interval: the others' are of the difference to it. */
function intervalOf({ games, low, high }) {
  if (!games) return "no games yet";
  return low === high ? "by definition" : `${fixed(low, 0)} to ${fixed(high, 0)}`;
}

function intervals(standings, anchor) {
  const rated = standings.filter((line) => line.games).sort((a, b) => a.elo - b.elo);
  const rows = rated.slice(-MOST_INTERVALS);
  const note = `The best ${rows.length} of ${rated.length} entrants; the standings have all of them.`;
  const drawn = chart(
    "intervals",
    "Elo of each entrant with its 95 percent interval",
    () => ({
      data: [
        {
          type: "scatter",
          mode: "markers",
          x: rows.map((line) => line.elo),
          y: rows.map((line) => line.label),
          marker: { size: 9, color: seriesColours()[0] },
          hovertemplate: "%{y}: %{x:.0f} Elo<extra></extra>",
          error_x: {
            type: "data",
            symmetric: false,
            array: rows.map((line) => line.high - line.elo),
            arrayminus: rows.map((line) => line.elo - line.low),
            color: seriesColours()[0],
          },
        },
      ],
      layout: { xaxis: { title: { text: `Elo above ${anchor}, which is 0` } }, yaxis: { type: "category" } },
    }),
    [standings],
    { height: Math.min(900, Math.max(220, 90 + 24 * rows.length)) },
  );
  return [drawn, rows.length < rated.length ? h("p", { class: "quiet" }, note) : null];
}

function crossTable(standings, cells, { id, trial_id: trial }, context) {
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
  return [
    colourKey(),
    heatMap("cross", `Scores of ${standings.length} entrants against each other`, {
      rows: standings.map((line) => line.label),
      of: [cells],
      rate: (row, column) => rates[row][column],
      text: (row, column) => texts[row][column],
      pick: (row) =>
        context.go(
          trial
            ? `/trials/${trial}/matches?tournament=${id}&version=${standings[row].version_id}`
            : `/versions/${standings[row].version_id}`,
        ),
      note: (row, column) =>
        rates[row][column] === null
          ? []
          : [
              `${standings[row].label} against ${standings[column].label}`,
              percent(rates[row][column]),
              `${texts[row][column]} (won, drawn, lost)`,
            ],
    }),
  ];
}

async function cancel(tournament, context) {
  const said = await ask({
    title: `Cancel ${tournament.name}?`,
    action: "Cancel tournament",
    danger: true,
    text: "Games already played are kept.",
    fields: [{ name: "reason", label: "Reason", value: "cancelled by an operator", required: true, maxlength: 500 }],
    perform: (values) => post(`/tournaments/${tournament.id}/cancel`, values),
  });
  if (said) toast("The tournament is being cancelled.");
  await context.refresh();
}
