// Checks a trial file as it is typed, and reads its name.
import { post } from "../core/api.js";

const PAUSE_MS = 250;

/** Check the text after a pause in typing; `state.checked` is the answer, null until it is there. */
export function checkSoon(text, context, path = "/trials/validate") {
  const { state } = context;
  const page = location.pathname;
  state.text = text;
  state.checked = null;
  clearTimeout(state.timer);
  state.timer = setTimeout(async () => {
    let checked;
    try {
      checked = await post(path, { text });
    } catch (problem) {
      checked = { valid: false, problems: [{ path: "", message: problem.message, value: null, line: null }] };
    }
    if (state.text !== text) return;
    state.checked = checked;
    if (location.pathname === page) context.redraw();
  }, PAUSE_MS);
}

/** `project`, `trial` or `sweep` of a file, which its spec does not have. */
export function named(text, key, otherwise) {
  const found = text.match(new RegExp(`^${key}:\\s*["']?([a-z0-9-]+)`, "m"));
  return found ? found[1] : otherwise;
}
