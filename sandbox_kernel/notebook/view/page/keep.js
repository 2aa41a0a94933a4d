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

/** Without our views whose output is gone from the notebook; other widgets are left alone. */
function withoutForgotten(state, shown) {
  const isOurs = (entry) => entry.state?._anywidget_id?.endsWith('.RunWidget');
  const forgotten = Object.entries(state).filter(([name, entry]) => isOurs(entry) && !shown.has(name));
  const gone = new Set(forgotten.flatMap(([name, entry]) => [name, ...references(entry)]));
  return Object.fromEntries(Object.entries(state).filter(([name]) => !gone.has(name)));
}

function shownModels(notebook) {
  const shown = new Set();
  for (const { outputs } of notebook.cells ?? [])
    for (let at = 0; at < (outputs?.length ?? 0); at++) shown.add(outputs.get(at).data?.[VIEW]?.model_id);
  return shown;
}
