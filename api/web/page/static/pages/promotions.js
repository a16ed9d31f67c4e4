// Gates with the path of their log-likelihood ratio, and the history of each alias.
import { get, getAll, hasScope, post, send } from "../core/api.js";
import { chart, prefetchCharts } from "../charts/line_charts.js";
import { colour, seriesColours } from "../charts/colours.js";
import { ask, toast } from "../components/dialog.js";
import { h } from "../core/dom.js";
import { fixed, gateReason, gateStatus, percent, versionName, whole, humanize } from "../core/format.js";
import { part, problemOf } from "../core/parts.js";
import { readStrangers, trialName } from "../core/strangers.js";
import { badge, card, empty, facts, orProblem, problemWith, table, time, versionLink, versionSeenFrom } from "../components/widgets.js";
import { gateNote, historyTable, panelTable, probeFacts } from "../components/gate_parts.js";
import { trialFrame } from "../components/trial_frame.js";

export const enter = prefetchCharts;
export const title = ({ trial }) => `Promotions of ${trial.name}`;
export const trialOf = (context) => context.parameters.trial;
export const onEvent = (event) => /^(gate|alias|trial)\./.test(event.type);

export async function load({ parameters, query }) {
  const root = `/trials/${parameters.trial}`;
  const trial = await get(root);
  const project = `/projects/${encodeURIComponent(trial.project)}/aliases`;
  const [gates, aliases, versions] = await Promise.all([
    part(getAll(`${root}/gates`, {}, { maximum: 200 })),
    part(getAll(project)),
    part(getAll(`${root}/versions`, {}, { maximum: 5000 })),
  ]);
  const mine = aliases.filter((alias) => alias.game === trial.game);
  const chosen = query.gate || gates[0]?.id;
  const [gate, ...histories] = await Promise.all([
    chosen ? get(`/gates/${chosen}`).catch((problem) => ({ missing: problem.message })) : null,
    ...mine.map((alias) => part(getAll(`${project}/${alias.name}/history`, { game: alias.game }, { maximum: 200 }))),
  ]);
  const names = new Map(versions.map((each) => [each.id, versionName(each.player, each.number)]));
  const strangers = await readStrangers(
    [
      ...mine.map((alias) => alias.version_id),
      ...histories.flat().flatMap((move) => [move.to_version_id, move.from_version_id]),
      ...[gate ?? {}, ...gates].flatMap((each) => [each.candidate_version_id, each.champion_version_id]),
    ].filter((id) => id && !names.has(id)), // of another trial of the project, or older than those that were read
  );
  const home = gate?.trial_id && gate.trial_id !== trial.id ? await trialName(gate.trial_id) : null;
  const held = mine.map((alias, place) => ({ ...alias, moves: histories[place] }));
  return { trial, gates, gate, home, names, strangers, versions, known: aliases, aliases: held };
}

export function view(data, context) {
  const { trial, gate, aliases } = data;
  const name = (id) => {
    if (!id) return "–";
    const stranger = data.strangers.get(id);
    return stranger ? versionSeenFrom(trial.id, stranger) : versionLink(id, data.names.get(id) ?? "another version");
  };
  return trialFrame(
    trial,
    context,
    aliases.map((alias) =>
      h(
        "section",
        { class: "card", key: `alias ${alias.name}`, "aria-label": alias.name },
        h(
          "div",
          { class: "title" },
          h("h2", {}, `${alias.name}: `, name(alias.version_id)),
          hasScope("operator") &&
            h(
              "div",
              { class: "row" },
              h("button", { class: "plain", onclick: () => promote(trial, alias, context) }, "Promote manually"),
              alias.moves.length > 1 && h("button", { class: "plain", onclick: () => rollBack(trial, alias, context) }, "Roll back"),
            ),
        ),
        orProblem(alias.moves, () => historyTable(alias, trial, name, data.strangers)),
      ),
    ),
    problemOf(data.known) && h("div", { key: "unknown" }, card("Champion", orProblem(data.known))),
    problemOf(data.versions) && h("div", { key: "unnamed" }, problemWith("Some names of versions", data.versions)),
    !aliases.length &&
      !problemOf(data.known) &&
      h(
        "section",
        { class: "card", key: "none" },
        h("h2", {}, "No champion yet"),
        h("p", { class: "quiet" }, "A snapshot of the main player becomes champion when it passes a gate or is promoted manually."),
        hasScope("operator") &&
          h("button", { class: "plain", onclick: () => promote(trial, { name: "champion", version_id: "" }, context) }, "Promote manually"),
      ),
    gate ? gateNote(gate, trial, data.home) : null,
    gate && !gate.missing
      ? h("div", { class: "beside", key: "gate" }, card("Log-likelihood ratio", llrPath(gate)), gateFacts(gate, name, context))
      : null,
    gate?.settings?.panel?.members ? h("div", { key: "panel" }, card("Panel", panelTable(gate.settings.panel.members))) : null,
    gate?.settings?.probe?.candidate ? h("div", { key: "probe" }, card("Probe", probeFacts(gate))) : null,
    gateList(data, gate, name),
  );
}

