// Keeps a run's state in the notebook. JupyterLab saves widgets only if the user turned that on, so a
// view writes its own state into the notebook's metadata, where JupyterLab looks for it when it opens
// the file. Other front ends keep widget state in their own ways; there, this does nothing.

const STATE = 'application/vnd.jupyter.widget-state+json';
const VIEW = 'application/vnd.jupyter.widget-view+json';

function keepInNotebook(model) {
  const manager = model.widget_manager;
  const notebook = manager?.context?.model;
  if (typeof notebook?.setMetadata !== 'function' || !manager.get_state_sync) return;
  const live = manager.get_state_sync({ drop_defaults: true }).state;
  const { id } = model.get('head');
  if (!live[id]) return;
  const saved = notebook.getMetadata('widgets')?.[STATE] ?? { version_major: 2, version_minor: 0, state: {} };
  const state = withoutForgotten(saved.state, shownModels(notebook));
  for (const name of [id, ...references(live[id])]) if (live[name]) state[name] = live[name];
  state[id] = summary(live[id]);
  notebook.setMetadata('widgets', { ...notebook.getMetadata('widgets'), [STATE]: { ...saved, state } });
}

/** A notebook that is saved during a run contains what the view shows at that moment. */
function keepWhenSaved(model, isOver) {
  const saving = model.widget_manager?.context?.saveState;
  const keep = (_, state) => {
    if (isOver()) saving.disconnect(keep);
    else if (state === 'started') keepInNotebook(model);
  };
  saving?.connect?.(keep);
}

/** Whether the notebook was saved during a run that has ended since. */
function isBehind(model) {
  const { id, status } = model.get('head');
  const saved = model.widget_manager?.context?.model?.getMetadata?.('widgets')?.[STATE]?.state?.[id];
  return status !== 'running' && saved?.state?.head?.status === 'running';
}

const references = ({ state }) =>
  Object.values(state)
    .filter((value) => typeof value === 'string' && value.startsWith('IPY_MODEL_'))
    .map((value) => value.slice('IPY_MODEL_'.length));

const SAVED = 12_000; // characters of reports, and of logs, in the notebook's file

/** A view as the file keeps it: of what it lists only the newest. */
function summary(entry) {
  const { window } = entry.state;
  if (!window?.reports) return entry;
  const kept = { reports: newest(window.reports), logs: newest(window.logs) };
  return { ...entry, state: { ...entry.state, window: kept } };
}

function newest({ until, items }) {
  let room = SAVED;
  const kept = items.toReversed().filter((item) => (room -= JSON.stringify(item).length) > 0);
  return { until, items: kept.toReversed() };
}

/** Without our views whose output is gone, and the code that none of the others uses; other widgets stay. */
function withoutForgotten(state, shown) {
  const isOurs = (entry) => entry.state?._anywidget_id?.endsWith('.RunWidget');
  const isGone = ([name, entry]) => isOurs(entry) && !shown.has(name);
  const all = Object.entries(state);
  const used = new Set(all.filter((each) => !isGone(each)).flatMap(([, entry]) => references(entry)));
  const gone = all.filter(isGone).flatMap(([name, entry]) => [name, ...references(entry)]);
  const dropped = new Set(gone.filter((name) => !used.has(name)));
  return Object.fromEntries(all.filter(([name]) => !dropped.has(name)));
}

/**
 * The still output of a run that has ended. A page that was loaded during the run does not get the
 * kernel's update of it; so the view writes it there.
 */
function keepStill(model, data) {
  const notebook = model.widget_manager?.context?.model;
  const name = stillName(model.get('head').id);
  for (const { outputs } of notebook?.cells ?? [])
    for (let at = 0; at < (outputs?.length ?? 0); at++) {
      const shown = outputs.get(at).data?.['text/html'];
      if (!String(shown).includes(name) || shown === data['text/html']) continue;
      outputs.set(at, { output_type: 'display_data', metadata: {}, data });
    }
}

const stillName = (id) => `sandbox-run-still-${id}`;

/** Where the view is drawn, its still output is not needed. */
function hideStill(id) {
  const still = `.${stillName(id)}`;
  const rule = make('style', {}, `${still}, .jp-OutputArea-child:has(${still}) { display: none; }`);
  document.head.append(rule);
  return () => rule.remove();
}

function shownModels(notebook) {
  const shown = new Set();
  for (const { outputs } of notebook.cells ?? [])
    for (let at = 0; at < (outputs?.length ?? 0); at++) shown.add(outputs.get(at).data?.[VIEW]?.model_id);
  return shown;
}
