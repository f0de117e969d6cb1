// @ts-check
/** golevelup with one Nest interceptor that does nothing. */
import { UseInterceptors } from '@nestjs/common';
import { runGolevelup } from './support/golevelup.mjs';
import { decorate } from './support/nest.mjs';

/** @type {import('@nestjs/common').NestInterceptor} */
const passThrough = { intercept: (_context, next) => next.handle() };

await runGolevelup((type) => decorate(type, [UseInterceptors(passThrough)]));
