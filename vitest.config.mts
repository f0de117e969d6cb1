import { fileURLToPath } from 'node:url';
import swc from 'unplugin-swc';
import { defineConfig } from 'vitest/config';

// Decorator metadata is what Nest injects by; esbuild does not emit it.
const plugins = [swc.vite({ module: { type: 'es6' } })];

/** By default the short form; `full`, and `soak` for one long run. */
function faultSpecs(form: string | undefined): string[] {
  const inFull = form === 'full' ? ['cluster'] : [];
  const names = form === 'soak' ? ['soak'] : ['faults', 'repeated', ...inFull];
  return names.map((name) => `test/faults/${name}.spec.ts`);
}

export default defineConfig({
  test: {
    projects: [
      {
        plugins,
        test: {
          name: 'unit',
          include: ['test/unit/**/*.spec.ts'],
          // Nest is loaded once per worker instead of once per file.
          isolate: false,
          setupFiles: ['test/unit/setup.ts'],
          testTimeout: 20_000,
        },
      },
      {
        plugins,
        // What the other tests stand on: the AMQP proxy, the server finder, the benchmark's arithmetic.
        test: {
          name: 'support',
          include: ['test/support/spec/**/!(private-node).spec.{ts,mjs}'],
          testTimeout: 20_000,
        },
      },
      {
        plugins,
        // In this repository only: elsewhere the package is installed.
        resolve: {
          alias: {
            'nestjs-settle/testing': fileURLToPath(
              new URL('lib/testing/index.ts', import.meta.url),
            ),
            'nestjs-settle/console': fileURLToPath(
              new URL('lib/console/index.ts', import.meta.url),
            ),
            'nestjs-settle/dead-letters': fileURLToPath(
              new URL('lib/dead-letters/index.ts', import.meta.url),
            ),
            'nestjs-settle/opentelemetry': fileURLToPath(
              new URL('lib/opentelemetry/index.ts', import.meta.url),
            ),
            'nestjs-settle/terminus': fileURLToPath(
              new URL('lib/terminus/index.ts', import.meta.url),
            ),
            'nestjs-settle': fileURLToPath(new URL('lib/index.ts', import.meta.url)),
          },
        },
        test: {
          name: 'examples',
          include: ['test/examples/**/*.spec.ts'],
          testTimeout: 60_000,
        },
      },
      {
        plugins,
        // The specs that run on the in-memory broker as well as on a server.
        test: {
          name: 'memory',
          include: ['test/behaviour/**/*.spec.ts'],
          provide: { environment: 'memory' },
          testTimeout: 20_000,
        },
      },
      {
        plugins,
        test: {
          name: 'integration',
          include: [
            'test/behaviour/**/*.spec.ts',
            'test/integration/**/*.spec.ts',
            'test/support/spec/server/private-node.spec.mjs',
          ],
          provide: { environment: 'rabbitmq' },
          globalSetup: ['test/support/global-setup.ts'],
          fileParallelism: false,
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        plugins,
        // Services in processes of their own under load, with faults.
        test: {
          name: 'faults',
          include: faultSpecs(process.env.FAULTS),
          globalSetup: ['test/support/global-setup.ts'],
          fileParallelism: false,
          testTimeout: process.env.FAULTS === 'full' ? 900_000 : 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
