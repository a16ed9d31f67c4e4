// The metrics that an explorer shows: named by the address, so that a link can be shared, and kept by the browser.
const KEPT = "lanista-pinned-metrics"; // for all trials: who looks at entropy looks at it in the next trial too
const FIRST = ["return_mean", "policy_loss", "value_loss", "entropy", "kl", "steps_per_second"];

/** The pinned metrics in order: those of the address, else those kept by the browser, else a first choice. */
export function pinnedMetrics(names, query) {
  const there = (wanted) => wanted.filter((name) => names.includes(name));
  if (query.pins !== undefined) return there(split(query.pins));
  const kept = there(split(localStorage.getItem(KEPT) ?? ""));
  const first = there(FIRST);
  return kept.length ? kept : first.length ? first : names.slice(0, 4);
}

/** Keep a choice in this browser; returns it as the address has it. */
export function keepPins(names) {
  const text = names.map(encodeURIComponent).join(",");
  localStorage.setItem(KEPT, text);
  return text || "none"; // an empty parameter would be left out of the address
}

const split = (text) =>
  text
    .split(",")
    .filter((part) => part && part !== "none")
    .map(decodeURIComponent);
