// A cache that keeps the most recently used entries and forgets the others.

export class LruCache {
  #entries = new Map(); // a Map keeps the order of insertion: the first entry is the least recently used

  constructor(limit) {
    this.limit = limit;
  }

  get size() {
    return this.#entries.size;
  }

  get(key) {
    const value = this.#entries.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  set(key, value) {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size > this.limit) this.#entries.delete(this.#entries.keys().next().value);
  }
}
