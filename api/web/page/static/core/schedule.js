// When a page loads its data again because of events: soon, but not all the time while a busy league has many of them.
const SOON_MS = 800;
const CALM_MS = 5000; // between two loads because of events that report no trouble
const LOST_MS = 30_000; // a load that takes longer is not waited for
let due = null; // the next load: {at, timer}
let newest = { begun: 0, isOver: true }; // of the loads

/** Note that a load begins; the answer is to be called when it is over. */
export function noteLoad() {
  const load = { begun: Date.now(), isOver: false };
  newest = load;
  return () => {
    load.isOver = true;
  };
}

export const isLoading = () => !newest.isOver && Date.now() - newest.begun < LOST_MS;

/** Call `load` soon, after the load under way; calmly: not so soon after the last one. Not while nobody sees the page. */
export function loadSoon(load, calmly = false) {
  const at = Math.max(Date.now() + SOON_MS, calmly ? newest.begun + CALM_MS : 0);
  if (due && due.at <= at) return;
  forgetLoad();
  const timer = setTimeout(() => {
    due = null;
    if (isLoading()) loadSoon(load);
    else if (document.visibilityState === "visible") load();
  }, at - Date.now());
  due = { at, timer };
}

export function forgetLoad() {
  clearTimeout(due?.timer);
  due = null;
}
