// Facts about a trial: its generations under way, outcome, budget and details.
import { h } from "../core/dom.js";
import { about, duration, fixed, humanize, percent, short, since, speedText, versionName, whole } from "../core/format.js";
import { problemOf } from "../core/parts.js";
import { endText, secondsUsed } from "../core/trial_end.js";
import { bar, facts, time, versionLink } from "./widgets.js";

export const OVER = ["stopped", "completed", "failed"];
export const LEARNS = ["main", "main_exploiter", "league_exploiter"];
const CREW = "A crew: the processes that play and train one generation, on CPUs that Ray reserves for them.";
const MOST = 6; // generations under way that are shown, always as many, so that nothing moves

export function standing({ trial, overview, players, ratings }) {
  const { champion } = overview;
  const [best] = ratings; // the API sorts by rating
  const count = (roles) => players.filter((player) => roles.includes(player.role)).length;
  const took = trial.started_at && trial.finished_at ? (new Date(trial.finished_at) - new Date(trial.started_at)) / 1000 : null;
  return [
    OVER.includes(trial.status) ? null : h("p", {}, `No generation is running: the trial is ${trial.status}.`),
    facts([
      [
        "Best rated",
        best
          ? [versionLink(best.version_id, versionName(best.player, best.number)), ` at ${fixed(best.value, 0)} Elo`]
          : problemOf(ratings)
            ? "not known"
            : "no rating games yet",
      ],
      ["Duration", took === null ? null : duration(took)],
      ["Average speed", took && trial.steps ? averageSpeed(trial, took) : null],
      ["Learning players", whole(count(LEARNS))],
      ["Snapshots", whole(count(["historical"]))],
      [
        "Next",
        trial.status === "paused"
          ? "Resume to continue training."
          : OVER.includes(trial.status) && champion
            ? h("a", { href: `/play/${champion.version_id}` }, "Play against the champion")
            : null,
      ],
    ]),
  ];
}

/** Over the time that the trial ran; one of an older release, of which that is not known, over all its time. */
const averageSpeed = ({ steps, seconds_run: ran }, took) =>
  `${whole(steps / (ran || took))} steps/s${ran && took - ran > 60 ? ", without pauses" : ""}`;

/** The learning players, those at work first; of very many only the first. */
export function underWay(learning, { state }, behind = []) {
  const live = new Map((state.progress?.generations ?? []).map((each) => [each.player_id, each]));
  const working = (player) => (live.get(player.id)?.steps ? 0 : live.has(player.id) ? 1 : 2);
  const shown = learning.length > MOST ? [...learning].sort((a, b) => working(a) - working(b)).slice(0, MOST) : learning;
  const left = learning.length - shown.length;
  const atWork = learning.filter((player) => working(player) === 0).length;
  return [
    h(
      "ul",
      { class: "underway" },
      shown.map((player) => generation(player, live.get(player.id), behind)),
    ),
    left ? h("p", { class: "quiet" }, `and ${whole(left)} more learning players; ${whole(atWork)} of all are at work`) : null,
  ];
}

/** What a generation waits for, and the other trials that have the crews now. */
function waitText(reason, behind = []) {
  if (!reason.includes("crew")) return ` · waits for ${reason}`;
  // a train worker names them in its reason; and whoever has a crew already waits for nobody
  const others = reason.startsWith("a crew") && !reason.includes(" behind ") ? behind : [];
  return h("span", { title: CREW }, ` · waits for ${reason}${others.length ? `; crews are used by ${others.join(", ")}` : ""}`);
}

function generation(player, now, behind) {
  const { steps, target, steps_per_second: speed, waiting } = now ?? {};
  const said = h(
    "small",
    {},
    `generation ${now?.generation ?? player.generation + 1}`,
    now?.attempt > 1 ? ` · attempt ${now.attempt}` : "",
    target ? ` · ${short(steps ?? 0)} of ${short(target)} steps` : waiting ? "" : waitText("a crew"),
    target && speed ? h("span", { title: "the speed of this player alone, while it has its turn" }, ` · ${short(speed)} steps/s`) : "",
    waiting ? waitText(waiting, behind) : "",
  );
  said.dataset.key = said.textContent; // new words, none of which has moved
  return h(
    "li",
    { key: player.id },
    h(
      "div",
      { class: "title" },
      h("strong", {}, h("a", { href: `/players/${player.id}` }, player.name)),
      h("small", {}, humanize(player.role)),
    ),
    bar(steps ?? 0, target ?? 1, `${player.name}: generation under way`),
    said,
  );
}

const timeShare = (trial) => Math.min(1, secondsUsed(trial) / trial.budget_seconds);

function endSentence(trial, speed) {
  const { value, more } = endText(trial, speed);
  if (value === "–") return more;
  return more ? `${value}: ${more}` : value;
}

export function budget({ trial }, speed) {
  const limits = trial.spec.budget ?? {};
  const left = limits.steps ? Math.max(0, limits.steps - trial.steps) : null;
  const pace = speed?.seconds_left ? `, about ${about(speed.seconds_left)} at this speed` : "";
  return [
    limits.steps ? bar(trial.steps, limits.steps, "Step budget used") : null,
    limits.wall_clock ? bar(secondsUsed(trial), trial.budget_seconds, "Time limit used") : null,
    facts([
      ["Steps", `${whole(trial.steps)}${limits.steps ? ` of ${whole(limits.steps)} (${percent(trial.steps / limits.steps)})` : ""}`],
      ["Left", left === null ? null : `${whole(left)} steps${pace}`],
      ["Speed", speed ? `${speedText(speed)} over the last ${duration(speed.measured_seconds)}` : null],
      [
        "Time limit",
        limits.wall_clock
          ? [
              `${duration(secondsUsed(trial))} of ${duration(trial.budget_seconds)} used, without pauses (${percent(timeShare(trial))})`,
              h("small", {}, ". Time when the installation was down counts."),
            ]
          : null,
      ],
      ["Ends", trial.finished_at ? null : endSentence(trial, speed)],
      ["Target", limits.until ? `${percent(limits.until.win_rate)} against ${limits.until.opponent}` : null],
      ["Started", trial.started_at ? [time(trial.started_at), trial.finished_at ? "" : ` (${since(trial.started_at)} ago)`] : null],
      ["Ended", trial.finished_at ? time(trial.finished_at) : null],
    ]),
  ];
}

/** What only a second look needs: where it comes from, commit, seed, file. */
export function details(trial) {
  const origin = trial.forked_from_trial_id;
  return [
    facts([
      [
        "Forked from",
        origin
          ? [
              h("a", { href: `/trials/${origin}` }, `commit ${trial.forked_at_commit}`),
              " · ",
              h("a", { href: `/compare?trials=${origin},${trial.id}` }, "compare with it"),
            ]
          : null,
      ],
      ["Commit", whole(trial.last_commit)],
      ["Seed", h("code", {}, trial.seed)],
    ]),
    h("details", {}, h("summary", {}, "Trial file with defaults"), h("pre", { tabindex: 0 }, JSON.stringify(trial.spec, null, 2))),
  ];
}
