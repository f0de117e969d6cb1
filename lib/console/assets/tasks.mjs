import { post } from './api.mjs';
import { h, number, plural, timeOf, toast } from './dom.mjs';

const ENDS = {
  complete: 'complete',
  limit: 'the limit was reached',
  scan: 'as many messages as permitted were held; run it again for the rest',
  target: 'the target queue does not exist or refuses messages',
  aborted: 'stopped',
  failed: 'failed',
};

export function doneOf({ result, progress }) {
  return result?.replayed ?? result?.discarded ?? progress?.replayed ?? 0;
}

export function taskRow(task, state) {
  const { kind, queue, isRunning, expected, progress, result, error } = task;
  const done = doneOf(task);
  const whole = expected ?? progress?.total ?? done;
  const verb = kind === 'replay' ? 'Replay' : 'Discard';
  const failed = result?.failures ?? [];
  const tone = isRunning
    ? 'wait'
    : error || result?.ended === 'failed' || failed.length
      ? 'bad'
      : 'ok';
  const stop = h('button', { type: 'button', onclick: () => cancel(task) }, 'Stop');
  return h(
    'li.task',
    { 'data-task': task.id },
    h(
      'div.task-head',
      {},
      h(`span.pill.${tone}`, {}, isRunning ? 'Running' : tone === 'bad' ? 'Problems' : 'Done'),
      h('strong.grow', {}, `${verb} of ${queue.name}`),
      h('span.dim.small', {}, timeOf(task.startedAt)),
      isRunning && state.allow.includes(kind) ? stop : undefined,
    ),
    h('progress', {
      max: Math.max(1, whole),
      value: isRunning ? done : whole,
      'aria-label': `${verb} of ${queue.name}`,
    }),
    h(
      'p.small',
      {},
      `${plural(done, 'message')} ${kind === 'replay' ? 'replayed' : 'discarded'}${isRunning && expected ? ` of ${number(expected)}` : ''}`,
      result ? ` · ${ENDS[result.ended] ?? result.ended}` : '',
      result?.duplicated ? ` · ${plural(result.duplicated, 'message')} in both queues` : '',
    ),
    failed.map((one) =>
      h('p.small.warn', {}, `${plural(one.count, 'message')} kept (${namesOf(one)}): ${one.text}`),
    ),
    error || result?.error ? h('p.small.warn', {}, error ?? result.error) : undefined,
  );
}

async function cancel({ id, kind }) {
  try {
    await post(`dead-letters/${kind}/cancel`, { id });
  } catch (error) {
    toast(error.message, 'bad');
  }
}

export class TasksPage {
  constructor(state) {
    this.state = state;
    this.list = h('ul.tasks', {});
    this.element = h(
      'div.page',
      {},
      h('section.panel', {}, h('h2', {}, 'Replays and discards'), this.list),
    );
  }

  show() {
    this.update();
  }

  update() {
    const tasks = [...this.state.tasks.values()].sort((one, other) => other.id - one.id);
    const text = JSON.stringify(tasks);
    if (text === this.last) return;
    this.last = text;
    const none = h('li.empty', {}, 'None since the application started.');
    this.list.replaceChildren(
      ...(tasks.length ? tasks.map((one) => taskRow(one, this.state)) : [none]),
    );
  }
}

/** The first messages of a failure. */
function namesOf({ letters, count }) {
  const names = letters.slice(0, 3).map(({ id, messageId }) => messageId ?? id);
  return names.join(', ') + (count > names.length ? ', …' : '');
}
