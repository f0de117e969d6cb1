import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Asset } from './assets';

/** A request of Express or Fastify, as far as both agree. */
export interface HttpRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly url: string;
  readonly originalUrl?: string;
  readonly params: unknown;
  readonly body?: unknown;
  /** Fastify: the request of Node. */
  readonly raw?: IncomingMessage;
}

/** A response of Express or Fastify, as far as both agree. */
export interface HttpResponse {
  status(code: number): this;
  header(name: string, value: string): this;
  send(body: string | Buffer): unknown;
  /** Fastify: the response of Node. */
  readonly raw?: ServerResponse;
  /** Fastify: leaves the response to the caller. */
  hijack?(): unknown;
}

// Nothing inline, nothing from elsewhere, nothing that takes a text for markup.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const SECURITY: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
};

/** The request and the response of Node behind those of a framework. */
export function nodeOf(
  request: HttpRequest,
  response: HttpResponse,
): { readonly request: IncomingMessage; readonly response: ServerResponse } {
  response.hijack?.();
  return {
    request: request.raw ?? (request as unknown as IncomingMessage),
    response: response.raw ?? (response as unknown as ServerResponse),
  };
}

/** The URL as the client has sent it, as far as the application sees it. */
export function urlOf(request: HttpRequest): URL {
  return new URL(request.originalUrl ?? request.url, 'http://console');
}

export function sendJson(response: HttpResponse, status: number, value: unknown): void {
  prepare(response, status).header('cache-control', 'no-store');
  response.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(value));
}

export function sendAsset(request: HttpRequest, response: HttpResponse, asset: Asset): void {
  const { type, body, gzip, etag } = asset;
  const isKnown = request.headers['if-none-match'] === etag;
  prepare(response, isKnown ? 304 : 200)
    .header('cache-control', 'no-cache')
    .header('vary', 'accept-encoding')
    .header('etag', etag);
  if (isKnown) {
    response.send('');
    return;
  }
  response.header('content-type', type);
  if (/\bgzip\b/.test(String(request.headers['accept-encoding']))) {
    response.header('content-encoding', 'gzip').send(gzip);
  } else response.send(body);
}

/** The headers that every response of the console has. */
export function prepare(response: HttpResponse, status: number): HttpResponse {
  response.status(status);
  for (const [name, value] of Object.entries(SECURITY)) response.header(name, value);
  return response;
}
