import { Injectable, UsePipes, ValidationPipe } from '@nestjs/common';
import { IsInt, IsString } from 'class-validator';
import { describe, expect, it } from 'vitest';
import { Subscribe } from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import { handlerOf } from '../support/handlers';

class Order {
  @IsInt()
  id!: number;

  @IsString()
  card!: string;
}

class CardDeclined extends Error {}

class Refusal {
  constructor(readonly code: string) {}
}

describe('the log and the dead letter', async () => {
  const broker = await openBroker();

  it('say what a ValidationPipe found', async () => {
    const queue = unique('validated');
    @Injectable()
    class Billing {
      @UsePipes(new ValidationPipe())
      @Subscribe({ queue, deadLetter: `${queue}.dead` })
      charge(_order: Order): void {}
    }
    const app = await startApp({ providers: [Billing] });
    await broker.send(queue, { id: 'x' });
    const { properties } = await broker.take(`${queue}.dead`);
    const found = 'id must be an integer number; card must be a string';
    expect(properties.headers).toMatchObject({
      'x-settle-error-name': 'BadRequestException',
      'x-settle-error-message': found,
    });
    expect(app.log.matching(/\[dead-lettered\]/)[0]).toContain(`BadRequestException: ${found}`);
  });

  it.each<[what: string, thrown: unknown, name: string, message: string, line: string]>([
    [
      'the class of an error that sets no name',
      new CardDeclined('no cover'),
      'CardDeclined',
      'no cover',
      'CardDeclined: no cover',
    ],
    [
      'the properties of an object',
      { statusCode: 409, reason: 'taken', config: { headers: { authorization: 'secret' } } },
      'object',
      "{ statusCode: 409, reason: 'taken', config: [Object] }",
      "{ statusCode: 409, reason: 'taken', config: [Object] }",
    ],
    [
      'the class and properties of an object',
      new Refusal('E1'),
      'Refusal',
      "{ code: 'E1' }",
      "Refusal: { code: 'E1' }",
    ],
    [
      'a list of messages',
      Object.assign(new CardDeclined(), { message: ['no cover', 'expired'] }),
      'CardDeclined',
      'no cover; expired',
      'CardDeclined: no cover; expired',
    ],
  ])('show %s', async (_what, thrown, name, message, line) => {
    const queue = unique('thrown');
    const Handler = handlerOf({ queue, deadLetter: `${queue}.dead` }, () => Promise.reject(thrown));
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, {});
    const { properties } = await broker.take(`${queue}.dead`);
    expect(properties.headers).toMatchObject({
      'x-settle-error-name': name,
      'x-settle-error-message': message,
    });
    expect(app.log.matching(/\[dead-lettered\]/)[0]).toContain(`reason "error". ${line}`);
  });
});
