// What the payoff page concludes from the games: hardest opponents, α-rank and Nash mass, and cycles, each with the games it rests on.
import { strongestCycles } from "./payoff_order.js";
import { h, s } from "../core/dom.js";
import { counted, percent, short, versionName, whole } from "../core/format.js";
import { aheadNote, askedAbout, opponentsOf, recency } from "../core/opponents.js";
import { card, orProblem, pick, shares, table, term, versionSeenFrom } from "../components/widgets.js";
import { LEARNS } from "../components/trial_facts.js";

const LEAST_MASS = 0.0005;
const MOST_SHARES = 10;
const MOST_HARD = 5;

/** Who beats a player most often, and how sure that is; those that learn are among them. */
export function hardest({ payoff }, context) {
  const { players } = payoff;
  const asked = askedAbout(players, LEARNS, context.query.of);
  const found = opponentsOf(payoff, asked.id);
  const faded = found.map((each) => recency(payoff, each.games)).find(Boolean);
  const choice = players.filter((player) => LEARNS.includes(player.role) || player.id === asked.id);
  const names = choice.map((player) => [player.id, player.name]);
  return h(
    "section",
    { class: "card", key: "hardest", "aria-label": "Hardest opponents" },
    h("h2", {}, term("Hardest opponents"), " of ", h("a", { href: `/players/${asked.id}` }, asked.name)),
    names.length > 1 ? pick("Player", "of", names, asked.id, (value) => context.setQuery({ of: value })) : null,
    found.length
      ? [
          table(
            `Hardest opponents of ${asked.name}`,
            [
              ["Opponent", (each) => [playerLink(each), LEARNS.includes(each.role) ? h("small", { class: "quiet" }, " learns") : null]],
              ["Win rate", (each) => [percent(each.rate, 1), h("br"), certainty(each)], "number"],
            ],
            found.slice(0, MOST_HARD),
            (each) => each.id,
          ),
          h("p", { class: "quiet" }, aheadNote(asked.name, found), faded ? ` The interval ${faded}.` : ""),
        ]
      : h("p", { class: "quiet" }, `No opponent with ${payoff.min_games} games yet.`),
  );
}

/** Below the rate: columns of their own would not fit into the card. */
const certainty = ({ low, high, games }) =>
  h("small", { class: "quiet" }, `${percent(low, 1)} to ${percent(high, 1)}`, h("br"), `in ${counted(games, "game")}`);
const playerLink = ({ id, name }) => h("a", { href: `/players/${id}` }, name);

export function masses({ trial, alphaRank, nash, strangers }) {
  return h(
    "div",
    { key: "masses" },
    card(
      "α-rank mass",
      orProblem(alphaRank, () => (alphaRank.fit ? [rankShares(alphaRank), basis(alphaRank)] : missing())),
    ),
    card(
      "Nash mass",
      orProblem(nash, () => (nash.fit ? [shares(mixture(nash, trial.id, strangers), "Nash mass"), basis(nash)] : missing())),
    ),
  );
}

const missing = () => h("p", { class: "quiet" }, "Shown after the first rating tournament.");

/** The heat map includes other games, so the two may differ. */
const basis = ({ fit }) =>
  h("p", { class: "quiet" }, `Rests on ${whole(fit.games)} rating games of the latest tournament's entrants; training games do not count.`);

const named = (item) => [
  h("a", { href: `/versions/${item.version_id}` }, versionName(item.player, item.number)),
  h("small", { class: "quiet" }, ` ${short(item.games)} games`),
];

/** The mass may be on versions of other trials alone: then this trial has none, which is not the same as no data. */
function rankShares({ items }) {
  const rows = ranked(items);
  if (rows.length) return shares(rows, "alpha-rank mass");
  return h("p", { class: "quiet" }, "No version of this trial has mass: all of it is on versions of other trials of the project.");
}

const ranked = (items) =>
  items
    .filter((item) => item.value > LEAST_MASS)
    .slice(0, MOST_SHARES)
    .map((item) => ({ key: item.version_id, name: named(item), share: item.value }));

