import { get, post } from './api.mjs';
import {
  bytesText,
  closeButton,
  h,
  number,
  openDialog,
  plural,
  setText,
  timeOf,
  toast,
} from './dom.mjs';
import { taskRow } from './tasks.mjs';

const REASONS = {
  attempts: 'no attempts left',
  drop: 'dropped',
  error: 'error',
  timeout: 'timeout',
  'invalid-payload': 'invalid payload',
  panic: 'panic',
  'republish-failed': 'republish failed',
  rejected: 'rejected',
  expired: 'expired',
  maxlen: 'queue was full',
  delivery_limit: 'delivery limit',
};

export class DeadLettersPage {
  constructor(state) {
    this.state = state;
    this.selected = new Set();
    this.queues = h('ul.queues', {});
    this.search = h('input', {
      type: 'search',
      placeholder: 'Search error, handler, message id, routing key',
      'aria-label': 'Search dead letters',
      oninput: () => this.render(),
    });
    this.reload = h('button', { type: 'button', onclick: () => this.load() }, 'Refresh');
    this.info = h('p.dim.small', { role: 'status' });
    this.running = h('ul.tasks', {});
    this.groups = h('div.groups', {});
    this.letters = h('div.letters', {});
    this.actions = h('div.actions', {});
    this.drawer = h('aside.drawer', { hidden: true, tabindex: '-1', 'aria-label': 'Message' });
    this.drawer.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.close();
    });
    this.content = h(
      'section.dead',
      { 'aria-label': 'Dead letters' },
      h('div.toolbar', {}, this.search, this.reload),
      this.info,
      this.running,
      this.groups,
      this.actions,
      this.letters,
    );
    this.element = h(
      'div.page.dead-page',
      {},
      h('nav.panel', { 'aria-label': 'Dead-letter queues' }, h('h2', {}, 'Queues'), this.queues),
      this.content,
      this.drawer,
    );
  }

  /** Opens the queue, the group and the message of the address. */
  show([queue, group = '', message]) {
    const first = this.list()[0]?.key;
    const key = queue ?? first;
    const isOther = key !== this.queue;
    const isPartial = this.data !== undefined && this.data.letters.length < this.data.matched;
    const isOtherGroup =
      group !== this.group && (isPartial || this.data?.scanned < this.data?.total);
    this.group = group;
    if (isOther) {
      this.queue = key;
      this.data = undefined;
      this.selected.clear();
    }
    if (key !== undefined && (isOther || isOtherGroup || this.data === undefined)) this.load();
    this.update();
    this.render();
    if (message) this.open(message);
    else this.hideDrawer();
  }

  list() {
    const queues = new Map();
    for (const view of this.state.subscriptions) {
      if (!view.deadLetter) continue;
      const key = JSON.stringify([view.connection ?? '', view.deadLetter]);
      const entry = queues.get(key) ?? {
        key,
        name: view.deadLetter,
        handlers: [],
        count: view.dead,
      };
      entry.handlers.push(view.handler);
      queues.set(key, entry);
    }
    return [...queues.values()];
  }

  update() {
    const list = this.list();
    if (this.queue === undefined && list.length > 0 && this.element.isConnected) this.show([]);
    const text = JSON.stringify([list, this.queue]);
    if (text !== this.lastQueues) {
      this.lastQueues = text;
      const none = h('li.empty', {}, 'No subscription has a dead-letter queue.');
      this.queues.replaceChildren(
        ...(list.length ? list.map((one) => this.queueLink(one)) : [none]),
      );
    }
    const tasks = [...this.state.tasks.values()]
      .filter(
        ({ queue, isRunning, id }) =>
          queue.key === this.queue && (isRunning || id === this.lastTask),
      )
      .sort((one, other) => other.id - one.id);
    const shown = JSON.stringify(tasks);
    if (shown === this.lastTasks) return;
    this.lastTasks = shown;
    this.running.replaceChildren(...tasks.map((task) => taskRow(task, this.state)));
    if (tasks.some(({ id, isRunning }) => id === this.lastTask && !isRunning)) this.load();
  }

  queueLink({ key, name, count, handlers }) {
    const href = `#/dead-letters/${encodeURIComponent(key)}`;
    return h(
      'li',
      {},
      h(
        'a',
        { href, 'aria-current': key === this.queue ? 'page' : undefined, title: name },
        h('span.cut', {}, h('strong.mono', {}, name), h('span.dim.small', {}, handlers.join(', '))),
        h(`span.badge${count > 0 ? '.hot' : ''}`, {}, number(count)),
      ),
    );
  }

  async load() {
    const { queue } = this;
    if (queue === undefined) return;
    const id = (this.loading ?? 0) + 1;
    this.loading = id;
    this.reload.disabled = true;
    if (this.data === undefined) setText(this.info, 'Reading the queue…');
    try {
      const data = await get('dead-letters', { queue });
      if (this.loading !== id || this.queue !== queue) return;
      this.data = data;
      // Of a large queue, the messages of the open group are not all among the listed ones.
      if (this.group && data.letters.length < data.matched) {
        const ofGroup = await get('dead-letters', { queue, group: this.group });
        if (this.loading !== id || this.queue !== queue) return;
        this.data = { ...data, letters: ofGroup.letters };
      }
      const ids = new Set(data.letters.map((letter) => letter.id));
      for (const one of this.selected) if (!ids.has(one)) this.selected.delete(one);
      this.render();
    } catch (error) {
      if (this.loading === id) setText(this.info, error.message);
    } finally {
      if (this.loading === id) this.reload.disabled = false;
    }
  }

  matches(...texts) {
    const wanted = this.search.value.trim().toLowerCase();
    return wanted === '' || texts.some((text) => text?.toLowerCase().includes(wanted));
  }

  render() {
    const { data } = this;
    if (data === undefined) {
      this.groups.replaceChildren();
      this.letters.replaceChildren();
      this.actions.replaceChildren();
      return;
    }
    const looked =
      data.scanned < data.total
        ? `Looked at the first ${number(data.scanned)} of ${plural(data.total, 'message')}.`
        : `${plural(data.total, 'message')} in the queue.`;
    const consumers =
      data.consumers > 0
        ? ` ${plural(data.consumers, 'consumer')} of the queue take messages away.`
        : '';
    const listed =
      data.letters.length < data.matched
        ? ` The first ${number(data.letters.length)} are listed below.`
        : '';
    setText(this.info, looked + listed + consumers);
    const letters = data.letters.filter((letter) => this.isShown(letter));
    const groups = data.groups.filter(
      (one) =>
        this.matches(one.errorName, one.errorMessage, one.handler, one.reason) ||
        letters.some((letter) => letter.group === one.key),
    );
    this.groups.replaceChildren(
      h('h2', {}, `${plural(groups.length, 'group')}`),
      ...(groups.length
        ? groups.map((one) => this.groupRow(one))
        : [h('p.empty', {}, data.total === 0 ? 'The queue is empty.' : 'Nothing matches.')]),
    );
    this.letters.replaceChildren(
      ...(letters.length
        ? [h('h2', {}, this.group ? 'Messages of the group' : 'Messages'), this.table(letters)]
        : []),
    );
    this.renderActions();
  }

  isShown(letter) {
    if (this.group && letter.group !== this.group) return false;
    const { errorName, errorMessage, handler, messageId, reason, origin } = letter;
    return this.matches(
      errorName,
      errorMessage,
      handler,
      messageId,
      reason,
      origin?.routingKey,
      origin?.queue,
    );
  }

  groupRow(group) {
    const isOpen = this.group === group.key;
    const href = `#/dead-letters/${encodeURIComponent(this.queue)}${isOpen ? '' : `/${group.key}`}`;
    const where = { group: group.key };
    return h(
      `div.group${isOpen ? '.open' : ''}`,
      {},
      h(
        'a.group-link',
        { href, 'aria-expanded': isOpen, title: group.errorMessage },
        h('span.group-count', {}, number(group.count)),
        h(
          'span.grow.cut',
          {},
          h(
            'strong',
            {},
            [group.errorName, group.errorMessage].filter(Boolean).join(': ') ||
              (REASONS[group.reason] ?? group.reason),
          ),
          h(
            'span.dim.small',
            {},
            h('span.tag', {}, REASONS[group.reason] ?? group.reason),
            group.handler ? ` ${group.handler} · ` : ' ',
            'last ',
            timeOf(group.to),
          ),
        ),
      ),
      this.buttons({ where }, 'the group'),
    );
  }

  buttons(selection, what) {
    const { allow } = this.state;
    return h(
      'div.buttons',
      {},
      allow.includes('replay')
        ? h(
            'button.primary',
            {
              type: 'button',
              'aria-label': `Replay ${what}`,
              onclick: () => this.replay(selection, what),
            },
            'Replay',
          )
        : undefined,
      allow.includes('discard')
        ? h(
            'button.danger',
            {
              type: 'button',
              'aria-label': `Discard ${what}`,
              onclick: () => this.discard(selection, what),
            },
            'Discard',
          )
        : undefined,
    );
  }

  table(letters) {
    const canSelect = this.state.allow.some((action) => action !== 'pause');
    const all = letters.every(({ id }) => this.selected.has(id));
    const box = (checked, label, change) =>
      h('input', {
        type: 'checkbox',
        checked,
        'aria-label': label,
        onchange: (event) => change(event.target.checked),
      });
    const select = (ids, isSelected) => {
      for (const id of ids) {
        if (isSelected) this.selected.add(id);
        else this.selected.delete(id);
      }
      this.render();
    };
    const open = (letter) =>
      `#/dead-letters/${encodeURIComponent(this.queue)}/${this.group}/${encodeURIComponent(letter.id)}`;
    return h(
      'div.table-wrap',
      {},
      h(
        'table',
        {},
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            canSelect
              ? h(
                  'th.check',
                  { scope: 'col' },
                  box(all, 'Select all', (on) =>
                    select(
                      letters.map(({ id }) => id),
                      on,
                    ),
                  ),
                )
              : undefined,
            ['#', 'Message', 'Error', 'Failed in', 'Attempts', 'When'].map((name) =>
              h('th', { scope: 'col' }, name),
            ),
          ),
        ),
        h(
          'tbody',
          {},
          letters.map((letter) =>
            h(
              `tr${letter.id === this.opened ? '.opened' : ''}`,
              {},
              canSelect
                ? h(
                    'td.check',
                    {},
                    box(this.selected.has(letter.id), `Select message ${letter.position}`, (on) =>
                      select([letter.id], on),
                    ),
                  )
                : undefined,
              h('td.dim', { 'data-label': '#' }, String(letter.position)),
              h(
                'td',
                { 'data-label': 'Message' },
                h(
                  'a.mono',
                  { href: open(letter), 'data-letter': letter.id },
                  letter.messageId ?? 'no id',
                ),
                letter.replays
                  ? h(
                      'span.tag',
                      { title: 'It was replayed before' },
                      `replayed ${letter.replays}×`,
                    )
                  : undefined,
              ),
              h(
                'td.error-cell',
                { 'data-label': 'Error', title: letter.errorMessage },
                [letter.errorName, letter.errorMessage].filter(Boolean).join(': ') ||
                  (REASONS[letter.reason] ?? letter.reason),
              ),
              h('td.mono.small', { 'data-label': 'Failed in' }, letter.origin?.queue ?? 'unknown'),
              h('td', { 'data-label': 'Attempts' }, number(letter.attempts)),
              h('td.nowrap', { 'data-label': 'When' }, timeOf(letter.failedAt)),
            ),
          ),
        ),
      ),
    );
  }

  renderActions() {
    const count = this.selected.size;
    this.actions.hidden = count === 0;
    if (count === 0) return;
    const clear = () => {
      this.selected.clear();
      this.render();
    };
    this.actions.replaceChildren(
      h('strong.grow', {}, `${plural(count, 'message')} selected`),
      h('button.ghost', { type: 'button', onclick: clear }, 'Clear'),
      this.buttons({ ids: [...this.selected] }, 'the selection'),
    );
  }

  async open(id) {
    const { queue } = this;
    this.opened = id;
    this.drawer.hidden = false;
    this.element.classList.add('with-drawer');
    const close = () => this.close();
    this.drawer.replaceChildren(
      h('div.drawer-head', {}, h('h2.grow', {}, 'Message'), closeButton(close)),
      h('p.dim', {}, 'Reading…'),
    );
    this.drawer.focus();
    try {
      const view = await get('dead-letters/message', { queue, id });
      if (this.opened === id) this.drawer.replaceChildren(...this.messageParts(view, close));
    } catch (error) {
      if (this.opened === id)
        this.drawer.replaceChildren(
          h('div.drawer-head', {}, h('h2.grow', {}, 'Message'), closeButton(close)),
          h('p.warn', {}, error.message),
        );
    }
    this.render();
  }

  messageParts({ letter, body, headers, hiddenHeaders, properties }, close) {
    const facts = [
      ['Error', [letter.errorName, letter.errorMessage].filter(Boolean).join(': ')],
      ['Reason', REASONS[letter.reason] ?? letter.reason],
      ['Handler', letter.handler],
      ['Failed in', letter.origin?.queue],
      [
        'Published to',
        letter.origin?.exchange === undefined
          ? undefined
          : `${letter.origin.exchange || '(default exchange)'} → ${letter.origin.routingKey ?? ''}`,
      ],
      ['Attempts', letter.attempts],
      ['Replayed', letter.replays ? `${letter.replays} times` : undefined],
      ['Size', bytesText(letter.size)],
    ].filter(([, value]) => value !== undefined && value !== '');
    const table = (rows) =>
      h(
        'dl.facts',
        {},
        rows.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, String(value)))),
      );
    return [
      h(
        'div.drawer-head',
        {},
        h('h2.grow.mono.cut', {}, letter.messageId ?? 'Message without id'),
        closeButton(close),
      ),
      this.buttons({ ids: [letter.id] }, 'the message'),
      table(facts),
      h('h3', {}, 'Body'),
      body === undefined
        ? h('p.notice', {}, 'Bodies are hidden. The option showPayload shows them.')
        : h(
            'div',
            {},
            h('p.dim.small', {}, `${body.kind}${body.isTruncated ? ', the first 64 KiB' : ''}`),
            body.kind === 'empty'
              ? undefined
              : h('pre', { tabindex: '0', 'data-body': body.kind }, body.text),
          ),
      h('h3', {}, 'History'),
      h(
        'ol.history',
        {},
        letter.history.map((one) =>
          h(
            'li',
            {},
            h('strong', {}, historyText(one)),
            h('span.dim.small', {}, one.queue ? ` ${one.queue} · ` : ' ', timeOf(one.at)),
          ),
        ),
      ),
      h('h3', {}, 'Headers'),
      headers.length ? table(headers) : h('p.dim.small', {}, 'none'),
      hiddenHeaders
        ? h('p.notice', {}, `${plural(hiddenHeaders, 'header')} of the application hidden.`)
        : undefined,
      h('h3', {}, 'Properties'),
      table(properties),
    ].filter(Boolean);
  }

  close() {
    const opened = this.opened;
    location.hash = `#/dead-letters/${encodeURIComponent(this.queue)}${this.group ? `/${this.group}` : ''}`;
    setTimeout(() =>
      this.letters.querySelector(`[data-letter="${CSS.escape(opened ?? '')}"]`)?.focus(),
    );
  }

  hideDrawer() {
    this.opened = undefined;
    this.drawer.hidden = true;
    this.element.classList.remove('with-drawer');
  }

  async replay(selection, what) {
    const { queue } = this;
    let plan;
    try {
      plan = await post('dead-letters/replay', { queue, ...selection, dryRun: true });
    } catch (error) {
      return toast(error.message, 'bad');
    }
    const rate = h('input', {
      type: 'number',
      min: '1',
      placeholder: 'no limit',
      'aria-label': 'Messages per second',
    });
    const target = h(
      'select',
      { 'aria-label': 'Target queue' },
      h('option', { value: '' }, 'the queue in which each failed'),
    );
    for (const one of new Set(this.state.subscriptions.map((view) => view.queue).filter(Boolean))) {
      target.append(h('option', { value: one }, one));
    }
    const content = [
      h('p', {}, `Dry run: ${plural(plan.matched, 'message')} of ${what} would be replayed.`),
      h(
        'ul.plain',
        {},
        plan.targets.map((one) =>
          h('li', {}, `${number(one.count)} to `, h('span.mono', {}, one.queue)),
        ),
      ),
      plan.failures.map((one) =>
        h('p.warn.small', {}, `${plural(one.count, 'message')} would be kept: ${one.text}`),
      ),
      h('label.field', {}, 'Target', target),
      h('label.field', {}, 'Messages per second', rate),
    ];
    openDialog('Replay', content, (close) => [
      h('button.ghost', { type: 'button', onclick: close }, 'Cancel'),
      h(
        'button.primary',
        {
          type: 'button',
          autofocus: true,
          disabled: plan.matched === 0,
          onclick: () => {
            close();
            const options = {
              to: target.value || undefined,
              rate: rate.value ? Number(rate.value) : undefined,
            };
            this.run('replay', { queue, ...selection, ...options, expected: plan.matched });
          },
        },
        `Replay ${plural(plan.matched, 'message')}`,
      ),
    ]);
  }

  async discard(selection, what) {
    const { queue } = this;
    let plan;
    try {
      plan = await post('dead-letters/discard', { queue, ...selection, dryRun: true });
    } catch (error) {
      return toast(error.message, 'bad');
    }
    const content = [
      h('p', {}, `Dry run: ${plural(plan.matched, 'message')} of ${what} would be deleted.`),
      h('p.warn', {}, 'Deleted messages cannot be restored.'),
    ];
    openDialog('Discard', content, (close) => [
      h('button.ghost', { type: 'button', autofocus: true, onclick: close }, 'Cancel'),
      h(
        'button.danger',
        {
          type: 'button',
          disabled: plan.matched === 0,
          onclick: () => {
            close();
            this.run('discard', {
              queue,
              ...selection,
              confirm: plan.token,
              expected: plan.matched,
            });
          },
        },
        `Delete ${plural(plan.matched, 'message')}`,
      ),
    ]);
  }

  async run(kind, body) {
    try {
      const task = await post(`dead-letters/${kind}`, body);
      this.lastTask = task.id;
      if (!this.state.tasks.has(task.id)) this.state.tasks.set(task.id, task);
      this.selected.clear();
      if (this.opened) this.close();
      this.update();
    } catch (error) {
      toast(error.message, 'bad');
    }
  }
}

function historyText({ kind, reason, count }) {
  const texts = {
    failed: 'First attempt failed',
    'dead-lettered': `Dead-lettered: ${REASONS[reason] ?? reason}`,
    moved: `Moved by RabbitMQ: ${REASONS[reason] ?? reason}${count > 1 ? `, ${count} times` : ''}`,
    replayed: `Replayed${count > 1 ? ` ${count} times` : ''}`,
  };
  return texts[kind] ?? kind;
}
