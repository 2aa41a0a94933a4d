// Makes elements and formats numbers. The only file that creates elements, and it never makes markup
// from a string: what the sandbox sent becomes text nodes, whatever it looks like.

/** `make("button", {class: "x", type: "button"}, "text", child)`; attributes are ours, never a guest's. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.map((child) => (child instanceof Node ? child : String(child))));
  return element;
}

function makeSvg(tag, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Sets text only where it changed, so that nothing is laid out or announced again without need. */
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

let lastId = 0;
const freshId = () => `sandbox-run-${Math.random().toString(36).slice(2, 8)}-${++lastId}`;

const count = (number, noun) => `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;

function duration(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.floor((ms % 60_000) / 1000)} s`;
}

function size(bytes) {
  const mebibytes = bytes / 2 ** 20;
  return mebibytes < 1 ? `${Math.ceil(bytes / 1024)} KiB` : `${mebibytes.toFixed(1)} MiB`;
}

/** What the kernel sent, with every `<` that veil.py replaced: state in a saved page must not contain one. */
function unveiled(value) {
  if (typeof value === 'string')
    return value.replace(/\ue000([01])/g, (_, veil) => (veil === '1' ? '<' : '\ue000'));
  if (Array.isArray(value)) return value.map(unveiled);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, unveiled(item)]));
}
