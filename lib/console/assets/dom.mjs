/** Makes an element. Texts become text nodes: nothing that comes from a message is ever markup. */
export function h(tag, attributes = {}, ...children) {
  const [name, ...classes] = tag.split('.');
  const element = document.createElement(name || 'div');
  if (classes.length > 0) element.className = classes.join(' ');
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? '' : String(value));
  }
  element.append(...children.flat().filter((child) => child !== undefined && child !== null));
  return element;
}

/** Changes a text only if it differs, so that a selection in it stays. */
export function setText(element, text) {
  const value = String(text);
  if (element.textContent !== value) element.textContent = value;
}

const NUMBER = new Intl.NumberFormat('en');

export function number(value) {
  return value === undefined || value === null ? '–' : NUMBER.format(value);
}

export function percent(part, whole) {
  if (whole === 0) return '0 %';
  const value = (100 * part) / whole;
  return `${value > 0 && value < 10 ? value.toFixed(1) : Math.round(value)} %`;
}

export function plural(count, noun) {
  return `${number(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** `12 s ago`; the title has the whole time. */
export function timeOf(iso) {
  if (!iso) return h('span.dim', {}, '–');
  const date = new Date(iso);
  return h('time', { datetime: iso, title: date.toLocaleString() }, agoText(date));
}

export function agoText(date) {
  const seconds = Math.max(0, Math.round((Date.now() - date.getTime()) / 1000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86_400)} d ago`;
}

/** Refreshes the relative times of the page. */
export function refreshTimes() {
  for (const element of document.querySelectorAll('time[datetime]')) {
    setText(element, agoText(new Date(element.getAttribute('datetime'))));
  }
}

export function durationText(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  return `${Math.round(ms / 60_000)} min`;
}

export function bytesText(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 ** 2
    ? `${(bytes / 1024).toFixed(1)} KiB`
    : `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}

export function toast(text, kind = 'info') {
  const element = h(`div.toast.${kind}`, {}, text);
  document.getElementById('toasts').append(element);
  setTimeout(() => element.remove(), 6000);
}

/** A dialog that closes with Escape; resolves when it is closed. */
export function openDialog(title, content, actions) {
  const dialog = h('dialog', { 'aria-label': title });
  const close = () => dialog.close();
  dialog.append(
    h('div.dialog-head', {}, h('h2', {}, title), closeButton(close)),
    h('div.dialog-body', {}, content),
    h('div.dialog-foot', {}, actions(close)),
  );
  document.body.append(dialog);
  dialog.addEventListener('close', () => dialog.remove());
  dialog.showModal();
  return dialog;
}

export function closeButton(close) {
  return h('button.ghost.icon', { type: 'button', 'aria-label': 'Close', onclick: close }, '✕');
}
