// Questions about calls: one list of cards. Nothing is answered by a click or a key that was meant for
// something else: buttons are dead for a moment after the list has changed, and no card takes the focus.

const DEAD_MS = 500; // as in desk.py, which does not hear earlier answers either

class Asks {
  constructor(store) {
    this.store = store;
    this.shown = '';
    this.list = make('ol', { class: 'run-asks-list' });
    this.title = make('div', { class: 'run-asks-title', id: freshId() });
    this.spoken = make('div', { class: 'run-unseen', role: 'alert' });
    const labelled = { class: 'run-asks', role: 'group', 'aria-labelledby': this.title.id };
    this.element = make('div', labelled, this.title, this.list, this.spoken);
  }

  draw() {
    const running = this.store.status === 'running';
    const cards = running ? unveiled(this.store.model.get('asks') ?? []) : [];
    const shown = cards.map(({ id }) => id).join();
    this.element.hidden = !cards.length;
    if (shown === this.shown) return;
    this.shown = shown;
    const focused = this.element.contains(document.activeElement);
    this.list.replaceChildren(...cards.map((card) => this.makeCard(card)));
    const asked = `${count(cards.length, 'call')} ${cards.length === 1 ? 'asks' : 'ask'} for permission`;
    setText(this.title, asked);
    setText(this.spoken, cards.length ? `${asked}: ${cards.map(({ will }) => will).join('; ')}` : '');
    if (focused) this.list.querySelector('button')?.focus();
    this.sleep();
    if (cards.length) this.store.model.send({ kind: 'drawn', ids: cards.map(({ id }) => id) });
  }

  /** Buttons wake up after half a second in which nothing has moved. */
  sleep() {
    clearTimeout(this.waking);
    this.element.dataset.dead = 'true';
    for (const button of this.list.querySelectorAll('button')) button.setAttribute('aria-disabled', 'true');
    this.waking = setTimeout(() => {
      delete this.element.dataset.dead;
      for (const button of this.list.querySelectorAll('button')) button.removeAttribute('aria-disabled');
    }, DEAD_MS + 50);
  }

  makeCard(card) {
    const will = make('div', { class: 'run-ask-will', id: freshId() }, card.will);
    const parts = [make('div', { class: 'run-ask-name' }, card.name), will];
    if (card.code !== null) {
      const line = make('span', { class: 'run-index' }, `line ${card.line}`);
      parts.push(make('div', { class: 'run-ask-code' }, line, ' ', make('code', {}, card.code)));
    }
    if (card.why !== null) parts.push(make('div', { class: 'run-ask-why' }, `Asked again: ${card.why}.`));
    const buttons = make('div', { class: 'run-ask-buttons' });
    this.offerChoices(card, buttons, will.id);
    return make('li', { class: 'run-ask', 'data-ask': card.id }, ...parts, buttons);
  }

  offerChoices(card, buttons, described) {
    const offer = (text, choice) => this.button(text, described, () => this.answer(card, choice));
    const always = this.button('Always allow…', described, () => this.confirm(card, buttons, described));
    buttons.replaceChildren(
      offer('Allow once', 'allow_once'),
      offer('Allow for this run', 'allow_run'),
      always,
      offer('Deny', 'deny_once'),
    );
    buttons.lastElementChild.classList.add('run-ask-deny');
  }

  confirm(card, buttons, described) {
    const text = `Allow ${card.name} in all your notebooks for 30 days, without asking?`;
    const yes = this.button('Yes, always', described, () => this.answer(card, 'allow_always'));
    const back = this.button('Back', described, () => {
      this.offerChoices(card, buttons, described);
      this.sleep();
    });
    buttons.replaceChildren(make('span', { class: 'run-ask-sure' }, text), yes, back);
    back.focus();
    this.sleep();
  }

  button(text, described, act) {
    const button = make('button', { type: 'button', 'aria-describedby': described }, text);
    button.addEventListener('click', (event) => {
      const idle = this.element.dataset.dead || button.closest('[data-answered]');
      if (event.isTrusted && !idle) act();
    });
    return button;
  }

  answer(card, choice) {
    this.store.model.send({ kind: 'answer', id: card.id, choice });
    const item = this.list.querySelector(`[data-ask="${card.id}"]`);
    if (item) item.dataset.answered = 'true'; // not disabled: that would lose the focus
  }
}
