// The tab of the browser: its title and icon say whether what is on display runs, is paused, or is in trouble.
import { amiss } from "./connection.js";

const MARKS = { running: "▶ ", paused: "⏸ ", trouble: "⚠ " };
const PAUSED = ["paused", "pausing"];
const RUNNING = ["running", "stopping", "pending"];

/** The state of a trial: trouble before all else; null where nothing goes on. */
export function stateOfTrial(trial, troubles = []) {
  if (trial.status === "failed" || troubles.length) return "trouble";
  if (PAUSED.includes(trial.status)) return "paused";
  return RUNNING.includes(trial.status) ? "running" : null;
}

export function showTab(title, state) {
  const shown = amiss() ? "trouble" : state;
  document.title = `${MARKS[shown] ?? ""}${title} · Lanista`;
  const icon = document.querySelector('link[rel="icon"]');
  const href = `/static/icons/${shown ?? "plain"}.svg`;
  if (icon.getAttribute("href") !== href) icon.setAttribute("href", href);
}
