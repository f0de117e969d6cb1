import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { texts } from '../log/texts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** One file of the page. */
export interface Asset {
  readonly type: string;
  readonly body: Buffer;
  readonly gzip: Buffer;
  readonly etag: string;
}

/** The place in the page that is replaced with the path to its files. */
const BASE = '{{base}}';

/** The files of the page, read once. */
export class Assets {
  readonly #files: ReadonlyMap<string, Asset>;
  readonly #page: string;

  /** @throws Error if they are not there. */
  constructor(folder = join(__dirname, 'assets')) {
    try {
      this.#page = readFileSync(join(folder, 'index.html'), 'utf8');
      const names = readdirSync(folder).filter((name) => extname(name) in TYPES);
      this.#files = new Map(
        names.map((name) => [name, assetOf(name, readFileSync(join(folder, name)))]),
      );
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(texts.consoleAssetsMissing(folder, reason));
    }
  }

  /** A file by its name; `undefined` if there is none. */
  get(name: unknown): Asset | undefined {
    return typeof name === 'string' && name !== 'index.html' ? this.#files.get(name) : undefined;
  }

  /** @param base the relative path from the page to its files. */
  page(base: string): Asset {
    return assetOf('index.html', Buffer.from(this.#page.replaceAll(BASE, base)));
  }
}

function assetOf(name: string, body: Buffer): Asset {
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  return { type: TYPES[extname(name)] ?? '', body, gzip: gzipSync(body), etag };
}
