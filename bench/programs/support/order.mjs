// @ts-check
import 'reflect-metadata';
import { RabbitPayload } from '@golevelup/nestjs-rabbitmq';
import { UsePipes, ValidationPipe } from '@nestjs/common';
import { IsNumber, IsString } from 'class-validator';
import { decorate } from './nest.mjs';

/** The message, as a class that a `ValidationPipe` can check. */
export class Order {
  id = 0;
  text = '';
}
IsNumber()(Order.prototype, 'id');
IsString()(Order.prototype, 'text');

/**
 * Gives a handler's first parameter a decorator, and its type as the compiler would note it.
 *
 * @param {Function} type
 */
export function decorateParameter(type) {
  Reflect.defineMetadata('design:paramtypes', [Order], type.prototype, 'handle');
  RabbitPayload()(type.prototype, 'handle', 0);
}

/**
 * Has a handler's first parameter validated.
 *
 * @param {Function} type
 */
export function validateParameter(type) {
  decorateParameter(type);
  decorate(type, [UsePipes(new ValidationPipe())]);
}
