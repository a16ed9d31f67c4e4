// Trials side by side: ratings and metrics over steps and over time, what differs in their files, champions against each other.
import { get } from "../core/api.js";
import { chart, prefetchCharts } from "../charts/line_charts.js";
import { h } from "../core/dom.js";
import { duration, humanize, short, versionLabel } from "../core/format.js";
import { part, problemOf } from "../core/parts.js";
import { champions } from "../components/champion_games.js";
import { comparisonCsv, metricNames, metricTraces, ratingTraces, zeroOf } from "../components/comparison.js";
import { badge, card, empty, ofTrial, orProblem, pick, problemWith, table, versionLink } from "../components/widgets.js";
import { shortValue } from "./sweep.js";

const MOST = 50;
export const enter = prefetchCharts;
export const title = () => "Compare trials";
const SHOWN = [
  "alias.moved",
  "tournament.finished",
  "ratings.fitted",
  "trial.status",
  "trial.changed",
  "pairing.played",
  "generation.recorded",
];
export const onEvent = (event, { query }) => SHOWN.includes(event.type) && concerns(event, query);

export async function load({ query }) {
  const ids = idsOf(query);
  const [listed, compared, held] = await Promise.all([
    part(get("/trials", { limit: 100, archived: true }), { items: [] }),
    ids.length >= 2 ? part(get("/compare", { trial: ids, points: 300 }), {}) : null,
    query.tournament ? part(get(`/tournaments/${query.tournament}`), {}) : null,
  ]);
  return { listed, compared, held };
}

/** Whether an event is about a compared trial, the tournament on display, or the ratings of a whole project. */
function concerns({ type, trial_id: trial, payload }, query) {
  if (trial ? idsOf(query).includes(trial) : type === "ratings.fitted") return true;
  return Boolean(query.tournament) && payload.tournament_id === query.tournament;
}

const idsOf = (query) => [...new Set((query.trials ?? "").split(",").filter(Boolean))].slice(0, MOST);

export function view({ listed, compared, held }, context) {
  const ids = idsOf(context.query);
  return [
    h(
      "div",
      { class: "title", key: "title" },
      h("h1", {}, "Compare trials"),
      compared?.trials && h("button", { class: "plain", onclick: () => saveCsv(compared) }, "Save as CSV"),
    ),
    chooser(listed.items, ids, context),
    problemOf(listed) && h("div", { key: "listed" }, problemWith("The list of trials", listed)),
    ...(problemOf(compared)
      ? [h("div", { key: "compared" }, card("Comparison", orProblem(compared)))]
      : compared
        ? sections(compared, held, context)
        : [
            empty(
              "Choose two trials or more",
              "Add them above, or select them in the ",
              h("a", { href: "/trials?view=table" }, "table of trials"),
              ".",
            ),
          ]),
  ];
}

function chooser(known, ids, context) {
  const set = (wanted) => context.setQuery({ trials: wanted.join(","), tournament: "" });
  const others = known.filter((trial) => !ids.includes(trial.id));
  const named = new Map(known.map((trial) => [trial.id, trial]));
  const parents = ids.map((id) => named.get(id)?.forked_from_trial_id).filter((id) => id && !ids.includes(id));
  return h(
    "div",
    { class: "filters", key: "chooser" },
    pick(
      "Add a trial",
      "add",
      [["", "choose …"], ...others.map((trial) => [trial.id, `${trial.project}/${trial.name}`])],
      "",
      (id, select) => {
        select.value = ""; // else it shows the trial that moves up in the list, which could not be chosen
        if (id) set([...ids, id]);
      },
    ),
    parents.length > 0 &&
      h(
        "button",
        { class: "plain", onclick: () => set([...new Set([...parents, ...ids])]) },
        parents.length > 1 ? "Add parents" : "Add parent",
      ),
  );
}

function sections(compared, held, context) {
  const { by = "steps", metric } = context.query;
  const names = metricNames(compared.trials);
  const shown = names.includes(metric) ? metric : (["return_mean", "win_rate", "loss"].find((each) => names.includes(each)) ?? names[0]);
  const stamp = JSON.stringify(compared.trials.map((each) => [each.id, each.steps, each.rating_fit_id]));
  const rated = compared.trials.some((trial) => trial.ratings.length);
  const zeros = new Set(compared.trials.map((trial) => trial.rating_fit_id).filter(Boolean));
  return [
    h("div", { key: "facts" }, card("Trials", trialTable(compared.trials, context))),
    h(
      "div",
      { class: "filters", key: "axis" },
      pick(
        "Over",
        "by",
        [
          ["steps", "steps"],
          ["time", "time since each start"],
        ],
        by,
        (value) => context.setQuery({ by: value === "steps" ? "" : value }),
      ),
    ),
    h(
      "div",
      { class: "grid", key: "curves" },
      card(
        "Rating",
        rated
          ? [
              chart("compare-rating", `Ratings over ${by}`, () => ratingTraces(compared.trials, by), [stamp, by], {
                height: 320,
                names: 2 * compared.trials.length,
              }),
              zeros.size > 1
                ? h(
                    "p",
                    { class: "warning" },
                    "These ratings come from different fits, each with its own zero: compare the shapes, not the heights.",
                  )
                : zeroOf(compared.trials) && h("p", { class: "quiet" }, `Zero is ${zeroOf(compared.trials)}.`),
            ]
          : h("p", { class: "quiet" }, "No rating games yet."),
      ),
      card(
        "Metric",
        shown
          ? [
              pick(
                "Metric of the first main",
                "metric",
                names.map((name) => [name, humanize(name)]),
                shown,
                (value) => context.setQuery({ metric: value }),
              ),
              chart("compare-metric", `${shown} over ${by}`, () => metricTraces(compared.trials, shown, by), [stamp, by, shown], {
                height: 320,
                names: 2 * compared.trials.length,
              }),
            ]
          : h("p", { class: "quiet" }, "No metrics yet."),
      ),
    ),
    h("div", { key: "differences" }, card("What differs in the files", differences(compared))),
    h(
      "div",
      { key: "games" },
      card(
        "Champions against each other",
        champions(compared, problemOf(held) ? null : held, context),
        problemWith("The tournament", held),
      ),
    ),
  ];
}

