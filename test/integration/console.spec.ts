import { get } from 'node:http';
import {
  type CanActivate,
  type ExecutionContext,
  type INestApplication,
  Injectable,
  type Type,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { Subscribe } from '../../lib';
import { SettleConsoleModule, type SettleConsoleOptions } from '../../lib/console';
import { createApp, startApp } from '../support/app';
import { openBroker, unique, url } from '../support/broker';
import { until } from '../support/eventually';
import { startAppOn, type TestApp } from '../support/start-app';

class TokenGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest();
    return headers['x-token'] === 'open';
  }
}

const own = { 'x-token': 'open', 'x-settle-console': '1', 'content-type': 'application/json' };

const adapters: Readonly<Record<string, (module: Type) => Promise<INestApplication>>> = {
  Express: createApp,
  Fastify: (module) =>
    NestFactory.create(module, new FastifyAdapter(), { logger: false, abortOnError: false }),
};

describe.each(Object.entries(adapters))('the console on %s', async (_name, create) => {
  const broker = await openBroker();
  let served: TestApp | undefined;
  afterEach(async () => {
    await served?.close();
    served = undefined;
  });

  async function serve(options: Partial<SettleConsoleOptions> = {}) {
    const queue = unique('console');
    const dead = `${queue}.dead`;

    @Injectable()
    class Billing {
      @Subscribe({ queue, deadLetter: dead })
      charge(): void {
        throw new Error('<img src=x onerror=alert(1)>');
      }
    }
    const parts = {
      providers: [Billing],
      imports: [SettleConsoleModule.forRoot({ guards: [TokenGuard], path: 'admin/q', ...options })],
    };
    served = await startAppOn({ rabbit: { uri: url }, create }, parts);
    await served.app.listen(0, '127.0.0.1');
    const base = `${(await served.app.getUrl()).replace('[::1]', '127.0.0.1')}/admin/q`;
    const ask = (path: string, init: RequestInit = {}) =>
      fetch(base + path, { headers: own, ...init });
    const post = (path: string, body: unknown, headers: Record<string, string> = own) =>
      ask(path, { method: 'POST', headers, body: JSON.stringify(body) });
    return { app: served, base, ask, post, queue, dead, key: JSON.stringify(['', dead]) };
  }

  it('shows nothing to whom the guards refuse, not even its files', async () => {
    const { base } = await serve();
    for (const path of ['', '/assets/main.mjs', '/api/state', '/api/events']) {
      expect((await fetch(base + path)).status).toBe(403);
    }
  });

  it('permits nothing inline and nothing from elsewhere, and loads in less than 150 kB', async () => {
    const { ask } = await serve();
    const page = await ask('');
    const policy = page.headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    const html = await page.text();
    expect(html).not.toMatch(/<style|style=|<script(?![^>]*\ssrc=)|\son\w+=|https?:/);
    const names = [...html.matchAll(/"\.\/q\/assets\/([\w.-]+)"/g)].map(([, name]) => name);
    expect(names).toContain('main.mjs');
    let size = 0;
    const modules = ['api.mjs', 'charts.mjs', 'dead-letters.mjs', 'dom.mjs', 'subscriptions.mjs'];
    for (const name of new Set([...names, ...modules, 'tasks.mjs'])) {
      const asset = await ask(`/assets/${name}`);
      expect(asset.status).toBe(200);
      expect(asset.headers.get('content-encoding')).toBe('gzip');
      expect(await asset.text()).not.toMatch(/innerHTML|insertAdjacentHTML|document\.write|eval\(/);
      size += Number(asset.headers.get('content-length'));
    }
    expect(size).toBeGreaterThan(5_000);
    expect(size).toBeLessThan(150_000);
    expect((await ask('/assets/..%2Fconsole.module.js')).status).toBe(404);
  });

  it('replies 405 to whatever is not allowed', async () => {
    const { post, key, app } = await serve();
    for (const path of ['dead-letters/replay', 'dead-letters/discard', 'subscriptions/pause']) {
      expect((await post(`/api/${path}`, { queue: key, key })).status).toBe(405);
    }
    expect(app.registry.list()[0]?.state).toBe('consuming');
  });

  it('does what is asked by its own page only', async () => {
    const { post, ask, app } = await serve({ allow: ['pause'] });
    const { subscriptions } = (await (await ask('/api/state')).json()) as {
      subscriptions: { key: string }[];
    };
    const body = { key: subscriptions[0]?.key };
    const { 'x-settle-console': _, ...foreign } = own;
    expect((await post('/api/subscriptions/pause', body, foreign)).status).toBe(403);
    const crossSite = { ...own, 'sec-fetch-site': 'cross-site' };
    expect((await post('/api/subscriptions/pause', body, crossSite)).status).toBe(403);
    expect(app.registry.list()[0]?.state).toBe('consuming');
    expect((await post('/api/subscriptions/pause', body)).status).toBe(200);
    await until(() => app.registry.list()[0]?.state === 'paused');
    expect((await post('/api/subscriptions/resume', body)).status).toBe(200);
    await until(() => app.registry.list()[0]?.state === 'consuming');
  });

  it('hides bodies and headers of the application, and reaches no other queue', async () => {
    const { app, ask, key, queue } = await serve();
    await broker.send(queue, { secret: 'card' }, { headers: { customer: 'ada' } });
    await app.settled(1);
    const list = await (await ask(`/api/dead-letters?queue=${encodeURIComponent(key)}`)).json();
    const [letter] = (list as { letters: { id: string; errorMessage: string }[] }).letters;
    expect(letter?.errorMessage).toBe('<img src=x onerror=alert(1)>');
    const path = `/api/dead-letters/message?queue=${encodeURIComponent(key)}&id=${letter?.id}`;
    const message = await (await ask(path)).text();
    expect(message).not.toMatch(/secret|customer|ada/);
    expect(message).toContain('"hiddenHeaders":1');
    const other = encodeURIComponent(JSON.stringify(['', queue]));
    expect((await ask(`/api/dead-letters?queue=${other}`)).status).toBe(404);
  });

  it('ends its event streams when the application closes', async () => {
    const { app, base } = await serve();
    let text = '';
    const ended = new Promise<void>((resolve, reject) => {
      get(`${base}/api/events`, { headers: own }, (response) => {
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        response.on('end', resolve).on('error', reject);
      }).on('error', reject);
    });
    await until(() => text.includes('event: overview'));
    await app.close();
    await ended;
    expect(text).toContain('event: closing');
  });
});

describe('the console without guards', () => {
  it('refuses the start', async () => {
    const imports = [SettleConsoleModule.forRoot({ guards: [] })];
    await expect(startApp({ providers: [], imports })).rejects.toThrow('at least one guard');
  });
});
