// Writes an animated GIF (GIF89a): one palette of at most 256 colours, whole frames, LZW.

const MOST_COLOURS = 256;
/** A colour with five bits for each channel: near shades of an edge share one. */
const reduced = (red, green, blue) => ((red >> 3) << 10) | ((green >> 3) << 5) | (blue >> 3);

/** Counts the colours of frames, then gives each its place in a palette of the most frequent ones. */
export class Palette {
  #counts = new Map(); // reduced colour -> how often
  #exact = new Map(); // reduced colour -> the first true colour that had it
  #places = new Map();
  colours = [];

  count({ data }) {
    for (let at = 0; at < data.length; at += 4) {
      const key = reduced(data[at], data[at + 1], data[at + 2]);
      this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
      if (!this.#exact.has(key)) this.#exact.set(key, [data[at], data[at + 1], data[at + 2]]);
    }
  }

  settle() {
    const ranked = [...this.#counts].sort(([, one], [, other]) => other - one).slice(0, MOST_COLOURS);
    this.colours = ranked.map(([key]) => this.#exact.get(key));
    ranked.forEach(([key], place) => this.#places.set(key, place));
  }

  /** A frame as places in the palette. */
  indices({ data }) {
    const found = new Uint8Array(data.length / 4);
    for (let at = 0; at < data.length; at += 4) found[at / 4] = this.#placeOf(data[at], data[at + 1], data[at + 2]);
    return found;
  }

  #placeOf(red, green, blue) {
    const key = reduced(red, green, blue);
    let place = this.#places.get(key);
    if (place === undefined) {
      const distance = ([r, g, b]) => (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2;
      place = this.colours.reduce((best, colour, at) => (distance(colour) < distance(this.colours[best]) ? at : best), 0);
      this.#places.set(key, place);
    }
    return place;
  }
}

/** The bytes of a GIF that repeats; `frames` are `{ indices, seconds }`. */
export function writeGif(width, height, colours, frames) {
  const bits = Math.max(2, Math.ceil(Math.log2(colours.length)));
  const out = [...text("GIF89a"), ...short(width), ...short(height), 0xf0 | (bits - 1), 0, 0];
  for (let place = 0; place < 1 << bits; place += 1) out.push(...(colours[place] ?? [0, 0, 0]));
  out.push(0x21, 0xff, 11, ...text("NETSCAPE2.0"), 3, 1, 0, 0, 0); // for ever
  const parts = [new Uint8Array(out)];
  for (const { indices, seconds } of frames) {
    const control = [0x21, 0xf9, 4, 0, ...short(Math.round(100 * seconds)), 0, 0];
    parts.push(new Uint8Array([...control, 0x2c, 0, 0, 0, 0, ...short(width), ...short(height), 0, bits]), compressed(indices, bits));
  }
  parts.push(new Uint8Array([0x3b]));
  return new Blob(parts, { type: "image/gif" });
}

const text = (words) => [...words].map((letter) => letter.charCodeAt(0));
const short = (value) => [value & 255, value >> 8];

/** LZW as GIF has it: codes of growing width, in blocks of at most 255 bytes. */
function compressed(indices, bits) {
  const writer = new CodeWriter();
  const [clear, end] = [1 << bits, (1 << bits) + 1];
  let [known, next, width] = [new Map(), end + 1, bits + 1];
  writer.put(clear, width);
  let prefix = indices[0];
  for (let at = 1; at < indices.length; at += 1) {
    const key = (prefix << 8) | indices[at];
    const code = known.get(key);
    if (code !== undefined) {
      prefix = code;
      continue;
    }
    writer.put(prefix, width);
    if (next < 4096) {
      if (next === 1 << width) width += 1;
      known.set(key, next);
      next += 1;
    } else {
      writer.put(clear, width);
      [known, next, width] = [new Map(), end + 1, bits + 1];
    }
    prefix = indices[at];
  }
  writer.put(prefix, width);
  writer.put(end, width);
  return writer.blocks();
}

class CodeWriter {
  #bytes = [];
  #held = 0;
  #bits = 0;

  put(code, width) {
    this.#held |= code << this.#bits;
    this.#bits += width;
    while (this.#bits >= 8) {
      this.#bytes.push(this.#held & 255);
      this.#held >>= 8;
      this.#bits -= 8;
    }
  }

  blocks() {
    if (this.#bits) this.#bytes.push(this.#held & 255);
    const out = [];
    for (let at = 0; at < this.#bytes.length; at += 255) {
      const block = this.#bytes.slice(at, at + 255);
      out.push(block.length, ...block);
    }
    out.push(0);
    return new Uint8Array(out);
  }
}