function gateList({ trial, gates }, gate, name) {
  if (problemOf(gates)) return h("div", { key: "gates" }, card("Gates", orProblem(gates)));
  if (gates.length) return h("div", { key: "gates" }, card("Gates", gateTable(gates, gate, name)));
  return empty(
    "No gates yet",
    trial.spec.league?.champion_gate
      ? "A gate opens when a snapshot of the main player is taken."
      : "This trial has no champion_gate in its file.",
  );
}

const gateTable = (gates, gate, name) =>
  table(
    "Gates",
    [
      [
        "Opened",
        (each) => h("a", { href: `?gate=${each.id}`, "aria-current": each.id === gate?.id ? "true" : null }, time(each.created_at)),
      ],
      ["Candidate", (each) => name(each.candidate_version_id)],
      ["Champion", (each) => name(each.champion_version_id)],
      ["Status", (each) => badge(gateStatus(each.status))],
      ["Pairs", (each) => whole(each.pairs), "number"],
      ["LLR", (each) => fixed(each.llr), "number"],
      ["Reason", (each) => gateReason(each.status_reason ?? "–"), "long"],
    ],
    gates,
    (each) => each.id,
  );

function llrPath(gate) {
  let pairs = 0;
  const championBatches = gate.path.slice(0, gate.settings.panel?.after_batch ?? gate.path.length);
  const points = championBatches.map((point) => [(pairs += point.pairs), point.llr]);
  if (!points.length)
    return h(
      "p",
      { class: "quiet" },
      gate.champion_version_id ? "No games yet." : "The first champion has no opponent to be tested against.",
    );
  const level = (value, name, tint) => ({
    type: "scatter",
    mode: "lines",
    name,
    x: [0, points.at(-1)[0]],
    y: [value, value],
    line: { color: tint, dash: "dash", width: 1.5 },
    hovertemplate: `${name} at ${fixed(value)}<extra></extra>`,
  });
  return chart(
    "llr",
    `Path of the log-likelihood ratio, ${fixed(gate.lower_bound)} to ${fixed(gate.upper_bound)}, now ${fixed(gate.llr)}`,
    () => ({
      data: [
        level(gate.upper_bound, "promoted", seriesColours()[2]),
        level(gate.lower_bound, "refused", seriesColours()[1]),
        {
          type: "scatter",
          mode: "lines+markers",
          name: "LLR",
          x: [0, ...points.map((point) => point[0])],
          y: [0, ...points.map((point) => point[1])],
          line: { color: colour("--ink"), width: 2 },
          hovertemplate: "%{x} pairs: LLR %{y:.2f}<extra></extra>",
        },
      ],
      layout: { uirevision: gate.id, xaxis: { title: { text: "pairs of games" }, rangemode: "tozero" }, yaxis: { title: { text: "LLR" } } },
    }),
    [gate.id, points.length],
    { height: 400 },
  );
}

