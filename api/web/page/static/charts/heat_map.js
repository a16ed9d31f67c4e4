// A heat map of rows against columns: note on hover, click on a cell, drag to zoom.
import { canvasMap, fitted, FONT } from "./canvas_map.js";
import { colour, divergingSteps, inkOn, massSteps } from "./colours.js";
import { h } from "../core/dom.js";
import { Hatching } from "./hatching.js";
import { asCsv } from "./saving.js";

const LARGEST_CELL = 84;
const LARGEST_SIDE = 860;
const ROW_OF_STRIPS = 22; // height of a row where cells need not be square
const LEAST_FOR_TEXT = 34; // pixels of a cell
const LEAST_FOR_BRIEF = 16;
const SMALL_FONT = "10px system-ui, sans-serif";
const SLANT = Math.PI / 3;
const FAINTEST = 0.2; // how much of its colour a cell keeps of which nothing is known

/**
 * `rows` and `columns` are names, the same where players meet each other; `rate(row, column)` is 0 to 1 or null;
 * `note(row, column)` gives lines; `text(row, column)` the lines that a large cell says, `brief(row, column)` what a small one;
 * `pick(row, column)` is called for a click;
 * `chosen` is [row, column], [null, column] or null; `isMass` colours by probability mass instead of win rate;
 * `certainty(row, column)`, 0 to 1, fades the colour, and `thin(row, column)` hatches cells with too few games.
 */
export function heatMap(key, label, options) {
  const { rows, columns = rows, rate, note, text, brief, pick, chosen = null, isMass = false, certainty, thin, of } = options;
  const spec = {
    rows,
    columns,
    rate,
    text,
    brief,
    chosen,
    isMass,
    certainty,
    thin,
    note: (cell) => note(...cell),
    pick: (cell) => pick(...cell),
  };
  const csv = () =>
    asCsv(
      ["row", ...columns],
      rows.map((name, row) => [name, ...columns.map((_, column) => rate(row, column))]),
    );
  return canvasMap(key, label, (before) => new Drawing(spec, before), [...of, String(chosen)], csv);
}

/** The colour key; `minGames` also explains hatching and fading. */
export const colourKey = (minGames = null) =>
  h(
    "p",
    { class: "colour-key" },
    h("span", {}, "column wins"),
    h("span", { class: "ramp", role: "img", "aria-label": "Orange: the column wins; pale: even; blue: the row wins" }),
    h("span", {}, "row wins"),
    minGames === null
      ? null
      : [
          h("span", { class: "hatched", role: "img", "aria-label": "Hatched" }),
          h("span", {}, `fewer than ${minGames} games`),
          h("span", {}, "· the paler, the less certain"),
        ],
  );

class Drawing {
  constructor(spec, before) {
    Object.assign(this, spec);
    this.steps = this.isMass ? massSteps() : divergingSteps();
    this.goesOn = before?.rows.length === this.rows.length && before?.columns.length === this.columns.length;
    if (this.goesOn) this.view = before.view;
    else this.zoom(null, null);
    this.blank = colour("--blank");
    this.image = this.pixels();
    this.ink = colour("--ink");
    this.quiet = colour("--quiet");
    this.card = colour("--card");
    this.accent = colour("--accent");
  }

  /** One pixel per cell; the canvas scales it up. */
  pixels() {
    const [wide, high] = [this.columns.length, this.rows.length];
    const image = h("canvas", { width: wide, height: high });
    const pen = image.getContext("2d");
    const data = pen.createImageData(wide, high);
    this.hatch = this.thin && new Hatching(wide, high);
    for (let row = 0, place = 0; row < high; row += 1) {
      for (let column = 0; column < wide; column += 1, place += 4) {
        const tint = this.tint(row, column);
        if (!tint) continue;
        data.data.set(tint, place);
        data.data[place + 3] = 255;
        if (this.thin?.(row, column)) this.hatch.add(row, column);
      }
    }
    pen.putImageData(data, 0, 0);
    return image;
  }

