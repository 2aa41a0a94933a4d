// The widget: one store per run, one panel per view of it. Drawing waits for the next frame, so that
// many updates are drawn once.

const stores = new Map();

function storeOf(model) {
  const key = model.get('head').id;
  if (!stores.has(key)) stores.set(key, new RunStore(model));
  return stores.get(key);
}

function initialize({ model }) {
  const store = storeOf(model);
  let kept = store.head.status !== 'running';
  const keepAtEnd = () => {
    if (kept || store.head.status === 'running') return;
    kept = true;
    setTimeout(() => keepInNotebook(model)); // when the last of the final state has arrived
  };
  store.listeners.add(keepAtEnd);
  model.on(
    'msg:custom',
    ({ kind, data }) => kind === 'still' && setTimeout(() => keepStill(model, data), 500),
  );
  if (!kept) keepWhenSaved(model, () => kept);
  else setTimeout(() => isBehind(model) && keepInNotebook(model), 500); // when the model is known
}

function render({ model, el }) {
  const store = storeOf(model);
  const panel = new Panel(store);
  el.append(panel.element);
  let frame = 0;
  const draw = () => (frame ||= requestAnimationFrame(() => ((frame = 0), panel.draw())));
  store.listeners.add(draw);
  const clock = setInterval(() => panel.element.dataset.status === 'running' && panel.drawTime(), 100);
  rememberFocus(panel.element, store.choices);
  const showStill = hideStill(store.head.id);
  return () => {
    showStill();
    store.listeners.delete(draw);
    clearInterval(clock);
    cancelAnimationFrame(frame);
  };
}

/** When a run ends, its output is drawn anew; the element that had the focus gets it back. */
function rememberFocus(element, choices) {
  whenShown(element, () => {
    const busyElsewhere = document.activeElement?.closest?.('input, textarea, .cm-editor');
    if (choices.focus && !busyElsewhere) element.querySelector(`[data-focus="${choices.focus}"]`)?.focus();
  });
  element.addEventListener('focusin', ({ target }) => (choices.focus = target.dataset.focus ?? null));
  element.addEventListener('focusout', () =>
    setTimeout(() => element.isConnected && forget(element, choices)),
  );
}

/** Front ends put a view into the page some time after making it. */
function whenShown(element, act) {
  const observer = new ResizeObserver(() => {
    if (!element.isConnected) return;
    observer.disconnect();
    act();
  });
  observer.observe(element);
}

function forget(element, choices) {
  if (!element.contains(document.activeElement)) choices.focus = null;
}

export default { initialize, render };
