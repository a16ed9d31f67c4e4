// A replay as files: the position on display as SVG, the whole game as an animated GIF, both made in the browser.
import { Palette, writeGif } from "../core/gif.js";
import { h } from "../core/dom.js";
import { toast } from "./dialog.js";

const LONGEST_SIDE = 440; // pixels
const CAPTION = 30;
const LAST_SECONDS = 3;
const MOST_FRAMES = 300; // of a longer game every few positions are drawn
const BUSY = "Drawing the GIF …";

export function exportButtons(subject, ply, secondsPerMove, context) {
  const { state } = context;
  const makeGif = async () => {
    state.drawing = true;
    context.redraw();
    try {
      save(await drawGif(subject, secondsPerMove), `${subject.file}.gif`);
    } catch (problem) {
      toast(`The GIF could not be made: ${problem.message}`, "bad");
    } finally {
      state.drawing = false;
      context.redraw();
    }
  };
  return [
    h("button", { class: "plain", key: "svg", onclick: () => saveSvg(subject, ply) }, "Save SVG"),
    h("button", { class: "plain", key: "gif", disabled: state.drawing, onclick: makeGif }, state.drawing ? BUSY : "Save GIF"),
  ];
}

function saveSvg(subject, ply) {
  save(new Blob([subject.positions[ply].svg], { type: "image/svg+xml" }), `${subject.file}-move-${ply}.svg`);
}

function save(blob, name) {
  const file = URL.createObjectURL(blob);
  Object.assign(document.createElement("a"), { href: file, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(file), 60_000); // by then it is saved
}

/** Each position is drawn twice: for the palette of all frames, then as a frame. So no more than one is held as pixels. */
async function drawGif(subject, seconds) {
  const { positions, captions } = thinned(subject);
  const [width, height] = sizeOf(positions[0].svg);
  const canvas = Object.assign(document.createElement("canvas"), { width, height: height + CAPTION });
  const brush = canvas.getContext("2d", { willReadFrequently: true });
  const palette = new Palette();
  const images = [];
  for (const [place, position] of positions.entries()) {
    images.push(await imageOf(position.svg, width, height));
    palette.count(paint(brush, images[place], captions[place], canvas));
  }
  palette.settle();
  const frames = images.map((image, place) => ({
    indices: palette.indices(paint(brush, image, captions[place], canvas)),
    seconds: place === images.length - 1 ? LAST_SECONDS : seconds,
  }));
  return writeGif(canvas.width, canvas.height, palette.colours, frames);
}

/** At most so many positions with their captions, the last one among them. */
function thinned({ positions, captions }) {
  const every = Math.ceil(positions.length / MOST_FRAMES);
  const isKept = (_, place) => place % every === 0 || place === positions.length - 1;
  return { positions: positions.filter(isKept), captions: captions.filter(isKept) };
}

function sizeOf(svg) {
  const picture = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  const [, , width, height] = (picture.getAttribute("viewBox") ?? "0 0 1 1").split(/[\s,]+/).map(Number);
  const scale = LONGEST_SIDE / Math.max(width, height);
  return [Math.round(width * scale), Math.round(height * scale)];
}

/** The picture at this size; one without a size of its own would be drawn at the browser's. */
async function imageOf(svg, width, height) {
  const picture = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  picture.setAttribute("width", width);
  picture.setAttribute("height", height);
  const image = new Image(width, height);
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(picture))}`;
  await image.decode();
  return image;
}

function paint(brush, image, caption, { width, height }) {
  brush.fillStyle = "#ffffff";
  brush.fillRect(0, 0, width, height);
  brush.drawImage(image, 0, 0, width, height - CAPTION);
  brush.fillStyle = "#1f2937";
  brush.font = "14px sans-serif";
  brush.textAlign = "center";
  brush.fillText(caption, width / 2, height - 10, width - 12);
  return brush.getImageData(0, 0, width, height);
}
