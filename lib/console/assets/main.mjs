import { get, listen } from './api.mjs';
import { DeadLettersPage } from './dead-letters.mjs';
import { h, refreshTimes, setText } from './dom.mjs';
import { SubscriptionsPage } from './subscriptions.mjs';
import { TasksPage } from './tasks.mjs';

const state = { allow: [], showPayload: false, subscriptions: [], tasks: new Map() };
const main = document.getElementById('main');
const live = document.getElementById('live');

const pages = {
  subscriptions: { title: 'Subscriptions', page: new SubscriptionsPage(state) },
  'dead-letters': { title: 'Dead letters', page: new DeadLettersPage(state) },
  tasks: { title: 'Activity', page: new TasksPage(state) },
};
const badges = {};
let current;

for (const [name, { title }] of Object.entries(pages)) {
  badges[name] = h('span.badge', {});
  const href = `#/${name}`;
  document.getElementById('tabs').append(h('a', { href, 'data-tab': name }, title, badges[name]));
}

function route() {
  const [, name = '', ...parts] = location.hash.split('/');
  const key = name in pages ? name : 'subscriptions';
  for (const tab of document.querySelectorAll('[data-tab]')) {
    if (tab.dataset.tab === key) tab.setAttribute('aria-current', 'page');
    else tab.removeAttribute('aria-current');
  }
  const { page, title } = pages[key];
  if (current !== page) main.replaceChildren(page.element);
  current = page;
  document.title = `${title} · Settle console`;
  page.show(parts.map(decodeURIComponent));
}

function changed() {
  for (const { page } of Object.values(pages)) page.update();
  const dead = new Map(
    state.subscriptions.map((one) => [`${one.connection}/${one.deadLetter}`, one.dead ?? 0]),
  );
  setText(badges.subscriptions, state.subscriptions.length || '');
  setText(badges['dead-letters'], [...dead.values()].reduce((sum, count) => sum + count, 0) || '');
  setText(badges.tasks, [...state.tasks.values()].filter((one) => one.isRunning).length || '');
}

function connected(isConnected, text) {
  live.classList.toggle('on', isConnected);
  setText(live, text);
}

async function load() {
  const loaded = await get('state');
  Object.assign(state, {
    allow: loaded.allow,
    showPayload: loaded.showPayload,
    subscriptions: loaded.subscriptions,
    tasks: new Map(loaded.tasks.map((task) => [task.id, task])),
  });
  changed();
}

function start() {
  listen({
    open: () => {
      connected(true, 'Live');
      load().catch((error) => connected(false, error.message));
    },
    error: () => connected(false, 'Reconnecting'),
    closing: () => connected(false, 'Shutting down'),
    overview: ({ subscriptions }) => {
      state.subscriptions = subscriptions;
      changed();
    },
    changes: ({ subscriptions }) => {
      const fresh = new Map(subscriptions.map((one) => [one.key, one]));
      state.subscriptions = state.subscriptions.map((one) => fresh.get(one.key) ?? one);
      changed();
    },
    task: (task) => {
      state.tasks.set(task.id, task);
      changed();
    },
  });
}

const THEMES = ['auto', 'light', 'dark'];
function setTheme(name) {
  document.documentElement.dataset.theme = name;
  const button = document.getElementById('theme');
  button.title = `Colours: ${name}`;
  setText(button, { auto: '◐', light: '☀', dark: '☾' }[name]);
}
let theme = localStorage.getItem('settle-console-theme') ?? 'auto';
setTheme(THEMES.includes(theme) ? theme : 'auto');
document.getElementById('theme').addEventListener('click', () => {
  theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  localStorage.setItem('settle-console-theme', theme);
  setTheme(theme);
});

addEventListener('hashchange', () => {
  if (location.hash.startsWith('#/') || location.hash === '') route();
});
setInterval(refreshTimes, 5000);
route();
start();
