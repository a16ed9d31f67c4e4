// Versions over steps or time: a lane for each player, its snapshots above it, lines from parent to child.
import { canvasMap, fitted, FONT } from "./canvas_map.js";
import { colour, seriesColours } from "./colours.js";
import { clock, day, short } from "../core/format.js";
import { MARKS, stamp } from "./version_marks.js";
import { asCsv } from "./saving.js";

const TIDY_LANES = 40;
const NEAR_PX = 12;

/** `nodes` have {id, x, lane, raised, mark, ring, note}; `links` are pairs of indices into `nodes`; `lanes` are names. */
export function lineageMap(key, label, { nodes, links, lanes, isTime, pick, of }) {
  const parents = new Map(links.map(([parent, child]) => [child, nodes[parent].note[1]]));
  const at = (x) => (isTime ? new Date(x).toISOString() : x);
  const csv = () =>
    asCsv(
      ["version", "origin", isTime ? "time" : "steps", "lane", "parent"],
      nodes.map((node, place) => [node.note[1], node.mark, at(node.x), lanes[node.lane], parents.get(place) ?? ""]),
    );
  return canvasMap(key, label, (before) => new Drawing({ nodes, links, lanes, isTime, open: pick }, before), of, csv);
}

class Drawing {
  constructor(spec, before) {
    Object.assign(this, spec);
    this.goesOn = before?.nodes.length === this.nodes.length;
    const xs = this.nodes.map((node) => node.x);
    this.range = [Math.min(...xs), Math.max(...xs)];
    if (this.range[0] === this.range[1]) this.range[1] += 1;
    this.view = this.goesOn ? before.view : this.range;
    this.pitch = this.lanes.length > TIDY_LANES ? 16 : 46;
    [this.ink, this.quiet, this.line] = ["--ink", "--quiet", "--line"].map(colour);
    this.tints = seriesColours();
    this.seen = this.nodes.map((_, place) => place);
  }

  measure(pen, width) {
    pen.font = FONT;
    const longest = Math.max(...this.lanes.map((name) => pen.measureText(name).width));
    this.label = Math.min(longest, width < 520 ? 84 : 170);
    [this.left, this.right, this.top] = [this.label + 22, width - 18, 16];
    this.foot = this.top + this.lanes.length * this.pitch;
    this.width = width;
    return this.foot + 44;
  }

  x(value) {
    const [low, high] = this.view;
    return this.left + ((value - low) / (high - low)) * (this.right - this.left);
  }

  y(node) {
    return this.top + (node.lane + 0.62) * this.pitch - (node.raised ? Math.min(22, this.pitch / 2) : 0);
  }

  paint(pen, marked) {
    this.axes(pen);
    pen.save();
    pen.beginPath();
    pen.rect(this.left - 10, 0, this.right - this.left + 20, this.foot + 4);
    pen.clip();
    this.trace(pen);
    const [low, high] = this.view;
    this.seen = this.nodes.map((_, place) => place).filter((place) => this.nodes[place].x >= low && this.nodes[place].x <= high);
    for (const place of this.seen) this.node(pen, this.nodes[place]);
    if (marked) stamp(pen, "ring", this.x(this.nodes[marked[0]].x), this.y(this.nodes[marked[0]]), this.ink, true);
    pen.restore();
  }

  trace(pen) {
    Object.assign(pen, { strokeStyle: this.quiet, lineWidth: 1.2, globalAlpha: 0.55 });
    pen.beginPath();
    for (const [from, to] of this.links) {
      const [one, other] = [this.nodes[from], this.nodes[to]];
      const [x1, y1, x2, y2] = [this.x(one.x), this.y(one), this.x(other.x), this.y(other)];
      pen.moveTo(x1, y1);
      if (y1 === y2) pen.lineTo(x2, y2);
      else pen.bezierCurveTo((x1 + x2) / 2, y1, (x1 + x2) / 2, y2, x2, y2);
    }
    pen.stroke();
    pen.globalAlpha = 1;
  }