function trialTable(trials, context) {
  const label = new Map(trials.map((trial) => [trial.id, trial.label]));
  const without = (id) => trials.map((trial) => trial.id).filter((each) => each !== id);
  return table(
    "Trials",
    [
      ["Trial", (trial) => [h("a", { href: `/trials/${trial.id}` }, trial.label), forkOf(trial, label)]],
      ["Status", (trial) => badge(trial.status)],
      ["Steps", (trial) => short(trial.steps), "number"],
      ["Time", (trial) => (trial.seconds.length ? duration(trial.seconds.at(-1)) : "–"), "number"],
      ["Newest rating (Elo)", (trial) => ratingText(trial.ratings.at(-1)), "number"],
      ["Plays for it", playsForIt],
      [
        "",
        (trial) =>
          trials.length > 2 &&
          h(
            "button",
            {
              class: "plain",
              "aria-label": `Leave out ${trial.label}`,
              onclick: () => context.setQuery({ trials: without(trial.id).join(",") }),
            },
            "✕",
          ),
      ],
    ],
    trials,
    (trial) => trial.id,
  );
}

const forkOf = (trial, label) =>
  trial.forked_from_trial_id
    ? h(
        "small",
        {},
        " fork of ",
        h("a", { href: `/trials/${trial.forked_from_trial_id}` }, label.get(trial.forked_from_trial_id) ?? "another trial"),
      )
    : null;
const STANDING = { champion: "the champion now", former: "its last champion", newest: "its newest version; it never had a champion" };

/** The version of the trial that is compared, what it is, and the champion that trials of a project share where that is another one. */
function playsForIt(trial) {
  if (!trial.champion_version_id) return "–";
  const { shared_champion: shared, shared_champion_version_id: id, shared_champion_trial_id: home } = trial;
  return [
    versionLink(trial.champion_version_id, versionLabel(trial.champion)),
    h("small", { class: "quiet" }, ` ${STANDING[trial.champion_is] ?? ""}`),
    shared && home !== trial.id
      ? h(
          "small",
          { class: "quiet" },
          "; the champion that its gates must beat is ",
          versionLink(id, versionLabel(shared)),
          ofTrial(home, trial.shared_champion_trial),
        )
      : null,
  ];
}
const ratingText = (point) =>
  !point ? "–" : `${Math.round(point.value)}${point.high === null ? "" : ` ± ${Math.round(point.high - point.value)}`}`;

function differences({ trials, differences: found }) {
  if (!found.length) return h("p", { class: "quiet" }, "Nothing: the files are the same.");
  const usual = (values) => {
    const texts = values.map((value) => JSON.stringify(value));
    return texts.toSorted((a, b) => texts.filter((each) => each === b).length - texts.filter((each) => each === a).length)[0];
  };
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": "Differences" },
    h(
      "table",
      { class: "differences" },
      h("caption", { class: "unseen" }, "Differences"),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col" }, "Field"),
          trials.map((trial) => h("th", { scope: "col" }, trial.label)),
        ),
      ),
      h(
        "tbody",
        {},
        found.map(({ path, values }) => {
          const common = trials.length > 2 ? usual(values) : JSON.stringify(values[0]);
          return h(
            "tr",
            { key: path },
            h("th", { scope: "row" }, path),
            values.map((value) =>
              h(
                "td",
                { class: JSON.stringify(value) === common ? null : "differs" },
                value === null ? "–" : h("code", {}, shortValue(value)),
              ),
            ),
          );
        }),
      ),
    ),
  );
}

function saveCsv(compared) {
  const file = URL.createObjectURL(new Blob([comparisonCsv(compared)], { type: "text/csv" }));
  Object.assign(document.createElement("a"), { href: file, download: "comparison.csv" }).click();
  setTimeout(() => URL.revokeObjectURL(file), 60_000);
}
