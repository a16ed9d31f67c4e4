// Whether a trial goes well, in one row: champion, gain, gate, tournament, time left, problems.
import { h } from "../core/dom.js";
import {
  about,
  duration,
  fixed,
  messageAndTrace,
  short,
  signed,
  since,
  speedText,
  versionLabel,
  versionName,
  whole,
} from "../core/format.js";
import { bar, term, versionLink } from "./widgets.js";

export function nowRow({ trial, overview }, speed) {
  const root = `/trials/${trial.id}`;
  return h(
    "ul",
    { class: "now", key: "glance", "aria-label": "Now" },
    [
      championTile(overview.champion, trial),
      gainTile(overview.gain),
      gateTile(overview.gates, root),
      tournamentTile(overview.tournaments, trial),
      endTile(trial, speed),
      problemsTile(overview, root),
    ].map(titled),
  );
}

/** A tile with its whole text on hover: its height is fixed, so very long words are cut. */
function titled(each) {
  const lines = [...each.children].map((part) => part.textContent);
  each.title = lines.filter(Boolean).join("\n");
  return each;
}

const tile = (key, title, value, more, tone) =>
  h("li", { key, "data-tone": tone }, h("h2", {}, term(title)), h("strong", {}, value), more ? h("small", {}, more) : null);

function championTile(champion, trial) {
  if (!champion) return tile("champion", "Champion", "none yet", "The first candidate that passes its gate becomes champion.");
  const name = versionName(champion.player, champion.number);
  const elsewhere = champion.trial_id === trial.id ? "" : "of another trial, ";
  return tile("champion", "Champion", versionLink(champion.version_id, name), `${elsewhere}for ${since(champion.since)}`);
}

function gainTile(gain) {
  const title = "Rating gained";
  if (!gain) return tile("gain", title, "not known yet", "Known when two versions of a player are rated.");
  const known = gain.low !== null;
  const better = known && gain.low > 0;
  const worse = known && gain.high < 0;
  const interval = known ? `95 %: ${signed(gain.low)} to ${signed(gain.high)}, at ` : "At ";
  const verdict = better ? "it improves" : worse ? "it gets worse" : "no certain change";
  return tile(
    "gain",
    title,
    `${signed(gain.per_million_steps)} Elo per million steps`,
    `${gain.player}: ${verdict}. ${interval}${short(gain.from_steps)} to ${short(gain.to_steps)} steps`,
    better ? "good" : worse ? "bad" : null,
  );
}

function gateTile(gates, root) {
  const [gate] = gates;
  if (!gate) return tile("gate", "Gate", "none under way", h("a", { href: `${root}/promotions` }, "Promotions"));
  const place = (gate.llr - gate.lower_bound) / (gate.upper_bound - gate.lower_bound);
  const share = Math.round(100 * Math.min(1, Math.max(0, place)));
  const bounds = `${fixed(gate.lower_bound)} (rejected) and ${fixed(gate.upper_bound)} (promoted)`;
  const label = `Log-likelihood ratio ${fixed(gate.llr)}, between ${bounds}`;
  return h(
    "li",
    { key: "gate" },
    h("h2", {}, term("Gate")),
    h(
      "strong",
      {},
      h(
        "a",
        { href: `${root}/promotions?gate=${gate.id}` },
        `${versionLabel(gate.candidate)} against ${versionLabel(gate.champion ?? "nobody")}`,
      ),
    ),
    h("div", { class: "bounds", role: "img", "aria-label": label, title: label }, h("span", { style: `left:${share}%` })),
    h("small", {}, `LLR ${fixed(gate.llr)} of ${fixed(gate.lower_bound)} … ${fixed(gate.upper_bound)}, ${whole(gate.pairs)} pairs`),
    gates.length > 1 ? h("small", {}, `${gates.length - 1} more wait`) : null,
  );
}

function tournamentTile(tournaments, trial) {
  const [one] = tournaments;
  const all = `/tournaments?project=${encodeURIComponent(trial.project)}&trial=${trial.id}&origin=all`;
  if (!one) return tile("tournament", "Tournament", "none under way", h("a", { href: all }, "Tournaments"));
  return h(
    "li",
    { key: "tournament" },
    h("h2", {}, "Tournament"),
    h("strong", {}, h("a", { href: `/tournaments/${one.id}` }, one.name)),
    bar(one.pairings_played, one.pairings_known, `Pairings of ${one.name} played`),
    h("small", {}, `${whole(one.pairings_played)} of ${whole(one.pairings_known)} pairings`),
  );
}

function endTile(trial, speed) {
  if (trial.finished_at) return tile("end", "Ended", `${since(trial.finished_at)} ago`, `the trial is ${trial.status}`);
  if (trial.status !== "running") return tile("end", "Ends", "–", `the trial is ${trial.status}`);
  const made = speed ? `${speedText(speed)} over the last ${duration(speed.measured_seconds)}` : "";
  if (!trial.budget_steps) return tile("end", "Ends", "no budget of steps", made);
  if (!speed?.seconds_left) return tile("end", "Ends", speed ? "not at this speed" : "not known yet", made, speed ? "bad" : null);
  return tile("end", "Ends", `in about ${about(speed.seconds_left)}`, made);
}

function problemsTile({ problems_last_hour: count, newest_problem: newest }, root) {
  const last = newest ? `The last one ${since(newest.at)} ago` : "none so far";
  const value = h("a", { href: `${root}/problems` }, count ? `${whole(count)} in the last hour` : "none in the last hour");
  return tile("problems", "Problems", value, last, count ? "bad" : "good");
}

/** What keeps a trial from going on, in words, or that nothing does. Both take the same place, so that nothing below moves. */
export function troubleStrip(trial, troubles = []) {
  const isBad = troubles.length > 0;
  return h(
    "section",
    { class: "troubles", key: "troubles", "aria-label": "Trouble now", role: isBad ? "alert" : null, "data-tone": isBad ? "bad" : null },
    isBad ? troubleList(trial, troubles) : h("p", { class: "quiet" }, calmText(trial)),
  );
}

/** The first trouble in the strip; all of them, whole, over the page on request. */
function troubleList(trial, troubles) {
  const more = troubles.length > 1 ? ` (and ${troubles.length - 1} more)` : "";
  return h(
    "details",
    {},
    h("summary", { title: troubles.join("\n\n") }, h("strong", {}, `In trouble now${more}: `), messageAndTrace(troubles[0]).message),
    h(
      "ul",
      {},
      troubles.map((text) => h("li", { key: text }, messageAndTrace(text).message)),
      h("li", { key: "all" }, h("a", { href: `/trials/${trial.id}/problems` }, "All problems so far")),
    ),
  );
}

function calmText({ status, status_reason: reason }) {
  if (["running", "pending"].includes(status)) return "✓ Nothing is in trouble now.";
  return `The trial is ${status}${reason ? `: ${messageAndTrace(reason).message}` : ""}.`;
}
