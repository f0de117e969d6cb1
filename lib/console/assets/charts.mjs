const SVG = 'http://www.w3.org/2000/svg';
const [WIDTH, HEIGHT] = [240, 44];

function svg(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

/** Attempts of each minute of the last hour: acknowledged, retried and failed on top of each other. */
export class ThroughputChart {
  constructor() {
    this.element = svg('svg', {
      class: 'chart',
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      preserveAspectRatio: 'none',
      role: 'img',
    });
    this.title = svg('title', {});
    this.paths = ['acknowledged', 'retried', 'failed'].map((kind) => {
      const path = svg('path', { class: `bar ${kind}` });
      return { kind, path };
    });
    const base = svg('line', {
      class: 'base',
      x1: 0,
      x2: WIDTH,
      y1: HEIGHT - 0.5,
      y2: HEIGHT - 0.5,
    });
    this.element.append(this.title, base, ...this.paths.map(({ path }) => path));
  }

  update(series) {
    const minutes = series.acknowledged.length;
    const totals = series.acknowledged.map(
      (count, index) => count + series.retried[index] + series.failed[index],
    );
    const most = Math.max(1, ...totals);
    const step = WIDTH / minutes;
    const below = new Array(minutes).fill(0);
    for (const { kind, path } of this.paths) {
      let d = '';
      series[kind].forEach((count, index) => {
        if (count === 0) return;
        const size = Math.max(1.5, (count / most) * (HEIGHT - 3));
        const top = HEIGHT - 1 - below[index] - size;
        below[index] += size;
        d += `M${(index * step + 0.4).toFixed(1)} ${top.toFixed(1)}h${(step - 0.8).toFixed(1)}v${size.toFixed(1)}h-${(step - 0.8).toFixed(1)}z`;
      });
      path.setAttribute('d', d);
    }
    this.title.textContent = `Attempts per minute over the last hour, at most ${most} in a minute`;
  }
}

/** The share of attempts of each minute that was retried or failed. */
export class FailureChart {
  constructor() {
    this.element = svg('svg', {
      class: 'chart rate',
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      preserveAspectRatio: 'none',
      role: 'img',
    });
    this.title = svg('title', {});
    this.area = svg('path', { class: 'area' });
    this.line = svg('path', { class: 'line' });
    const base = svg('line', {
      class: 'base',
      x1: 0,
      x2: WIDTH,
      y1: HEIGHT - 0.5,
      y2: HEIGHT - 0.5,
    });
    this.element.append(this.title, base, this.area, this.line);
  }

  update(series) {
    const { acknowledged, retried, failed } = series;
    const step = WIDTH / (acknowledged.length - 1);
    const points = acknowledged.map((count, index) => {
      const bad = retried[index] + failed[index];
      const share = bad === 0 ? 0 : bad / (bad + count);
      return `${(index * step).toFixed(1)} ${(HEIGHT - 1.5 - share * (HEIGHT - 4)).toFixed(1)}`;
    });
    this.line.setAttribute('d', `M${points.join('L')}`);
    this.area.setAttribute('d', `M0 ${HEIGHT}L${points.join('L')}L${WIDTH} ${HEIGHT}z`);
    this.title.textContent = 'Share of attempts that were retried or failed, over the last hour';
  }
}

/** The sums of an hour. */
export function sumsOf({ acknowledged, retried, failed }) {
  const sum = (list) => list.reduce((total, count) => total + count, 0);
  return { acknowledged: sum(acknowledged), retried: sum(retried), failed: sum(failed) };
}