function gateFacts(gate, name, context) {
  const total = gate.pentanomial.reduce((sum, count) => sum + count, 0);
  const score = gate.pentanomial.reduce((sum, count, place) => sum + (count * place) / 4, 0) / (total || 1);
  return h(
    "section",
    { class: "card", "aria-label": "Evidence" },
    h(
      "div",
      { class: "title" },
      h("h2", {}, "Evidence"),
      hasScope("operator") &&
        ["waiting", "running"].includes(gate.status) &&
        h("button", { class: "plain", onclick: () => stopGate(gate, context) }, "Stop the gate"),
    ),
    facts([
      ["Status", badge(gateStatus(gate.status))],
      ["Reason", gate.status_reason ? gateReason(gate.status_reason) : null],
      ["Candidate", name(gate.candidate_version_id)],
      ["Champion", name(gate.champion_version_id)],
      ["Pairs", `${whole(gate.pairs)} of at most ${whole(gate.max_pairs)}`],
      ["Score", total ? percent(score, 1) : null],
      ["Pairs by score", total ? pentanomial(gate.pentanomial) : null],
      ["Elo", `${gate.elo0} is not enough, ${gate.elo1} is (${gate.model})`],
      ["Bounds", `${fixed(gate.lower_bound)} refuses, ${fixed(gate.upper_bound)} promotes`],
      ["Error rates", `α ${gate.alpha.toPrecision(2)}, β ${gate.beta.toPrecision(2)}`],
      ["Games", h("a", { href: `/trials/${gate.trial_id}/matches?gate=${gate.id}` }, "recorded games")],
    ]),
  );
}

/** Pairs of games by the candidate's score in both games. */
function pentanomial(counts) {
  const most = Math.max(...counts);
  return h(
    "ol",
    { class: "columns", "aria-label": "Pairs by the candidate's score" },
    counts.map((count, place) =>
      h(
        "li",
        { key: place },
        h("span", { class: "number" }, whole(count)),
        h("span", { class: "column", style: `height:${((3 * count) / most).toFixed(2)}rem` }),
        h("span", {}, ["0", "¼", "½", "¾", "1"][place]),
      ),
    ),
  );
}

async function promote(trial, alias, context) {
  const said = await ask({
    title: `Promote a version to ${alias.name}`,
    action: "Promote",
    text: "The change is recorded with its reason and can be rolled back.",
    fields: [
      {
        name: "version_id",
        label: "Version id",
        value: context.query.version ?? "",
        required: true,
        pattern: "[0-9a-f\\-]{36}",
        hint: "each version's page shows its id",
      },
      { name: "reason", label: "Reason", required: true, maxlength: 500 },
    ],
    perform: (values) => send("PUT", `/projects/${encodeURIComponent(trial.project)}/aliases/${alias.name}`, values),
  });
  if (said) toast(`${humanize(alias.name)} moved.`);
  await context.refresh();
}

async function rollBack(trial, alias, context) {
  const said = await ask({
    title: `Roll ${alias.name} back?`,
    action: "Roll back",
    danger: true,
    text: "The alias moves back to its previous version.",
    fields: [{ name: "reason", label: "Reason", value: "rolled back by an operator", required: true, maxlength: 500 }],
    perform: (values) =>
      post(`/projects/${encodeURIComponent(trial.project)}/aliases/${alias.name}/rollback?game=${encodeURIComponent(alias.game)}`, values),
  });
  if (said) toast(`${humanize(alias.name)} was rolled back.`);
  await context.refresh();
}

async function stopGate(gate, context) {
  const said = await ask({
    title: "Stop the gate?",
    action: "Stop",
    danger: true,
    text: "The gate ends without a decision and does not pass.",
    fields: [{ name: "reason", label: "Reason", value: "stopped by an operator", required: true, maxlength: 500 }],
    perform: (values) => post(`/gates/${gate.id}/stop`, values),
  });
  if (said) toast("The gate is stopping.");
  await context.refresh();
}
