// All that each view carries of its code: where the rest is, which a page loads once and a notebook
// keeps once.

const shared = (globalThis[Symbol.for('sandbox-kernel.views')] ??= new Map());

function viewCode(model) {
  const id = model.get('code').slice('IPY_MODEL_'.length);
  if (!shared.has(id)) {
    const loading = load(id, model.widget_manager);
    shared.set(id, loading);
    loading.catch(() => shared.delete(id));
  }
  return shared.get(id);
}

async function load(id, manager) {
  const holder = await manager.get_model(id);
  const style = document.createElement('style');
  style.textContent = holder.get('style');
  document.head.append(style);
  const url = URL.createObjectURL(new Blob([holder.get('source')], { type: 'text/javascript' }));
  try {
    return (await import(url)).default;
  } finally {
    URL.revokeObjectURL(url);
  }
}

export default {
  initialize: async (context) => (await viewCode(context.model)).initialize(context),
  render: async (context) => (await viewCode(context.model)).render(context),
};
