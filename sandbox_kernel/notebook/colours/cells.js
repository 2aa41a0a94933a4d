// Draws cells that hold another language than their notebook in that language's colours. Nothing is
// shown: the widget only tells JupyterLab what a cell is. In other front ends it does nothing.

const LANGUAGES = [
  {
    first: /^%%run(code|module|program +(node|deno|javascript|typescript))\b/,
    mime: 'application/typescript',
  },
  { first: /^%%(bridge|runprogram)\b/, mime: 'text/x-ipython' },
];

function initialize({ model }) {
  const cells = model.widget_manager?.context?.model?.cells;
  if (!cells?.changed) return;
  const before = new WeakMap(); // what a cell was
  const colour = (cell) => {
    const source = cell.sharedModel?.getSource() ?? '';
    const wanted = LANGUAGES.find(({ first }) => first.test(source))?.mime;
    if (wanted && cell.mimeType !== wanted) {
      before.set(cell, before.get(cell) ?? cell.mimeType);
      cell.mimeType = wanted;
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
