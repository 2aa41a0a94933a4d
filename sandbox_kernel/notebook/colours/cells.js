// Draws cells that hold another language than their notebook in that language's colours. Nothing is
// shown: the widget only tells JupyterLab what a cell is. In other front ends it does nothing.

const TYPESCRIPT = 'application/typescript';
const HOLDS_TYPESCRIPT = /^%%run(code|module)\b/;

function initialize({ model }) {
  const cells = model.widget_manager?.context?.model?.cells;
  if (!cells?.changed) return;
  const before = new WeakMap(); // what a cell was
  const colour = (cell) => {
    const wanted = HOLDS_TYPESCRIPT.test(cell.sharedModel?.getSource() ?? '');
    if (wanted && cell.mimeType !== TYPESCRIPT) {
      before.set(cell, cell.mimeType);
      cell.mimeType = TYPESCRIPT;
    } else if (!wanted && before.has(cell)) {
      const former = before.get(cell);
      before.delete(cell);
      cell.mimeType = former;
    }
  };
  const watch = (cell) => {
    if (cell?.type !== 'code') return;
    cell.contentChanged.connect(colour);
    cell.mimeTypeChanged.connect(colour); // JupyterLab sets it when a kernel starts
    colour(cell);
  };
  for (const cell of cells) watch(cell);
  cells.changed.connect((_, { newValues }) => newValues?.forEach(watch));
}

export default { initialize, render: () => {} };
