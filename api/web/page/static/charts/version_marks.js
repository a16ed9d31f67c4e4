// The marks of versions by origin, on the canvas and in the legend.
import { h, s } from "../core/dom.js";
import { humanize } from "../core/format.js";

/** Paths centred on 0,0 in a box of 12; `open` marks are outlines. */
export const MARKS = {
  initial: { path: "M-4 0A4 4 0 1 1 4 0 4 4 0 1 1-4 0z", open: true, tint: 0 },
  imported: { path: "M-4-4H4V4H-4z", open: true, tint: 0 },
  trained: { path: "M-2.4 0A2.4 2.4 0 1 1 2.4 0 2.4 2.4 0 1 1-2.4 0z", tint: 0 },
  snapshot: { path: "M0-6 6 0 0 6-6 0z", tint: 2 },
  reset: { path: "M-5-5 5 5M5-5-5 5", open: true, tint: 1 },
  rollback: { path: "M-6 0 4-5.5V5.5z", tint: 1 },
  copy: { path: "M-5.5-2.5H-1V-5.5L6 0-1 5.5V2.5H-5.5z", tint: 2 },
  fork: { path: "M0-6 6 5H-6z", tint: 3 },
  bot: { path: "M-3-5.2H3L6 0 3 5.2H-3L-6 0z", tint: 4 },
};
export const RING = "M-9 0A9 9 0 1 1 9 0 9 9 0 1 1-9 0z";

const SHAPES = Object.fromEntries(Object.entries({ ...MARKS, ring: { path: RING } }).map(([name, { path }]) => [name, new Path2D(path)]));

/** Draw a mark at a point. */
export function stamp(pen, name, x, y, tint, open) {
  pen.translate(x, y);
  if (open) {
    Object.assign(pen, { strokeStyle: tint, lineWidth: 2 });
    pen.stroke(SHAPES[name]);
  } else {
    pen.fillStyle = tint;
    pen.fill(SHAPES[name]);
  }
  pen.translate(-x, -y);
}

/** The legend of the given marks. */
export function legend(names, colours) {
  const sign = (path, tint, open) =>
    s(
      "svg",
      { viewBox: "-10 -10 20 20", width: 18, height: 18, "aria-hidden": "true" },
      s("path", open ? { d: path, fill: "none", stroke: tint, "stroke-width": 2 } : { d: path, fill: tint }),
    );
  return h(
    "ul",
    { class: "legend", "aria-label": "Legend" },
    names.map((name) => {
      const { path, open, tint } = MARKS[name] ?? { path: RING, open: true, tint: 1 };
      return h("li", { key: name }, sign(path, colours[tint], open), MARKS[name] ? humanize(name) : "has been champion");
    }),
  );
}
