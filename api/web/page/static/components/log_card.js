// The last lines of a part's log, live while it is shown. Only admins may read logs.
import { get } from "../core/api.js";
import { h } from "../core/dom.js";
import { bytes } from "../core/format.js";
import { card, pick } from "./widgets.js";

const KEPT = 400;

/** Read what is new in the chosen log into the page's state. */
export async function readLog({ state, query }) {
  const part = query.log;
  if (!part) return (state.log = null);
  const known = state.log?.part === part ? state.log : { part, lines: [], end: undefined };
  const { lines, end } = await get(`/system/logs/${encodeURIComponent(part)}`, { lines: 200, after: known.end });
  state.log = { part, lines: [...known.lines, ...lines].slice(-KEPT), end };
  return state.log;
}

export function logCard(files, log, context) {
  if (!files) return null;
  const options = [["", "none"], ...files.map((file) => [file.part, `${file.part} (${bytes(file.size_bytes)})`])];
  return h(
    "div",
    { key: "logs" },
    card(
      "Logs",
      files.length
        ? pick("Log of", "log", options, context.query.log ?? "", (part) => context.setQuery({ log: part }))
        : h("p", { class: "quiet" }, "The API knows no folder of logs (LANISTA_LOG_FOLDER)."),
      log
        ? h(
            "pre",
            { class: "log", tabindex: 0, role: "log", "aria-label": `Log of ${log.part}` },
            log.lines.join("\n") || "The log is empty.",
          )
        : null,
    ),
  );
}
