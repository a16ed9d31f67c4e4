// Diagonal lines over some cells of a heat map, drawn at once for any number of cells.
import { h } from "../core/dom.js";

const GAP = 5;

export class Hatching {
  constructor(wide, high) {
    this.mask = h("canvas", { width: wide, height: high });
    this.pen = this.mask.getContext("2d");
    this.any = false;
  }

  add(row, column) {
    this.pen.fillRect(column, row, 1, 1);
    this.any = true;
  }

  /** The mask is scaled like the cells, then only the lines within it are kept. */
  paint(pen, { view, left, top, wide, high }, ink) {
    if (!this.any) return;
    const layer = h("canvas", { width: Math.ceil(wide), height: Math.ceil(high) });
    const lines = layer.getContext("2d");
    lines.imageSmoothingEnabled = false;
    lines.drawImage(this.mask, view.left, view.top, view.right - view.left, view.bottom - view.top, 0, 0, wide, high);
    lines.globalCompositeOperation = "source-in";
    lines.fillStyle = lines.createPattern(tile(ink), "repeat");
    lines.fillRect(0, 0, wide, high);
    pen.drawImage(layer, left, top);
  }
}

function tile(ink) {
  const made = h("canvas", { width: GAP, height: GAP });
  const pen = made.getContext("2d");
  Object.assign(pen, { strokeStyle: ink, lineWidth: 0.8, globalAlpha: 0.75 });
  pen.beginPath();
  for (const shift of [-GAP, 0, GAP]) {
    pen.moveTo(shift, GAP);
    pen.lineTo(shift + GAP, 0);
  }
  pen.stroke();
  return made;
}