  /** The colour of a cell, mixed with that of an empty one where little is known; null without a value. */
  tint(row, column) {
    const value = this.rate(row, column);
    if (value === null) return null;
    const full = this.steps[Math.round(255 * value)];
    const weight = this.certainty ? FAINTEST + (1 - FAINTEST) * this.certainty(row, column) : 1;
    this.ground ??= this.blank.match(/\d+(\.\d+)?/g).map(Number);
    return full.map((part, at) => Math.round(this.ground[at] + (part - this.ground[at]) * weight));
  }

  measure(pen, width) {
    pen.font = `bold ${FONT}`; // as under the pointer, or a name would be shortened just then
    const widest = (names) => Math.max(...names.map((name) => pen.measureText(name).width));
    const most = width < 520 ? 84 : 150;
    [this.label, this.foot] = [Math.min(widest(this.rows), most), Math.min(widest(this.columns), most)];
    [this.left, this.top] = [this.label + 10, 8];
    const room = Math.min(this.rows === this.columns ? LARGEST_SIDE : Infinity, width - this.left - 12);
    const rough = Math.min(LARGEST_CELL, room / this.columns.length);
    const cell = rough > 4 ? Math.floor(rough) : rough;
    this.wide = cell * this.columns.length;
    this.high = (this.rows === this.columns ? cell : ROW_OF_STRIPS) * this.rows.length;
    return this.top + this.high + this.foot * Math.sin(SLANT) + 22;
  }

  get across() {
    return this.wide / (this.view.right - this.view.left);
  }

  get down() {
    return this.high / (this.view.bottom - this.view.top);
  }

  paint(pen, marked) {
    const { left, top, bottom, right } = this.view;
    pen.fillStyle = this.blank;
    pen.fillRect(this.left, this.top, this.wide, this.high);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(this.image, left, top, right - left, bottom - top, this.left, this.top, this.wide, this.high);
    this.hatch?.paint(pen, this, this.quiet);
    if (Math.min(this.across, this.down) >= 9) this.rule(pen);
    const room = Math.min(this.across, this.down);
    if (this.text && room >= LEAST_FOR_TEXT) this.write(pen, this.text, FONT);
    else if (this.brief && room >= LEAST_FOR_BRIEF) this.write(pen, this.brief, SMALL_FONT);
    this.labels(pen, marked);
    if (this.chosen) this.frame(pen, this.chosen, this.accent);
    if (marked) this.frame(pen, marked, this.ink);
  }

  rule(pen) {
    pen.strokeStyle = this.card;
    pen.lineWidth = 1;
    pen.beginPath();
    for (let x = 1; x < this.view.right - this.view.left; x += 1) {
      pen.moveTo(this.left + x * this.across, this.top);
      pen.lineTo(this.left + x * this.across, this.top + this.high);
    }
    for (let y = 1; y < this.view.bottom - this.view.top; y += 1) {
      pen.moveTo(this.left, this.top + y * this.down);
      pen.lineTo(this.left + this.wide, this.top + y * this.down);
    }
    pen.stroke();
  }

  write(pen, text, font) {
    Object.assign(pen, { font, textAlign: "center", textBaseline: "middle" });
    for (let row = this.view.top; row < this.view.bottom; row += 1) {
      for (let column = this.view.left; column < this.view.right; column += 1) {
        const tint = this.tint(row, column);
        if (!tint) continue;
        pen.fillStyle = inkOn(tint);
        const [x, y] = this.corner([row, column]);
        const lines = [text(row, column)].flat().filter((line) => pen.measureText(line).width < this.across - 2);
        lines.forEach((line, at) => pen.fillText(line, x + this.across / 2, y + this.down / 2 + 14 * (at - (lines.length - 1) / 2)));
      }
    }
  }

