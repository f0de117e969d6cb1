// @ts-check
/** nestjs-settle with `requestScope`: a class that injects the delivery is constructed for each message. */
import { Inject, Injectable, Scope } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { runSettle } from './support/settle-app.mjs';

await runSettle({ options: { requestScope: true }, apply: injectDelivery });

/**
 * @param {Function} type
 */
function injectDelivery(type) {
  Injectable({ scope: Scope.REQUEST })(/** @type {never} */ (type));
  Inject(REQUEST)(type.prototype, 'delivery');
}
