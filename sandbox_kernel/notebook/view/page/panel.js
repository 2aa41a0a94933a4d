// The panel: status, progress, plot, and tabs over the lists. One per view of a run.

const WORDS = {
  running: 'Running',
  success: 'Finished',
  error: 'Failed',
  link_error: 'Could not link',
  memory: 'Out of memory',
  terminated: 'Terminated',
  lost: 'No contact',
};

class Panel {
  constructor(store) {
    this.store = store;
    this.plot = new Plot();
    this.bars = make('div', { class: 'run-bars' });
    this.lists = [new ReportTree(store), new ReportTable(store), new ConsoleList(store), new CallList(store)];
    this.asks = new Asks(store);
    this.element = make('section', { class: 'sandbox-run', 'aria-label': 'Run' });
    this.element.addEventListener('keydown', keepToOneself);
    this.element.append(
      this.makeStatus(),
      this.asks.element,
      this.bars,
      this.plot.element,
      this.makeBrowser(),
    );
    this.draw();
  }

  makeStatus() {
    this.word = make('span', { class: 'run-word' });
    this.facts = make('span', { class: 'run-facts' });
    this.error = make('div', { class: 'run-error' });
    this.spoken = make('div', { class: 'run-unseen', role: 'status', 'aria-live': 'polite' });
    this.stop = make('button', { type: 'button', class: 'run-stop', 'data-focus': 'stop' }, 'Terminate');
    this.stop.addEventListener('click', () => this.terminate());
    const light = make('span', { class: 'run-light', 'aria-hidden': 'true' });
    const line = make('div', { class: 'run-status' }, light);
    line.append(this.word, this.facts, this.stop);
    return make('header', {}, line, this.error, this.spoken);
  }

  makeBrowser() {
    this.tabBar = make('div', { role: 'tablist', 'aria-label': 'What the run sent' });
    this.filter = make('input', {
      type: 'search',
      placeholder: 'Filter',
      'aria-label': 'Filter',
      'data-focus': 'filter',
    });
    this.filter.value = this.store.choices.filter;
    this.filter.addEventListener('input', () => {
      this.store.choices.filter = this.filter.value;
      this.draw();
    });
    this.copyButton = make('button', { type: 'button', 'data-focus': 'copy' }, 'Copy');
    this.copyButton.addEventListener('click', () => this.copy());
    this.note = make('div', { class: 'run-remark' });
    this.tabs = this.lists.map((list) => new Tab(list, () => this.chooseTab(list)));
    this.tabBar.append(...this.tabs.map(({ button }) => button));
    this.tabBar.addEventListener('keydown', (event) => this.tabKey(event));
    const tools = make('div', { class: 'run-tools' }, this.filter, this.copyButton);
    const bar = make('div', { class: 'run-bar' }, this.tabBar, tools);
    this.browser = make(
      'div',
      { class: 'run-browser' },
      bar,
      this.note,
      ...this.tabs.map(({ panel }) => panel),
    );
    return this.browser;
  }

  chooseTab(list) {
    this.store.chooseTab(list.name);
    this.draw();
  }

  tabKey(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const shown = this.tabs.map(({ button }) => button).filter((button) => !button.hidden);
    const at = shown.indexOf(event.target);
    const chosen = shown[(at + step + shown.length) % shown.length];
    chosen.click();
    chosen.focus();
  }

  draw() {
    this.drawTime();
    this.drawBars(unveiled(this.store.model.get('progress') ?? []));
    this.plot.draw(this.store.model.get('plot') ?? {});
    this.asks.draw();
    this.drawLists();
    this.speak();
  }

  /** The part that changes on its own while a run goes on. */
  drawTime() {
    const { head, status } = this.store;
    const facts = [duration(this.store.elapsed)];
    if (head.memory != null) facts.push(`${size(head.memory)} peak`);
    facts.push(count(head.reports ?? 0, 'report'));
    if (head.logs) facts.push(count(head.logs, 'log'));
    this.element.dataset.status = status;
    setText(this.word, WORDS[status] ?? '');
    setText(this.facts, facts.join('  ·  '));
    setText(this.error, head.error ?? '');
    this.stop.hidden = status !== 'running';
  }

  drawBars(bars) {
    while (this.bars.children.length > bars.length) this.bars.lastElementChild.remove();
    while (this.bars.children.length < bars.length) this.bars.append(makeBar());
    bars.forEach((bar, at) => drawBar(this.bars.children[at], bar));
  }

  drawLists() {
    const filter = this.store.choices.filter.toLowerCase();
    const all = new Map(this.lists.map((list) => [list, list.entries()]));
    const current = this.choose(all);
    this.browser.hidden = !current;
    for (const tab of this.tabs) {
      const held = all.get(tab.list);
      tab.draw(tab.list === current, held.length, this.total(tab.list, held));
    }
    if (!current) return;
    const entries = all.get(current);
    this.matching = entries.filter(({ text }) => !filter || text.toLowerCase().includes(filter));
    current.draw(this.matching);
    this.tabs.find(({ list }) => list === current).end.apply();
    this.current = current;
    setText(this.note, this.remark(this.total(current, entries), entries.length, filter));
  }

