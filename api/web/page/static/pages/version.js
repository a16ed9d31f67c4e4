// A version: origin, weights, metrics, ancestors, games and aliases.
import { get, getAll, hasScope, send } from "../core/api.js";
import { chart, prefetchCharts } from "../charts/line_charts.js";
import { colour, seriesColours } from "../charts/colours.js";
import { ask, toast } from "../components/dialog.js";
import { h } from "../core/dom.js";
import { bytes, counted, day, fixed, versionName, whole, humanize } from "../core/format.js";
import { part, problemOf } from "../core/parts.js";
import { badge, card, facts, orProblem, table, time, versionLink } from "../components/widgets.js";
import { matchTable } from "../components/match_table.js";

const CURVES = ["value_loss", "entropy", "explained_variance", "kl"];
export const enter = prefetchCharts;
export const title = ({ version }) => versionName(version.player, version.number);
export const onEvent = (event, context) => event.trial_id === context.state.trial && /^(alias|ratings|gate\.finished)/.test(event.type);

export async function load(context) {
  const version = await get(`/versions/${context.parameters.version}`);
  context.state.trial = version.trial_id;
  const root = `/trials/${version.trial_id}`;
  const learner = version.lineage.find((each) => each.origin === "trained") ?? version; // a snapshot was trained as its player
  const [trial, ratings, games, metrics] = await Promise.all([
    get(root),
    part(getAll(`${root}/ratings`, {}, { maximum: 1000 })),
    part(get(`${root}/matches`, { version_id: version.id, limit: 25 }), { items: [] }),
    part(
      getAll(
        `${root}/metrics`,
        { player_id: version.origin === "snapshot" ? learner.player_id : version.player_id, points: 300 },
        { maximum: 100 },
      ),
    ),
  ]);
  return { version, trial, ratings, games, metrics };
}

export function view({ version, trial, ratings, games, metrics }, context) {
  const rating = ratings.find((each) => each.version_id === version.id);
  const download = version.pruned_at
    ? h("span", { class: "badge", title: `Retention gave up this checkpoint on ${day(version.pruned_at)}` }, "checkpoint pruned")
    : version.sha256 && h("a", { class: "button plain", href: `/api/v1/versions/${version.id}/checkpoint`, download: true }, "Download");
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
          h("a", { href: "/trials" }, "Trials"),
          " / ",
          h("a", { href: `/trials/${trial.id}` }, trial.name),
          " / ",
          h("a", { href: `/trials/${trial.id}/lineage` }, "Lineage"),
        ),
        h(
          "h1",
          {},
          versionName(version.player, version.number),
          " ",
          version.aliases.map((alias) => badge(alias)),
        ),
      ),
      h(
        "div",
        { class: "row" },
        version.damaged
          ? h("span", { class: "badge", "data-status": "problem", title: "The league found its file damaged" }, "checkpoint damaged")
          : h("a", { class: "button", href: `/play/${version.id}` }, "Play against it"),
        download,
        hasScope("operator") && h("button", { class: "plain", onclick: () => promote(version, trial, context) }, "Promote"),
      ),
    ),
    h(
      "div",
      { class: "grid", key: "grid" },
      card(
        "Version",
        facts([
          ["Player", h("a", { href: `/players/${version.player_id}` }, version.player)],
          ["Origin", humanize(version.origin)],
          ["Steps", whole(version.steps)],
          ["Commit", whole(version.commit)],
          ["Created", time(version.created_at)],
          [
            "Elo",
            problemOf(ratings)
              ? orProblem(ratings)
              : rating
                ? `${fixed(rating.value, 0)} (${fixed(rating.low, 0)} to ${fixed(rating.high, 0)}) in ${counted(rating.games, "game")}`
                : "not rated yet",
          ],
          ["Size", bytes(version.size)],
          ["SHA-256", version.sha256 ? h("code", { class: "hash" }, version.sha256) : "no weights"],
          ["Id", h("code", { class: "hash" }, version.id)],
        ]),
      ),
      card(
        "Training metrics",
        orProblem(metrics, () => curves(metrics, version)),
      ),
    ),
    h(
      "div",
      { key: "ancestors" },
      card(
        "Ancestors",
        version.lineage.length
          ? table(
              "Ancestors, nearest first",
              [
                ["Version", (each) => versionLink(each.id, versionName(each.player, each.number))],
                ["Origin", (each) => humanize(each.origin)],
                ["Steps", (each) => whole(each.steps), "number"],
                ["Created", (each) => time(each.created_at)],
              ],
              version.lineage.filter((each) => each.id !== version.id).slice(0, 50),
              (each) => each.id,
            )
          : h("p", { class: "quiet" }, "It has no ancestors."),
      ),
    ),
    h(
      "div",
      { key: "games" },
      card(
        "Games",
        orProblem(games, () =>
          games.items.length
            ? [
                matchTable(games.items, version.id),
                h("a", { href: `/trials/${trial.id}/matches?version=${version.id}` }, "All recorded games"),
              ]
            : h("p", { class: "quiet" }, "No recorded games. Gates and tournaments record their games."),
        ),
      ),
    ),
  ];
}

function curves(metrics, version) {
  const found = metrics.filter((line) => CURVES.includes(line.name));
  if (!found.length) return h("p", { class: "quiet" }, "It was not trained in this trial.");
  return chart(
    "curves",
    `Metrics of ${version.player} over steps`,
    () => ({
      data: found.map((line, place) => ({
        type: "scatter",
        mode: "lines",
        name: humanize(line.name),
        x: line.steps,
        y: line.values,
        line: { color: seriesColours()[place % 6], width: 2 },
      })),
      layout: {
        xaxis: { title: { text: "steps" } },
        shapes: [
          {
            type: "line",
            x0: version.steps,
            x1: version.steps,
            y0: 0,
            y1: 1,
            yref: "paper",
            line: { dash: "dot", width: 1.5, color: colour("--ink") },
          },
        ],
      },
    }),
    [metrics],
  );
}

async function promote(version, trial, context) {
  const said = await ask({
    title: `Promote ${versionName(version.player, version.number)}`,
    action: "Promote",
    fields: [
      { name: "alias", label: "To", value: "champion", required: true, pattern: "[a-z0-9][a-z0-9_\\-]{0,62}" },
      { name: "reason", label: "Reason", required: true, maxlength: 500 },
    ],
    perform: ({ alias, reason }) =>
      send("PUT", `/projects/${encodeURIComponent(trial.project)}/aliases/${alias}`, { version_id: version.id, reason }),
  });
  if (said) toast("Promoted.");
  await context.refresh();
}
