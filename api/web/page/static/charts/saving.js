// Charts as files: PNG of what is drawn, CSV of what it was drawn from.
import { colour } from "./colours.js";
import { h } from "../core/dom.js";

const SCALE = 2; // pixels of the picture for each of the screen's
const TITLE_PX = 30;
const KEPT_MS = 60_000; // by then the browser has saved it

/** Buttons that save a drawn chart or map; `csv` returns the text of its table, or is left out where there is none. */
export function saveButtons(key, label, csv) {
  const drawn = () => document.querySelector(`[data-keep="${CSS.escape(key)}"][data-drawn]`);
  const button = (name, action) =>
    h("button", { class: "plain", "aria-label": `Save ${key} as ${name}`, onclick: () => drawn() && action(drawn()) }, name);
  return h(
    "figcaption",
    { class: "saves" },
    button("PNG", async (place) => saveFile(await picture(place, label), `${key}.png`)),
    csv ? button("CSV", (place) => saveFile(new Blob([csv(place)], { type: "text/csv" }), `${key}.csv`)) : null,
  );
}

export function saveFile(blob, name) {
  const href = URL.createObjectURL(blob);
  Object.assign(document.createElement("a"), { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), KEPT_MS);
}

/** What is drawn, on the page's own background, with its label above. */
async function picture(place, label) {
  const { width, height } = place.getBoundingClientRect();
  const canvas = h("canvas", { width: Math.round(width * SCALE), height: Math.round((height + TITLE_PX) * SCALE) });
  const pen = canvas.getContext("2d");
  pen.scale(SCALE, SCALE);
  pen.fillStyle = colour("--card");
  pen.fillRect(0, 0, width, height + TITLE_PX);
  pen.fillStyle = colour("--ink");
  pen.font = "14px system-ui, sans-serif";
  pen.fillText(label, 10, 20, width - 20);
  pen.drawImage(await drawing(place, width, height), 0, TITLE_PX, width, height);
  return new Promise((done) => {
    canvas.toBlob(done, "image/png");
  });
}

async function drawing(place, width, height) {
  const canvas = place.querySelector(":scope > canvas");
  if (canvas) return canvas;
  // as a data: address, for the page's policy allows no others; Plotly's own PNG would need a blob:
  const image = new Image();
  image.src = await window.Plotly.toImage(place, { format: "svg", width, height });
  await image.decode();
  return image;
}

const text = (value) =>
  `"${String(value ?? "")
    .replace(/^([=+\-@])/, "'$1") // a text that a spreadsheet would compute is quoted
    .replaceAll('"', '""')}"`;
const cell = (value) => (value === null || value === undefined ? "" : typeof value === "number" ? value : text(value));

/** A table as CSV: names of the columns, then rows. */
export const asCsv = (columns, rows) => [columns.map(text).join(","), ...rows.map((row) => row.map(cell).join(","))].join("\r\n");

/** One row for each point; bands, which have no hover, are left out: their bounds stand beside the points. */
export function linesAsCsv(traces, isTime = false) {
  const shown = traces.filter((trace) => trace.hoverinfo !== "skip");
  const wide = shown.find((trace) => trace.dimensions);
  if (wide) return dimensionsAsCsv(wide.dimensions);
  const banded = shown.some((trace) => trace.customdata);
  const moment = (x) => (isTime ? new Date(x).toISOString() : cell(x));
  const rows = shown.flatMap((trace) =>
    Array.from(trace.x, (x, at) => {
      const [low, high] = trace.customdata?.[at] ?? bounds(trace, at);
      return [text(trace.name), moment(x), cell(trace.y[at]), ...(banded || trace.error_x ? [cell(low), cell(high)] : [])].join(",");
    }),
  );
  return [`line,x,y${banded || shown.some((trace) => trace.error_x) ? ",low,high" : ""}`, ...rows].join("\r\n");
}

const bounds = ({ x, error_x: error }, at) => (error ? [x[at] - error.arrayminus[at], x[at] + error.array[at]] : [null, null]);

const dimensionsAsCsv = (dimensions) =>
  asCsv(
    dimensions.map((each) => each.label),
    Array.from(dimensions[0]?.values ?? [], (_, at) => dimensions.map((each) => each.values[at])),
  );