  labels(pen, marked) {
    const [row, column] = marked ?? [];
    const write = (name, current, width, x, y, angle) => {
      pen.save();
      pen.translate(x, y);
      pen.rotate(angle);
      pen.font = current ? `bold ${FONT}` : FONT;
      pen.fillStyle = current ? this.ink : this.quiet;
      pen.fillText(fitted(pen, name, width), 0, 0);
      pen.restore();
    };
    Object.assign(pen, { textAlign: "right", textBaseline: "middle", font: FONT });
    const shown = (place, first, each, current) =>
      place === current ||
      ((place - first) % Math.ceil(14 / each) === 0 && !(current !== undefined && Math.abs(place - current) * each < 14));
    for (let place = this.view.top; place < this.view.bottom; place += 1) {
      if (shown(place, this.view.top, this.down, row))
        write(this.rows[place], place === row, this.label, this.left - 6, this.corner([place, 0])[1] + this.down / 2, 0);
    }
    for (let place = this.view.left; place < this.view.right; place += 1) {
      if (shown(place, this.view.left, this.across, column))
        write(
          this.columns[place],
          place === column,
          this.foot,
          this.corner([0, place])[0] + this.across / 2,
          this.top + this.high + 8,
          -SLANT,
        );
    }
  }

  frame(pen, [row, column], tint) {
    const { left, top, bottom, right } = this.view;
    if (column < left || column >= right) return;
    const [x, y] = this.corner([row ?? 0, column]);
    if (row === null) {
      Object.assign(pen, { strokeStyle: tint, lineWidth: 2 });
      pen.strokeRect(x, this.top, this.across, this.high);
    }
    if (row === null || row < top || row >= bottom) return;
    Object.assign(pen, { strokeStyle: tint, lineWidth: 1, globalAlpha: 0.45 });
    pen.strokeRect(this.left, y, this.wide, this.down);
    pen.strokeRect(x, this.top, this.across, this.high);
    Object.assign(pen, { lineWidth: 2, globalAlpha: 1 });
    pen.strokeRect(x, y, this.across, this.down);
  }

  corner([row, column]) {
    return [this.left + (column - this.view.left) * this.across, this.top + (row - this.view.top) * this.down];
  }

  find(x, y) {
    const [column, row] = [Math.floor((x - this.left) / this.across), Math.floor((y - this.top) / this.down)];
    if (x < this.left || y < this.top || x >= this.left + this.wide || y >= this.top + this.high) return null;
    return [row + this.view.top, column + this.view.left];
  }

  spot([row, column]) {
    const [x, y] = this.corner([row, column]);
    return [x + this.across, y + this.down / 2];
  }

  step(marked, key) {
    if (!marked) return [this.view.top, Math.min(this.view.left + 1, this.columns.length - 1)];
    const [row, column] = marked;
    const to =
      {
        ArrowUp: [row - 1, column],
        ArrowDown: [row + 1, column],
        ArrowLeft: [row, column - 1],
        ArrowRight: [row, column + 1],
        PageUp: [row - 10, column],
        PageDown: [row + 10, column],
        Home: [row, 0],
        End: [row, this.columns.length],
      }[key] ?? marked;
    return [clamp(to[0], this.view.top, this.view.bottom - 1), clamp(to[1], this.view.left, this.view.right - 1)];
  }

  /** Zoom to the cells between two points, or back to all. */
  zoom(from, to) {
    if (!from) {
      this.view = { left: 0, top: 0, right: this.columns.length, bottom: this.rows.length };
      return;
    }
    const inside = ([x, y]) =>
      this.find(clamp(x, this.left, this.left + this.wide - 0.01), clamp(y, this.top, this.top + this.high - 0.01));
    const [one, other] = [inside(from), inside(to)];
    this.view = {
      top: Math.min(one[0], other[0]),
      bottom: Math.max(one[0], other[0]) + 1,
      left: Math.min(one[1], other[1]),
      right: Math.max(one[1], other[1]) + 1,
    };
  }

  isZoomed() {
    return this.view.right - this.view.left < this.columns.length || this.view.bottom - this.view.top < this.rows.length;
  }
}

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
