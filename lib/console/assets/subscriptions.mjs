import { post } from './api.mjs';
import { FailureChart, sumsOf, ThroughputChart } from './charts.mjs';
import { durationText, h, number, percent, plural, setText, timeOf, toast } from './dom.mjs';

const STATES = {
  consuming: ['ok', 'Consuming'],
  starting: ['wait', 'Starting'],
  reconnecting: ['wait', 'Reconnecting'],
  paused: ['wait', 'Paused'],
  refused: ['bad', 'Refused'],
  stopped: ['off', 'Stopped'],
  disabled: ['off', 'Disabled'],
};
const CAUSES = {
  operator: 'by an operator',
  stuck: 'it cannot go on by itself',
  tripped: 'its kill switch has tripped',
  pauseFor: 'pauseFor()',
  republishFailed: 'a message could not be republished',
};

/** What became of an attempt that failed, in words. */
function fateOf({ decision, status }) {
  if (status === 'abandoned') return 'redelivered, its channel had closed';
  if (status === 'republishFailed') return 'requeued, it could not be republished';
  switch (decision.kind) {
    case 'republish':
      return decision.delayMs > 0
        ? `retried after ${durationText(decision.delayMs)}`
        : 'retried at once';
    case 'requeue':
      return 'retried at once';
    case 'deadLetter':
      return `dead-lettered (${decision.reason})`;
    case 'reject':
      return 'rejected';
    case 'leaveUnsettled':
      return 'redelivered after the restart';
    default:
      return 'skipped';
  }
}

function isFinal({ decision }) {
  return decision.kind !== 'republish' && decision.kind !== 'requeue';
}

export function failureRow(failure, handler) {
  const error = [failure.errorName, failure.errorMessage].filter(Boolean).join(': ');
  return h(
    'li.failure',
    {},
    h(`span.dot.${isFinal(failure) ? 'bad' : 'wait'}`, {}),
    h(
      'div',
      {},
      h('p.failure-error', { title: error }, error || 'no error: an outcome of the handler'),
      h(
        'p.dim.small',
        {},
        handler === undefined ? '' : `${handler} · `,
        `attempt ${failure.attempt} · ${fateOf(failure)}`,
        failure.messageId ? ` · ${failure.messageId}` : '',
        ' · ',
        timeOf(failure.at),
      ),
    ),
  );
}

class SubscriptionCard {
  constructor(state) {
    this.state = state;
    this.throughput = new ThroughputChart();
    this.failures = new FailureChart();
    this.title = h('h3', {});
    this.subtitle = h('p.dim.small.mono.cut', {});
    this.pill = h('span.pill', {});
    this.why = h('p.why.small', {});
    this.rate = h('strong', {});
    this.bad = h('strong', {});
    this.counts = Object.fromEntries(
      ['inFlight', 'ready', 'unacknowledged', 'waiting', 'dead'].map((name) => [name, h('dd', {})]),
    );
    this.dead = h('a', { class: 'count-link' });
    this.counts.dead.append(this.dead);
    this.button = h('button', { type: 'button', onclick: () => this.toggle() });
    this.list = h('ul.failures', {});
    this.facts = h('p.dim.small', {});
    this.details = h('details', {}, h('summary', {}, 'Last failures'), this.facts, this.list);
    const labels = {
      inFlight: ['In flight', 'Deliveries that this instance is handling'],
      ready: ['Ready', 'Messages in the queue that wait for a consumer'],
      unacknowledged: [
        'Unacked',
        'Messages that consumers hold, of all instances if the broker reports it, else of this one',
      ],
      waiting: ['Waiting', 'Messages that wait for their next attempt'],
      dead: ['Dead', 'Messages in the dead-letter queue'],
    };
    this.element = h(
      'article.card',
      {},
      h('div.card-head', {}, h('div.grow', {}, this.title, this.subtitle), this.pill, this.button),
      this.why,
      h(
        'div.charts',
        {},
        h('figure', {}, h('figcaption', {}, 'Attempts ', this.rate), this.throughput.element),
        h('figure', {}, h('figcaption', {}, 'Retried or failed ', this.bad), this.failures.element),
      ),
      h(
        'dl.counts',
        {},
        Object.entries(this.counts).map(([name, value]) =>
          h('div', { title: labels[name][1] }, h('dt', {}, labels[name][0]), value),
        ),
      ),
      this.details,
    );
  }

  update(view) {
    this.view = view;
    const [tone, label] = STATES[view.state] ?? ['off', view.state];
    setText(this.title, view.handler);
    const queue = view.queue ?? 'server-named queue';
    const connection = view.connection ? ` · ${view.connection}` : '';
    setText(this.subtitle, `${queue} · ${view.queueType}${connection}`);
    this.subtitle.title = queue;
    this.pill.className = `pill ${tone}`;
    setText(this.pill, label);
    const cause = view.cause ? `Paused: ${CAUSES[view.cause] ?? view.cause}.` : '';
    const isDown = !['consuming', 'paused'].includes(view.state) && view.lastError;
    setText(this.why, isDown ? view.lastError : cause);
    this.why.hidden = this.why.textContent === '';
    this.throughput.update(view.series);
    this.failures.update(view.series);
    const sums = sumsOf(view.series);
    const bad = sums.retried + sums.failed;
    setText(this.rate, `${number(sums.acknowledged + bad)} in the last hour`);
    setText(this.bad, percent(bad, sums.acknowledged + bad));
    this.bad.className = bad > 0 ? 'warn' : '';
    const { counts } = view;
    setText(this.counts.inFlight, number(view.inFlight));
    setText(this.counts.ready, number(counts?.ready));
    setText(
      this.counts.unacknowledged,
      number(counts?.unacknowledged ?? view.inFlight + view.held),
    );
    setText(this.counts.waiting, number(view.waiting));
    setText(this.dead, number(view.dead));
    this.counts.dead.classList.toggle('warn', view.dead > 0);
    if (view.deadLetter) {
      const key = JSON.stringify([view.connection ?? '', view.deadLetter]);
      this.dead.setAttribute('href', `#/dead-letters/${encodeURIComponent(key)}`);
      this.dead.setAttribute(
        'aria-label',
        `${number(view.dead)} dead letters in ${view.deadLetter}`,
      );
    }
    this.updateButton();
    setText(this.facts, factsOf(view));
    const last = view.failures[0]?.at + view.failures.length;
    if (last !== this.last) {
      this.last = last;
      const none = h('li.dim.small', {}, 'Nothing has failed since the application started.');
      this.list.replaceChildren(
        ...(view.failures.length ? view.failures.map((one) => failureRow(one)) : [none]),
      );
    }
  }

