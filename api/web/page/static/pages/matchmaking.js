// Opponent probabilities of each learning player, and the decision behind each generation.
import { get, getAll } from "../core/api.js";
import { h } from "../core/dom.js";
import { percent, versionName, humanize } from "../core/format.js";
import { mixtureMap, namedDecision, sumNote } from "../core/mixtures.js";
import { termsOf } from "../core/matchmaking_terms.js";
import { heatMap } from "../charts/heat_map.js";
import { card, empty, facts, pick, shares, table, term, time, versionLink } from "../components/widgets.js";
import { trialFrame } from "../components/trial_frame.js";

const REMEMBERED = 40; // generations whose mixtures are drawn
const MOST_ATTEMPTS = 100; // of one generation
export const title = ({ trial }) => `Matchmaking of ${trial.name}`;
export const trialOf = (context) => context.parameters.trial;
export const onEvent = (event) => ["generation.recorded", "player.added", "player.retired", "trial.status"].includes(event.type);

export async function load({ parameters, query }) {
  const root = `/trials/${parameters.trial}`;
  const [trial, players] = await Promise.all([get(root), getAll(`${root}/players`)]);
  const learning = players.filter((player) => !["historical", "bot"].includes(player.role));
  const chosen = learning.find((player) => player.id === query.player) ?? learning[0];
  const plans = (which) => (chosen ? get(`${root}/decisions`, { kind: "matchmaking", player_id: chosen.id, ...which }) : { items: [] });
  const [asked, before] = await Promise.all([
    query.generation ? plans({ generation: query.generation, limit: MOST_ATTEMPTS }) : null,
    plans({ limit: REMEMBERED }),
  ]);
  const decision = asked ? namedDecision(asked.items, query.attempt) : before.items[0];
  const from = decision?.evidence.plan?.version ? await get(`/versions/${decision.evidence.plan.version}`) : null;
  return { trial, players, learning, chosen, decision, from, before: before.items };
}

export function view({ trial, players, learning, chosen, decision, from, before }, context) {
  if (!chosen) return trialFrame(trial, context, empty("No learning players", "Matchmaking applies to learning players."));
  const names = new Map(players.map((player) => [player.id, player]));
  return trialFrame(
    trial,
    context,
    h(
      "div",
      { class: "filters", key: "filters" },
      pick(
        "Player",
        "player",
        learning.map((player) => [player.id, player.name]),
        chosen.id,
        (value) => context.setQuery({ player: value, generation: "", attempt: "" }),
      ),
      generations(chosen, decision, context),
    ),
    before.length > 1 ? history(before, names, decision, context) : null,
    decision
      ? why(decision, names, from, trial.spec.league?.matchmaking?.power)
      : empty("Not decided yet", "The opponents of a generation are sampled when it starts."),
  );
}

function generations(chosen, decision, context) {
  const now = decision?.generation ?? chosen.generation;
  const step = (change) =>
    h(
      "button",
      {
        class: "plain",
        "aria-label": change < 0 ? "Previous generation" : "Next generation",
        disabled: now + change < 1 || now + change > chosen.generation + 1,
        onclick: () => context.setQuery({ generation: now + change, attempt: "" }),
      },
      change < 0 ? "‹" : "›",
    );
  return h(
    "div",
    { class: "row" },
    step(-1),
    h(
      "label",
      { class: "pick" },
      "Generation ",
      h("input", {
        type: "number",
        min: 1,
        max: chosen.generation + 1,
        value: now,
        onchange: (event) => context.setQuery({ generation: event.target.value, attempt: "" }),
      }),
    ),
    step(1),
    context.query.generation
      ? h("button", { class: "plain", onclick: () => context.setQuery({ generation: "", attempt: "" }) }, "Latest")
      : null,
  );
}

/** Opponent probabilities over generations, those of the chosen generation first. */
function history(decisions, names, shown, context) {
  const { columns, chosen, rows, left } = mixtureMap(decisions, shown);
  const name = (id) => names.get(id)?.name ?? id.slice(0, 8);
  if (!rows.length) return null;
  return h(
    "section",
    { class: "card", key: "history", "aria-label": "Opponents over generations" },
    h("h2", {}, "Opponents over generations"),
    heatMap("mixture", `Probabilities of ${rows.length} opponents over ${columns.length} plans of generations`, {
      rows: rows.map(name),
      columns: columns.map((each) => each.name),
      isMass: true,
      chosen: chosen < 0 ? null : [null, chosen],
      of: [decisions[0].id, decisions.length, shown?.id],
      rate: (row, at) => columns[at].met.get(rows[row]) ?? null,
      note: (row, at) => [`generation ${columns[at].name}`, name(rows[row]), percent(columns[at].met.get(rows[row]) ?? 0, 1)],
      pick: (_, at) => context.setQuery({ generation: columns[at].generation, attempt: columns[at].attempt }),
    }),
    h(
      "p",
      { class: "quiet" },
      "A stronger colour is a higher probability. Click a generation to see its decision.",
      chosen < 0 ? "" : ` The opponents of generation ${columns[chosen].name} come first, by their share.`,
      left ? ` ${left} other opponent${left === 1 ? " has" : "s have"} no row.` : "",
    ),
  );
}

function why(decision, names, from, power) {
  const { evidence } = decision;
  const opponents = [...(evidence.plan?.opponents ?? [])].sort((a, b) => b.probability - a.probability);
  const name = (id) => names.get(id)?.name ?? id.slice(0, 8);
  return h(
    "div",
    { key: "why" }, // the formulas need the whole width
    h(
      "div",
      { key: "opponents" },
      card(
        "Opponents",
        table(
          "Opponents and their probabilities",
          [
            ["Opponent", (each) => versionLink(each.version, name(each.player))],
            ["Role", (each) => humanize(names.get(each.player)?.role ?? "–")],
            [
              "Probability",
              (each) =>
                h(
                  "span",
                  { class: "share" },
                  h("span", { class: "track" }, h("span", { class: "filled", style: `width:${each.probability * 100}%` })),
                  h("b", {}, percent(each.probability, 1)),
                ),
            ],
            ["Win rate at the time", (each) => percent(each.win_rate, 1), "number"],
            ["Branch", (each) => each.branch.split("+").map((branch, at) => [at ? " + " : "", term(humanize(branch))])],
            [
              "How it follows",
              (each) => termsOf(each.player, each.win_rate, evidence.branches ?? [], power).map((line) => h("div", {}, line)),
              "formula",
            ],
          ],
          opponents,
          (each) => `${each.version} ${each.branch}`,
        ),
        opponents.length ? h("p", { class: "quiet" }, sumNote(opponents)) : null,
      ),
    ),
    h(
      "div",
      { class: "grid", key: "decision" },
      card(
        "Decision",
        facts([
          ["Rule", humanize(decision.verdict)],
          ["Reason", humanize(decision.reason)],
          ["Generation", `${decision.generation}, attempt ${decision.attempt}`],
          ["Payoff used", evidence.payoff_revision === undefined ? null : `as of commit ${evidence.payoff_revision}`],
          ["Trained from", from ? versionLink(from.id, versionName(from.player, from.number)) : null],
          ["Decided at", time(decision.created_at)],
        ]),
      ),
      card(
        "Branches",
        shares(
          (evidence.branches ?? []).map((branch) => ({ key: branch.branch, name: term(humanize(branch.branch)), share: branch.mass })),
          "Branches and their mass",
        ),
      ),
    ),
    h(
      "details",
      { class: "card", key: "record" },
      h("summary", {}, "Full record"),
      h("pre", { tabindex: 0 }, JSON.stringify(evidence, null, 2)),
    ),
  );
}
