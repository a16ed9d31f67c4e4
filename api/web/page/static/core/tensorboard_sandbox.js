// For TensorBoard in the sandbox, which has neither storage nor cookies: these last as long as the page.
for (const name of ["localStorage", "sessionStorage"]) {
  const kept = new Map();
  const storage = {
    getItem: (key) => kept.get(String(key)) ?? null,
    setItem: (key, value) => void kept.set(String(key), String(value)),
    removeItem: (key) => void kept.delete(String(key)),
    clear: () => kept.clear(),
    key: (index) => [...kept.keys()][index] ?? null,
    get length() {
      return kept.size;
    },
  };
  Object.defineProperty(window, name, { value: storage });
}
Object.defineProperty(document, "cookie", { value: "", writable: true });
// A sandboxed document may not start a worker from an address.
const PlainWorker = Worker;
window.Worker = function (address, options) {
  const script = `importScripts(${JSON.stringify(new URL(address, location).href)})`;
  return new PlainWorker(URL.createObjectURL(new Blob([script])), options);
};
