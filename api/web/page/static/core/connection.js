// Whether the page is up to date: the event stream, and the parts of the installation that do not work.
import { get, session } from "./api.js";
import { h, patchChildren } from "./dom.js";
import { moment } from "./format.js";

const EVERY_MS = 10_000;
const known = { connected: null, staleSince: null, silent: [] };
let changed = () => {};

/** Whether something of the installation is amiss, whatever is on display. */
export const amiss = () => known.connected === false || known.silent.length > 0;

/** Called with true when the stream opens or the API answers, and with false when it breaks. */
export function setConnected(connected) {
  if (connected === known.connected) return;
  known.connected = connected;
  known.staleSince = connected ? null : (known.staleSince ?? new Date());
  show();
}

/** Forget everything: nobody is signed in. */
export function resetConnection() {
  Object.assign(known, { connected: null, staleSince: null, silent: [] });
  show();
}

/** Ask every few seconds which parts do not work, while the page is visible; `onChange` after every difference. */
export function watchParts(onChange) {
  changed = onChange;
  setInterval(() => session.user && document.visibilityState === "visible" && askForParts(), EVERY_MS);
}

export async function askForParts() {
  try {
    const { parts } = await get("/system/silent");
    if (JSON.stringify(parts) === JSON.stringify(known.silent)) return;
    known.silent = parts;
    show();
  } catch (problem) {
    if (!problem.status || problem.status >= 500) setConnected(false);
  }
}

function show() {
  const place = document.getElementById("connection");
  place.dataset.ok = known.connected === null ? "" : String(!amiss());
  patchChildren(place, [h("span", {}, text())]);
  changed();
}

function text() {
  if (known.connected === null) return [];
  if (!known.connected) return `○ stale since ${moment(known.staleSince).replace(/:\d\d$/, "")}, reconnecting …`;
  if (!known.silent.length) return "● live";
  const names = known.silent.map((part) => part.name).join(", ");
  const title = known.silent.map((part) => `${part.name}: ${part.problem}`).join("\n");
  return ["▲ ", h("a", { href: "/system", title }, `not working: ${names}`)];
}
