// The line plot: numbers in, one SVG path out. It is drawn here in a few lines and not by a library,
// because every saved notebook contains the widget's code.

const PLOT = { width: 600, height: 100 };

class Plot {
  constructor() {
    this.line = makeSvg('path', { class: 'run-plot-line' });
    this.area = makeSvg('path', { class: 'run-plot-area' });
    const { width, height } = PLOT;
    const drawing = makeSvg(
      'svg',
      { viewBox: `0 -3 ${width} ${height + 6}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' },
      this.area,
      this.line,
    );
    this.dot = make('span', { class: 'run-plot-dot' });
    this.low = make('span', { class: 'run-plot-low' });
    this.high = make('span', { class: 'run-plot-high' });
    this.last = make('span', { class: 'run-plot-last' });
    this.end = make('span', { class: 'run-plot-end' });
    const field = make('div', { class: 'run-plot-field' }, drawing, this.dot);
    this.element = make('div', { class: 'run-plot', role: 'img' });
    this.element.append(this.high, this.low, field, this.last, this.end);
  }

  draw({ points = [], count: total = 0, texts = [] }) {
    this.element.hidden = points.length < 2;
    if (this.element.hidden) return;
    const [low, high, last] = texts;
    const places = scaled(points);
    const path = places.map(([x, y], at) => `${at ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(2)}`).join('');
    this.line.setAttribute('d', path);
    this.area.setAttribute('d', `${path}V${PLOT.height}H0Z`);
    const level = `${((places.at(-1)[1] + 3) / (PLOT.height + 6)) * 100}%`;
    this.dot.style.top = level;
    this.last.style.top = level;
    setText(this.low, low);
    setText(this.high, high);
    setText(this.last, last);
    setText(this.end, count(total, 'number'));
    const label = `Line plot of ${count(total, 'number')}: from ${low} to ${high}, last ${last}`;
    this.element.setAttribute('aria-label', label);
  }
}

/** The points on the drawing. Values are halved first, because their whole range may exceed any number. */
function scaled(points) {
  const values = points.map(([, value]) => value / 2);
  const lowest = Math.min(...values);
  const range = Math.max(...values) - lowest;
  const end = points.at(-1)[0] || 1;
  return points.map(([index], at) => [
    (index / end) * PLOT.width,
    range ? PLOT.height * (1 - (values[at] - lowest) / range) : PLOT.height / 2,
  ]);
}
