// Whether a trial goes well, in one row: champion, gain, gate, tournament, time left, problems.
import { h } from "../core/dom.js";
import { outcomeText } from "./failure_list.js";
import { endText } from "../core/trial_end.js";
import {
  counted,
  duration,
  fixed,
  messageAndTrace,
  properMinus,
  short,
  signed,
  since,
  speedText,
  versionLabel,
  versionName,
  whole,
} from "../core/format.js";
import { bar, ofTrial, term, versionLink } from "./widgets.js";

export function nowRow({ trial, overview, troubles = [] }, speed) {
  const root = `/trials/${trial.id}`;
  return h(
    "ul",
    { class: "now", key: "glance", "aria-label": "Now" },
    [
      championTile(overview.champion, trial),
      gainTile(overview.gain),
      gateTile(overview.gates, overview.last_gate, root),
      tournamentTile(overview.tournaments, trial),
      endTile(trial, speed),
      problemsTile(overview, troubles, root),
    ].map(titled),
  );
}

/**
 * A tile with its whole text on hover: its height is fixed, so very long words are cut. Below another headline everything
 * is new: it may have more lines, and would move what it kept.
 */
function titled(each) {
  const parts = [...each.children];
  each.title = parts
    .map((part) => part.textContent)
    .filter(Boolean)
    .join("\n");
  for (const [place, part] of parts.slice(1).entries()) part.dataset.key = `${place} ${parts[1].textContent}`;
  return each;
}

const tile = (key, title, value, more, tone) =>
  h("li", { key, "data-tone": tone }, h("h2", {}, term(title)), h("strong", {}, value), more ? h("small", {}, more) : null);

function championTile(champion, trial) {
  if (!champion) return tile("champion", "Champion", "none yet", "The first candidate that passes its gate becomes champion.");
  const name = versionName(champion.player, champion.number);
  const elsewhere = champion.trial_id === trial.id ? null : [ofTrial(champion.trial_id, champion.trial, "of "), ", "];
  return tile("champion", "Champion", versionLink(champion.version_id, name), [
    elsewhere,
    h("span", { class: "unbroken" }, `for ${since(champion.since)}`),
  ]);
}

function gainTile(gain) {
  const title = "Rating gained";
  if (!gain) return tile("gain", title, "not known yet", "Known when two versions of a player are rated.");
  const known = gain.low !== null;
  const better = known && gain.low > 0;
  const worse = known && gain.high < 0;
  const interval = known ? `95 %: ${signed(gain.low)} to ${signed(gain.high)}, from ` : "From ";
  const verdict = !known ? "interval not known" : better ? "it improves" : worse ? "it gets worse" : "no certain change";
  const amount = `${signed(gain.per_million_steps)} Elo per million steps`;
  const certain = !known || better || worse;
  return tile(
    "gain",
    title,
    certain ? amount : verdict,
    [
      gain.player_id ? h("a", { href: `/players/${gain.player_id}` }, gain.player) : gain.player,
      `: ${certain ? verdict : amount}. ${interval}${short(gain.from_steps)} to ${short(gain.to_steps)} steps`,
    ],
    better ? "good" : worse ? "bad" : null,
  );
}

/** The champion of a gate, with its trial where that is another one. */
const championOf = ({ champion, champion_trial: trial }) =>
  champion ? `${versionLabel(champion)}${trial ? ` of ${trial}` : ""}` : "nobody";

const ENDED = {
  passed: "passed and became champion",
  failed: "was refused",
  exhausted: "was not shown to be stronger in the games allowed",
  invalid: "was stopped without a verdict",
  superseded: "gave way to a newer candidate",
};

/** The bound that the evidence reached, and what that means. */
function plainReason(reason) {
  const [, verdict, numbers] = /^the gate (passed|failed): (LLR .*)$/.exec(reason) ?? [];
  if (!verdict) return reason.replace(/^the gate (passed|failed): /, "");
  return `${verdict === "passed" ? "stronger" : "not strong enough"} (${numbers})`;
}

/** How the gate that ended last ended, and, unless there is little room, why. */
function lastGate(last, root, brief = false) {
  if (!last) return brief ? null : h("a", { href: `${root}/promotions` }, "Promotions");
  const against = last.champion && !brief ? ` against ${championOf(last)}` : "";
  const why = last.reason && !brief ? `: ${plainReason(properMinus(last.reason))}` : "";
  return [
    h("a", { href: `${root}/promotions?gate=${last.id}` }, `${versionLabel(last.candidate)}${against}`),
    ` ${ENDED[last.status] ?? last.status}${last.at ? ` ${since(last.at)} ago` : ""}${why}`,
  ];
}

function gateTile(gates, last, root) {
  const [gate] = gates;
  if (!gate) return tile("gate", "Gate", "none under way", lastGate(last, root));
  const place = (gate.llr - gate.lower_bound) / (gate.upper_bound - gate.lower_bound);
  const share = Math.round(100 * Math.min(1, Math.max(0, place)));
  const bounds = `${fixed(gate.lower_bound)} (rejected) and ${fixed(gate.upper_bound)} (promoted)`;
  const label = `Log-likelihood ratio ${fixed(gate.llr)}, between ${bounds}`;
  return h(
    "li",
    { key: "gate" },
    h("h2", {}, term("Gate")),
    h("strong", {}, h("a", { href: `${root}/promotions?gate=${gate.id}` }, `${versionLabel(gate.candidate)} against ${championOf(gate)}`)),
    h("div", { class: "bounds", role: "img", "aria-label": label, title: label }, h("span", { style: `left:${share}%` })),
    h("small", {}, `LLR ${fixed(gate.llr)} of ${fixed(gate.lower_bound)} … ${fixed(gate.upper_bound)}, ${counted(gate.pairs, "pair")}`),
    gates.length > 1 ? h("small", {}, `${gates.length - 1} more wait`) : null,
    last ? h("small", {}, "Last: ", lastGate(last, root, true)) : null,
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
  const made = speed ? `${speedText(speed)} over the last ${duration(speed.measured_seconds)}` : "";
  const { value, more, bad } = endText(trial, speed);
  return tile("end", "Ends", value, [more, made].filter(Boolean).join(" · "), bad ? "bad" : null);
}

function problemsTile({ problems_last_hour: count, newest_problem: newest }, troubles, root) {
  const last = newest ? `The last one ${since(newest.at)} ago. ${outcomeText(newest)}` : "none so far";
  const value = h("a", { href: `${root}/problems` }, count ? `${whole(count)} in the last hour` : "none in the last hour");
  const isOver = Boolean(count) && !troubles.length;
  return tile("problems", "Problems", value, last, count ? (isOver ? null : "bad") : "good");
}

/** What keeps a trial from going on, in words, or that nothing does. Both take the same place, so that nothing below moves. */
export function troubleStrip(trial, troubles = [], unknown = undefined) {
  const isBad = troubles.length > 0;
  return h(
    "section",
    { class: "troubles", key: "troubles", "aria-label": "Trouble now", role: isBad ? "alert" : null, "data-tone": isBad ? "bad" : null },
    isBad ? troubleList(trial, troubles) : h("p", { class: "quiet" }, unknown ? unknownText(unknown) : calmText(trial)),
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

const unknownText = (problem) => `Whether anything is in trouble could not be read: ${problem}.`;

function calmText({ status, status_reason: reason }) {
  if (["running", "pending"].includes(status)) return "✓ Nothing is in trouble now.";
  return `The trial is ${status}${reason ? `: ${messageAndTrace(reason).message}` : ""}.`;
}
