// When a page loads its data again because of events: soon, but not all the time while a busy league has many of them.
const SOON_MS = 800;
const CALM_MS = 5000; // between two loads because of events that report no trouble
let due = null; // the next load: {at, timer}
let loadedAt = 0;

/** Note that a load begins. */
export const noteLoad = () => {
  loadedAt = Date.now();
};

/** Call `load` soon; calmly: not so soon after the last one. Not while nobody sees the page. */
export function loadSoon(load, calmly = false) {
  const at = Math.max(Date.now() + SOON_MS, calmly ? loadedAt + CALM_MS : 0);
  if (due && due.at <= at) return;
  forgetLoad();
  const timer = setTimeout(() => {
    due = null;
    if (document.visibilityState === "visible") load();
  }, at - Date.now());
  due = { at, timer };
}

export function forgetLoad() {
  clearTimeout(due?.timer);
  due = null;
}
