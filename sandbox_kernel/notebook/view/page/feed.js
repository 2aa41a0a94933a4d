// What has arrived: the newest reports or logs, each with its number. Whole windows come as widget state,
// what is new between them as messages. They may arrive in any order; the numbers restore it.

const NEWEST = 200; // as in tally.py

class Feed {
  constructor() {
    this.entries = []; // {index, item}, ascending; progress is not among them, so numbers are missing
    this.until = 0; // the number of the next one
  }

  /** Adds only what is newer. */
  add({ until, items }) {
    const fresh = items.filter(([index]) => index >= this.until).map(([index, item]) => ({ index, item }));
    this.entries = [...this.entries, ...fresh].slice(-NEWEST);
    this.until = Math.max(this.until, until);
  }

  /** Replaces everything by a whole window, unless something newer has arrived already. */
  replace(window) {
    if (window.until < this.until) return;
    this.entries = [];
    this.until = 0;
    this.add(window);
  }
}

/** One run as the page knows it; every view of the run draws from this. */
class RunStore {
  constructor(model) {
    this.model = model;
    this.reports = new Feed();
    this.logs = new Feed();
    this.listeners = new Set();
    this.heardAt = null; // when this page last heard from the kernel; null in a notebook just opened
    this.choices = { tab: chosenTab(this.head.id), filter: '', open: new Set(), focus: null };
    this.takeWindow();
    model.on('change:window', () => (this.takeWindow(), this.tell()));
    model.on('change:progress change:plot change:calls change:asks', () => this.tell());
    model.on('change:head', () => this.hear());
    model.on('msg:custom', (message) => this.takeBatch(message));
  }

  get head() {
    return unveiled(this.model.get('head') ?? {});
  }

  takeWindow() {
    const { reports, logs } = unveiled(this.model.get('window') ?? {});
    if (reports) this.reports.replace(reports);
    if (logs) this.logs.replace(logs);
  }

  takeBatch(message) {
    if (message?.kind !== 'batch') return;
    this.reports.add(unveiled(message.reports));
    this.logs.add(unveiled(message.logs));
    this.hear();
  }

  chooseTab(name) {
    this.choices.tab = name;
    try {
      sessionStorage.setItem(TAB + this.head.id, name); // for when the page is loaded again
    } catch {} // not allowed here, or full
  }

  hear() {
    this.heardAt = performance.now();
    this.tell();
  }

  tell() {
    for (const listener of this.listeners) listener();
  }

  /** A notebook may be saved, or its kernel may die, during a run: then nobody tells how it ended. */
  get status() {
    const { status } = this.head;
    if (status !== 'running') return status;
    return this.heardAt !== null && performance.now() - this.heardAt < 5000 ? 'running' : 'lost';
  }

  get elapsed() {
    const since = this.status === 'running' ? performance.now() - this.heardAt : 0;
    return (this.head.elapsed_ms ?? 0) + since;
  }
}

const TAB = 'sandbox-run-tab-';

function chosenTab(id) {
  try {
    return sessionStorage.getItem(TAB + id);
  } catch {
    return null;
  }
}