  node(pen, node) {
    const { open, tint } = MARKS[node.mark];
    const [x, y] = [this.x(node.x), this.y(node)];
    stamp(pen, node.mark, x, y, this.tints[tint], open);
    if (node.ring) stamp(pen, "ring", x, y, this.tints[1], true);
  }

  axes(pen) {
    Object.assign(pen, {
      font: FONT,
      fillStyle: this.quiet,
      textAlign: "right",
      textBaseline: "middle",
      strokeStyle: this.line,
      lineWidth: 1,
    });
    pen.beginPath();
    for (const [lane, name] of this.lanes.entries()) {
      const y = this.y({ lane });
      pen.moveTo(this.left - 8, y);
      pen.lineTo(this.right + 8, y);
      pen.fillText(fitted(pen, name, this.label), this.left - 16, y);
    }
    pen.stroke();
    Object.assign(pen, { textAlign: "center", textBaseline: "top" });
    for (const tick of this.isTime ? evenTicks(this.view) : roundTicks(this.view))
      pen.fillText(this.isTime ? this.when(tick) : short(tick), this.x(tick), this.foot + 6);
    Object.assign(pen, { textAlign: "right" });
    pen.fillText(this.isTime ? "time" : "steps of the player", this.right, this.foot + 24);
  }

  when(value) {
    const text = new Date(value).toISOString();
    return this.view[1] - this.view[0] < 86_400_000 ? clock(text) : day(text).split(",")[0];
  }

  find(x, y) {
    let [best, nearest] = [null, NEAR_PX];
    for (const place of this.seen) {
      const gap = Math.hypot(this.x(this.nodes[place].x) - x, this.y(this.nodes[place]) - y);
      if (gap < nearest) [best, nearest] = [place, gap];
    }
    return best === null ? null : [best];
  }

  spot([place]) {
    return [this.x(this.nodes[place].x) + 4, this.y(this.nodes[place])];
  }

  note([place]) {
    return this.nodes[place].note;
  }

  pick([place]) {
    this.open(this.nodes[place].id);
  }

  /** Left and right along a lane, up and down to the nearest version of another lane. */
  step(marked, key) {
    if (!marked) return this.seen.length ? [this.seen[0]] : null;
    const from = this.nodes[marked[0]];
    const forward = ["ArrowRight", "ArrowDown", "End", "PageDown"].includes(key);
    const aside = ["ArrowUp", "ArrowDown"].includes(key);
    const others = this.seen.filter((place) => {
      const node = this.nodes[place];
      if (aside) return forward ? node.lane > from.lane : node.lane < from.lane;
      return node.lane === from.lane && place !== marked[0] && (forward ? node.x >= from.x : node.x <= from.x);
    });
    const cost = (place) => {
      const node = this.nodes[place];
      if (aside) return Math.abs(node.lane - from.lane) * 1e15 + Math.abs(node.x - from.x);
      return /^(Home|End)$/.test(key) ? -Math.abs(node.x - from.x) : Math.abs(node.x - from.x) || 1e15;
    };
    return others.length ? [others.reduce((best, place) => (cost(place) < cost(best) ? place : best))] : marked;
  }

  zoom(from, to) {
    if (!from) {
      this.view = this.range;
      return;
    }
    const value = (x) =>
      this.view[0] +
      ((Math.min(this.right, Math.max(this.left, x)) - this.left) / (this.right - this.left)) * (this.view[1] - this.view[0]);
    const [one, other] = [value(from[0]), value(to[0])].sort((a, b) => a - b);
    if (other > one) this.view = [one, other];
  }

  isZoomed() {
    return this.view !== this.range;
  }
}

function roundTicks([low, high]) {
  const rough = (high - low) / 6;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((each) => each * power >= rough) * power;
  const ticks = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high; tick += step) ticks.push(tick);
  return ticks;
}

const evenTicks = ([low, high]) => [0, 0.25, 0.5, 0.75, 1].map((share) => low + share * (high - low));