  updateButton() {
    const { state, cause } = this.view;
    const isPaused = state === 'paused';
    const can = this.state.allow.includes('pause') && !['stopped', 'disabled'].includes(state);
    this.button.hidden = !can;
    setText(this.button, isPaused ? 'Resume' : 'Pause');
    this.button.setAttribute('aria-label', `${isPaused ? 'Resume' : 'Pause'} ${this.view.handler}`);
    this.button.title = cause ? `Paused: ${CAUSES[cause] ?? cause}` : '';
  }

  async toggle() {
    const { key, state, handler } = this.view;
    const action = state === 'paused' ? 'resume' : 'pause';
    this.button.disabled = true;
    try {
      await post(`subscriptions/${action}`, { key });
      toast(`${handler}: ${action === 'pause' ? 'paused' : 'resumed'}`);
    } catch (error) {
      toast(error.message, 'bad');
    } finally {
      this.button.disabled = false;
    }
  }
}

function factsOf(view) {
  const bindings = view.bindings.map(
    ({ exchange, routingKey }) => `${exchange} → ${routingKey ?? '(empty key)'}`,
  );
  return [
    bindings.length ? `Bound to ${bindings.join(', ')}` : 'No binding of its own',
    view.prefetch ? `prefetch ${view.prefetch}` : undefined,
    view.attempts ? plural(view.attempts, 'attempt') : 'no retry',
    view.timeout ? `timeout ${durationText(view.timeout)}` : undefined,
    view.deadLetter ? `dead letters in ${view.deadLetter}` : 'no dead-letter queue',
  ]
    .filter(Boolean)
    .join(' · ');
}

export class SubscriptionsPage {
  constructor(state) {
    this.state = state;
    this.cards = new Map();
    this.grid = h('div.cards', {});
    this.recent = h('ul.failures', {});
    this.numbers = [
      'Consuming',
      'Attempts / min',
      'Retried or failed',
      'In flight',
      'Dead letters',
    ].map((label) => ({ value: h('strong', {}), element: h('div.kpi', {}, h('span', {}, label)) }));
    for (const { element, value } of this.numbers) element.prepend(value);
    this.element = h(
      'div.page.with-side',
      {},
      h(
        'section.kpis',
        { 'aria-label': 'All subscriptions' },
        this.numbers.map(({ element }) => element),
      ),
      h('section', { 'aria-label': 'Subscriptions' }, this.grid),
      h('aside.panel', {}, h('h2', {}, 'What failed last'), this.recent),
    );
  }

  show() {
    this.update();
  }

  update() {
    const { subscriptions } = this.state;
    for (const view of subscriptions) {
      let card = this.cards.get(view.key);
      if (card === undefined) {
        card = new SubscriptionCard(this.state);
        this.cards.set(view.key, card);
        this.grid.append(card.element);
      }
      card.update(view);
    }
    this.updateNumbers(subscriptions);
    const all = subscriptions
      .flatMap((view) => view.failures.map((failure) => ({ failure, handler: view.handler })))
      .sort((one, other) => other.failure.at.localeCompare(one.failure.at))
      .slice(0, 12);
    const last = JSON.stringify(
      all.map(({ failure }) => [failure.at, failure.messageId, failure.attempt]),
    );
    if (last === this.last) return;
    this.last = last;
    const none = h('li.dim.small', {}, 'Nothing has failed since the application started.');
    this.recent.replaceChildren(
      ...(all.length ? all.map(({ failure, handler }) => failureRow(failure, handler)) : [none]),
    );
  }

  updateNumbers(subscriptions) {
    const consuming = subscriptions.filter(({ state }) => state === 'consuming').length;
    const sums = subscriptions.map(({ series }) => sumsOf(series));
    const total = (name) => sums.reduce((sum, one) => sum + one[name], 0);
    const bad = total('retried') + total('failed');
    // The last whole minute.
    const minute = subscriptions.reduce(
      (sum, { series: s }) => sum + s.acknowledged.at(-2) + s.retried.at(-2) + s.failed.at(-2),
      0,
    );
    const dead = new Map(
      subscriptions.map((one) => [`${one.connection}/${one.deadLetter}`, one.dead ?? 0]),
    );
    const values = [
      `${consuming} / ${subscriptions.length}`,
      number(minute),
      percent(bad, total('acknowledged') + bad),
      number(subscriptions.reduce((sum, { inFlight }) => sum + inFlight, 0)),
      number([...dead.values()].reduce((sum, count) => sum + count, 0)),
    ];
    values.forEach((value, index) => {
      setText(this.numbers[index].value, value);
    });
  }
}