/** Versions in the support that are not among the trial's own. */
export const strangersIn = ({ fit, items }) => {
  const own = new Set(items.map((item) => item.version_id));
  return Object.keys(fit?.settings.mixture ?? {}).filter((id) => !own.has(id));
};

/** The Nash equilibrium: the mass of each version in its support. */
export function mixture({ fit, items }, trial, strangers = new Map()) {
  const found = new Map(items.map((item) => [item.version_id, item]));
  return Object.entries(fit.settings.mixture ?? {})
    .filter(([, share]) => share > LEAST_MASS)
    .sort(([, one], [, other]) => other - one)
    .slice(0, MOST_SHARES)
    .map(([id, share]) => ({
      key: id,
      name: found.has(id)
        ? named(found.get(id))
        : strangers.has(id)
          ? versionSeenFrom(trial, strangers.get(id))
          : h("a", { href: `/versions/${id}` }, "in another trial"),
      share,
    }));
}

export function cycles({ payoff }, { state }) {
  const key = `${payoff.revision} ${payoff.stream}`;
  if (state.cycles?.key !== key) {
    const games = payoff.wins.map((row, a) => row.map((wins, b) => wins + payoff.draws[a][b] + payoff.losses[a][b]));
    state.cycles = { key, games, found: strongestCycles(payoff.low, games, payoff.min_games) };
  }
  const { found, games } = state.cycles;
  return h(
    "div",
    { key: "cycles" },
    card(
      "Strongest cycles",
      found.length
        ? [
            h(
              "div",
              { class: "triangles" },
              found.map((cycle) => triangle(cycle, payoff, games)),
            ),
            h("p", { class: "quiet" }, "The 95 % interval of every edge is above 50 %."),
          ]
        : h(
            "p",
            { class: "quiet" },
            `No cycles: no A beats B, B beats C and C beats A with each 95 % interval above 50 % and ${payoff.min_games} games or more.`,
          ),
    ),
  );
}

function triangle([a, b, c], payoff, games) {
  const corners = [
    [110, 26],
    [196, 112],
    [24, 112],
  ];
  const places = [a, b, c];
  const names = places.map((place) => payoff.players[place].name);
  const edges = places.map((place, at) => [place, places[(at + 1) % 3]]);
  const rates = edges.map(([from, to]) => payoff.win_rate[from][to]);
  const counts = edges.map(([from, to]) => games[from][to]);
  const label = names
    .map((name, at) => `${name} beats ${names[(at + 1) % 3]} at ${percent(rates[at])} in ${whole(counts[at])} games`)
    .join(", ");
  return s(
    "svg",
    { class: "triangle", viewBox: "-60 0 340 142", role: "group", "aria-label": label },
    s(
      "defs",
      {},
      s(
        "marker",
        { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
        s("path", { d: "M0 0 8 4 0 8z", fill: "currentColor" }),
      ),
    ),
    corners.map(([x1, y1], place) => {
      const [x2, y2] = corners[(place + 1) % 3];
      const at = (share) => [x1 + (x2 - x1) * share, y1 + (y2 - y1) * share];
      const [[sx, sy], [ex, ey], [mx, my]] = [at(0.14), at(0.86), at(0.5)];
      const says = `${percent(rates[place])} of ${short(counts[place])}`;
      return [
        s("line", { x1: sx, y1: sy, x2: ex, y2: ey, stroke: "currentColor", "stroke-width": 1.6, "marker-end": "url(#arrow)" }),
        s("text", { x: mx + [38, 0, -38][place], y: my + [0, -6, 0][place], class: "rate" }, says),
      ];
    }),
    corners.map(([x, y], place) =>
      s(
        "a",
        { href: `/players/${payoff.players[places[place]].id}` },
        s("text", { x, y: y + [-10, 20, 20][place], class: "corner" }, names[place]),
      ),
    ),
  );
}
