// A canvas drawing with hover notes, keyboard focus, clicks and zoom; heat map and lineage map use it.
import { isDark } from "./colours.js";
import { saveButtons } from "./saving.js";
import { h } from "../core/dom.js";

const DRAG_PX = 6;
const NOTE_GAP = 14;

/**
 * A placeholder for a drawing. `make` is called with the previous drawing when a value in `of` changes, and returns
 * {measure(pen, width) -> height, paint(pen, marked), find(x, y), spot(target), note(target), step(target, key), pick(target)},
 * with zoom also {zoom(from, to), isZoomed()}, and {goesOn} if the mark of the previous drawing is still valid.
 * Targets are opaque here. `csv` returns what is drawn as a table. Buttons above save either.
 */
export function canvasMap(key, label, make, of, csv) {
  const place = h("div", {
    class: "map",
    role: "application",
    tabindex: 0,
    "aria-label": `${label}. Arrow keys move, Enter opens.`,
    "data-keep": key,
    key,
  });
  place.draw = (drawn) => draw(drawn, make, of);
  return h("figure", { class: "charted", key: `${key}-figure` }, saveButtons(key, label, csv), place);
}

function draw(place, make, of) {
  place.map ??= furnish(place);
  const { map } = place;
  const now = [...of, isDark()];
  if (!map.of || map.of.some((value, at) => value !== now[at])) {
    map.of = now;
    map.drawing = make(map.drawing);
    if (!map.drawing.goesOn) mark(map, null);
    repaint(map);
  }
  place.dataset.drawn = "yes";
}

function furnish(place) {
  const canvas = h("canvas", { "aria-hidden": "true" });
  const note = h("div", { class: "note", role: "status", hidden: true });
  const band = h("div", { class: "band", hidden: true });
  const whole = h("button", { class: "plain whole", hidden: true, onclick: () => zoom(map, null, null) }, "Show all");
  place.append(canvas, band, note, whole);
  const map = { place, canvas, pen: canvas.getContext("2d"), note, band, whole, marked: null, from: null };
  canvas.addEventListener("pointerdown", (event) => {
    map.from = event.button === 0 ? at(map, event) : null;
  });
  canvas.addEventListener("pointermove", (event) => moved(map, event));
  canvas.addEventListener("pointerup", (event) => released(map, event));
  canvas.addEventListener("pointerleave", () => !map.from && mark(map, null));
  place.addEventListener("keydown", (event) => pressed(map, event));
  place.addEventListener("blur", () => mark(map, null));
  new ResizeObserver(() => map.width !== place.clientWidth && repaint(map)).observe(place);
  return map;
}

function repaint(map) {
  const { canvas, pen, drawing, place } = map;
  if (!drawing || !place.isConnected || !place.clientWidth) return;
  const sharp = window.devicePixelRatio || 1;
  map.width = place.clientWidth;
  const height = Math.ceil(drawing.measure(pen, map.width));
  if (canvas.width !== Math.round(map.width * sharp) || canvas.height !== Math.round(height * sharp)) {
    canvas.width = Math.round(map.width * sharp);
    canvas.height = Math.round(height * sharp);
    Object.assign(canvas.style, { width: `${map.width}px`, height: `${height}px` });
  }
  pen.setTransform(sharp, 0, 0, sharp, 0, 0);
  pen.clearRect(0, 0, map.width, height);
  drawing.paint(pen, map.marked);
  map.whole.hidden = !drawing.isZoomed?.();
}

const at = ({ canvas }, event) => {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
};

function moved(map, event) {
  const here = at(map, event);
  if (!map.from || event.pointerType !== "mouse" || !map.drawing.zoom || distance(map.from, here) < DRAG_PX) {
    mark(map, map.drawing.find(...here));
    return;
  }
  const [left, top] = [Math.min(map.from[0], here[0]), Math.min(map.from[1], here[1])];
  map.band.hidden = false;
  const [width, height] = [Math.abs(here[0] - map.from[0]), Math.abs(here[1] - map.from[1])];
  map.band.style.cssText = `left:${left}px;top:${top}px;width:${width}px;height:${height}px`;
  mark(map, null);
}

function released(map, event) {
  const { from, drawing } = map;
  map.from = null;
  if (!from) return;
  if (!map.band.hidden) {
    map.band.hidden = true;
    zoom(map, from, at(map, event));
    return;
  }
  const target = drawing.find(...at(map, event));
  if (target) drawing.pick(target);
}

function zoom(map, from, to) {
  map.drawing.zoom?.(from, to);
  repaint(map);
}

function pressed(map, event) {
  const { drawing } = map;
  if (event.target !== map.place || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key === "Escape") {
    mark(map, null);
    zoom(map, null, null);
  } else if (["Enter", " "].includes(event.key) && map.marked) {
    event.preventDefault();
    drawing.pick(map.marked);
  } else if (/^(Arrow|Home|End|Page)/.test(event.key)) {
    event.preventDefault();
    mark(map, drawing.step(map.marked, event.key));
  }
}

const distance = ([x1, y1], [x2, y2]) => Math.hypot(x1 - x2, y1 - y2);

/** Mark a target and show its note. */
function mark(map, target) {
  const { drawing, note } = map;
  if (String(target) === String(map.marked)) return;
  map.marked = target;
  map.canvas.style.cursor = target ? "pointer" : "default";
  repaint(map);
  const lines = target ? drawing.note(target) : [];
  note.hidden = !lines.length;
  if (note.hidden) return;
  note.replaceChildren(...lines.map((line, place) => h(place === 1 ? "strong" : "span", {}, line)));
  const [x, y] = drawing.spot(target);
  const left = x + NOTE_GAP + note.offsetWidth > map.width ? x - NOTE_GAP - note.offsetWidth : x + NOTE_GAP;
  note.style.transform = `translate(${Math.max(0, left)}px, ${Math.max(0, y - note.offsetHeight / 2)}px)`;
}

/** Shorten text to a width in its middle: the names of a player's snapshots differ at the end. */
export function fitted(pen, text, width) {
  if (pen.measureText(text).width <= width) return text;
  const tail = text.slice(-4);
  let end = text.length - tail.length;
  while (end > 1 && pen.measureText(`${text.slice(0, end)}…${tail}`).width > width) end -= 1;
  return `${text.slice(0, end)}…${tail}`;
}

export const FONT = "12px system-ui, sans-serif";
