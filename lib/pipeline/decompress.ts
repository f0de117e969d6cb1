import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { texts } from '../log/texts';
import { sizeText } from '../model/size';

type Decompress = (content: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const FORMATS: Readonly<Record<string, Decompress>> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/**
 * Decompresses a body, at most to `max` bytes.
 * @returns `undefined` if the content encoding is not one of gzip, deflate and br.
 * @throws if the encoding combines one of them with others.
 */
export function decompressed(
  content: Buffer,
  encoding: unknown,
  max: number,
): Promise<Buffer> | undefined {
  if (typeof encoding !== 'string') return undefined;
  const labels = encoding.split(',').map((label) => label.trim().toLowerCase());
  const formats = labels.filter((label) => Object.hasOwn(FORMATS, label));
  if (formats.length === 0) return undefined;
  const format = FORMATS[encoding.trim().toLowerCase()];
  if (format === undefined) throw new Error(texts.severalEncodings(encoding));
  return format(content, { maxOutputLength: max }).catch((error: unknown) => {
    const isTooLarge = Reflect.get(Object(error), 'code') === 'ERR_BUFFER_TOO_LARGE';
    throw isTooLarge ? new Error(texts.tooLargeDecompressed(sizeText(max))) : error;
  });
}
