const API = new URL('../api/', import.meta.url);

/** Reads JSON; rejects with the server's own words. */
export function get(path, query = {}) {
  const url = new URL(path, API);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') url.searchParams.set(name, value);
  }
  return request(url, {});
}

/** Asks for something to be done. Only this page sends the header. */
export function post(path, body) {
  return request(new URL(path, API), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-settle-console': '1' },
    body: JSON.stringify(body),
  });
}

async function request(url, options) {
  const response = await fetch(url, { credentials: 'same-origin', ...options });
  const text = await response.text();
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (response.ok && value !== undefined) return value;
  throw new Error(value?.error ?? value?.message ?? `${response.status} ${response.statusText}`);
}

/** The stream of this tab; the browser connects again by itself. */
export function listen(listeners) {
  const source = new EventSource(new URL('events', API));
  for (const [name, listener] of Object.entries(listeners)) {
    if (name === 'open' || name === 'error') source.addEventListener(name, listener);
    else source.addEventListener(name, (event) => listener(JSON.parse(event.data)));
  }
  return source;
}
