// When a trial ends: of its budget of steps and its time limit the earlier one, or a strength that it reaches.
import { about, clockTime, duration, percent } from "./format.js";

/** Seconds that the trial has spent running, without its pauses. */
export const secondsUsed = ({ seconds_run: before = 0, running_since: since }, now = Date.now()) =>
  before + (since ? Math.max(0, (now - new Date(since)) / 1000) : 0);

/** How much of the budget is used, of its two limits the one that is nearer to its end; null without any. */
export function budgetUsed(trial, now = Date.now()) {
  const shares = [
    trial.budget_steps ? trial.steps / trial.budget_steps : null,
    trial.budget_seconds ? secondsUsed(trial, now) / trial.budget_seconds : null,
  ].filter((share) => share !== null);
  return shares.length ? Math.min(1, Math.max(...shares)) : null;
}

/** The limit that is reached first, as far as that is known: its seconds to come, and which one it is. */
export function firstLimit(trial, speed, now = Date.now()) {
  const time = trial.budget_seconds && trial.running_since ? Math.max(0, trial.budget_seconds - secondsUsed(trial, now)) : null;
  const steps = trial.budget_steps ? (speed?.seconds_left ?? null) : null;
  if (time === null && steps === null) return null;
  if (steps === null || (time !== null && time <= steps)) return { seconds: time, why: timeLimit(trial), isTime: true };
  return { seconds: steps, why: "budget of steps, at this speed", isTime: false };
}

const timeLimit = ({ budget_seconds: limit }) => `time limit ${duration(limit)}`;
/** The strength that ends the trial earlier, in words; nothing without one. */
export const targetText = ({ budget_until: until }) => (until ? `at ${percent(until.win_rate)} against ${until.opponent}` : "");

/** When a trial ends, in words: what to say first, what after it, and whether it is known to be bad. */
export function endText(trial, speed, now = Date.now()) {
  const target = targetText(trial);
  if (["paused", "pending"].includes(trial.status)) {
    const left = trial.budget_seconds
      ? `${duration(trial.budget_seconds - secondsUsed(trial, now))} of its ${timeLimit(trial)} are left`
      : "";
    return { value: "–", more: [`the trial is ${trial.status}`, left].filter(Boolean).join("; ") };
  }
  if (trial.status !== "running") return { value: "–", more: `the trial is ${trial.status}` };
  const first = firstLimit(trial, speed, now);
  const orTarget = target ? `, or ${target}` : "";
  if (first && first.seconds <= 0) return { value: "now", more: `${first.why} reached` };
  if (first) {
    const at = clockTime(new Date(now + 1000 * first.seconds), now);
    return { value: `in about ${about(first.seconds)}`, more: `at ${at} (${first.why})${orTarget}` };
  }
  if (trial.budget_steps)
    return { value: speed ? "not at this speed" : "not known yet", more: `budget of steps${orTarget}`, bad: Boolean(speed) };
  return target ? { value: target, more: "no other limit" } : { value: "no limit", more: "" };
}
