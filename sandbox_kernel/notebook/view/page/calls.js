// The calls of lent functions as a table: who was called, with what, who allowed it, how it ended.

const DECISIONS = {
  allow: 'allowed',
  ask: 'asked about',
  deny: 'denied by a rule',
  allow_once: 'allowed once',
  allow_run: 'allowed for this run',
  allow_always: 'always allowed',
  deny_once: 'denied',
  deny_always: 'always denied',
};

class CallList {
  constructor(store) {
    this.name = 'Calls';
    this.store = store;
    this.body = make('tbody');
    const heads = ['Call', 'Decision', 'Outcome', 'Time'].map((text) => make('th', { scope: 'col' }, text));
    const table = make('table', {}, make('thead', {}, make('tr', {}, ...heads)), this.body);
    const described = { class: 'run-list run-table run-calls', tabindex: '0', 'aria-label': 'Calls' };
    this.element = make('div', described, table);
  }

  entries() {
    const { items = [] } = unveiled(this.store.model.get('calls') ?? {});
    return items.map(([index, item]) => ({ index, item, text: callText(item) }));
  }

  /** All of them: calls change until they have ended. */
  draw(entries) {
    this.body.replaceChildren(...entries.map(({ item }) => callRow(item)));
  }

  copy(entries) {
    return entries.map(({ text }) => text).join('\n');
  }
}

function callRow([name, args, decision, ms, bytes, outcome]) {
  const call = make('td', { class: 'run-call', title: `${name}(${args})` }, `${name}(${args})`);
  const denied = outcome === 'denied' ? 'run-call-denied' : '';
  const failed = outcome === 'error' ? 'run-call-failed' : '';
  return make(
    'tr',
    { class: denied || failed },
    call,
    make('td', {}, DECISIONS[decision] ?? ''),
    make('td', {}, String(outcome)),
    make('td', { class: 'run-cell-number', title: `${bytes} bytes` }, duration(ms)),
  );
}

const callText = ([name, args, decision, ms, , outcome]) =>
  [`${name}(${args})`, DECISIONS[decision] ?? '', outcome, duration(ms)].join('\t');