  total({ name }, entries) {
    const { head } = this.store;
    const totals = { Reports: head.listed, Console: head.logs, Calls: this.store.model.get('calls')?.until };
    return name in totals ? (totals[name] ?? 0) : entries.length;
  }

  remark(total, held, filter) {
    const rest =
      total > held ? `the newest ${held.toLocaleString('en')} of ${total.toLocaleString('en')}` : '';
    if (!filter) return rest && `Showing ${rest}`;
    const matches = count(this.matching.length, 'match').replace('matchs', 'matches');
    return rest ? `${matches} in ${rest}` : matches;
  }

  /** The user's choice; else the table if every report fits it, else the reports, else the console. */
  choose(all) {
    const [tree, table, logs, calls] = this.lists;
    const chosen = this.lists.find(({ name }) => name === this.store.choices.tab);
    if (chosen && all.get(chosen).length) return chosen;
    if (all.get(table).length && all.get(table).length === all.get(tree).length) return table;
    return [tree, logs, calls].find((list) => all.get(list).length);
  }

  /** Tells screen readers how the run goes: start and end at once, counts only every few seconds. */
  speak() {
    const { head, status } = this.store;
    const now = performance.now();
    if (status === this.saidStatus && now - (this.saidAt ?? -Infinity) < 5000) return;
    this.saidStatus = status;
    this.saidAt = now;
    const end = status === 'running' ? '' : `, ${duration(this.store.elapsed)}`;
    setText(this.spoken, `Run: ${WORDS[status] ?? ''}, ${count(head.reports ?? 0, 'report')}${end}`);
  }

  terminate() {
    this.store.model.send({ kind: 'terminate' });
    setText(this.stop, 'Terminating…');
    setTimeout(() => setText(this.stop, 'Terminate'), 2000);
  }

  async copy() {
    const done = await copyText(this.current.copy(this.matching), this.element);
    setText(this.copyButton, done ? 'Copied' : 'Not allowed');
    setText(
      this.spoken,
      done ? `Copied ${count(this.matching.length, 'line')}` : 'Copying is not allowed here',
    );
    setTimeout(() => setText(this.copyButton, 'Copy'), 1500);
  }
}

/** One list's button in the tab bar, and the panel that it opens. */
class Tab {
  constructor(list, choose) {
    const [buttonId, panelId] = [freshId(), freshId()];
    this.list = list;
    this.end = new FollowEnd(list.element);
    this.button = make('button', {
      type: 'button',
      role: 'tab',
      id: buttonId,
      'aria-controls': panelId,
      'data-focus': list.name,
    });
    this.button.addEventListener('click', choose);
    this.panel = make('div', { role: 'tabpanel', id: panelId, 'aria-labelledby': buttonId }, list.element);
  }

  draw(isCurrent, held, total) {
    this.button.hidden = !held;
    this.panel.hidden = !isCurrent;
    this.button.setAttribute('aria-selected', isCurrent);
    this.button.setAttribute('tabindex', isCurrent ? 0 : -1);
    setText(this.button, `${this.list.name} ${total.toLocaleString('en')}`);
  }
}

/** Single keys are commands of JupyterLab's notebook ("b" adds a cell); inside the view they are its own. */
function keepToOneself(event) {
  const combined = event.ctrlKey || event.metaKey || event.altKey;
  const passes = combined || event.key === 'Escape' || (event.key === 'Enter' && event.shiftKey);
  if (!passes) event.stopPropagation();
}

function makeBar() {
  const label = make('span', { class: 'run-bar-label', id: freshId() });
  const track = make('div', {
    role: 'progressbar',
    'aria-valuemin': 0,
    'aria-valuemax': 100,
    'aria-labelledby': label.id,
  });
  track.append(make('div'));
  return make('div', { class: 'run-progress' }, label, track, make('span', { class: 'run-bar-text' }));
}

function drawBar(element, [name, share, text]) {
  const [label, track, amount] = element.children;
  setText(label, name || 'Progress');
  setText(amount, text);
  track.classList.toggle('run-unknown', share === null);
  track.firstElementChild.style.width = share === null ? '' : `${share * 100}%`;
  if (share === null) track.removeAttribute('aria-valuenow');
  else track.setAttribute('aria-valuenow', Math.floor(share * 100));
}

/** Pages without TLS cannot use the clipboard; copying a selection still works there. */
async function copyText(text, near) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = make('textarea', { class: 'run-unseen', 'aria-hidden': 'true' });
    area.value = text;
    near.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }
}
