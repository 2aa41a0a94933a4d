// What is shown is drawn by the host; here the functions only get the shape that guests know.
const table = (rows, options) => void host.table(rows, options);
const chart = (options) => void host.chart(options);
const image = (data, options) => void host.image(data, options);
const display = { table, chart, image };
return { __proto__: null, '': { table, chart, image, display, default: display } };
