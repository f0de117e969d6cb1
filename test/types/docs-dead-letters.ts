// The snippets of docs/dead-letters.md.
import { RabbitMQModule } from '@golevelup/nestjs-rabbitmq';
import { Injectable, Module } from '@nestjs/common';
import { DeadLetters, SettleDeadLettersModule } from 'nestjs-settle/dead-letters';

@Module({
  imports: [RabbitMQModule.forRoot({ uri: 'amqp://localhost' }), SettleDeadLettersModule.forRoot()],
})
export class AppModule {}

@Injectable()
export class Operations {
  constructor(private readonly deadLetters: DeadLetters) {}

  async replayBankTimeouts(): Promise<number> {
    const { replayed, failures } = await this.deadLetters.replay('billing.dead', {
      where: { errorName: 'BankTimeout', from: '2026-12-01T08:00Z' },
      rate: 100,
    });
    if (failures.length > 0) throw new Error(failures.map(({ text }) => text).join('; '));
    return replayed;
  }

  async discardTimeouts(): Promise<number> {
    const where = { reason: 'timeout' };
    const { matched, token } = await this.deadLetters.discard('billing.dead', {
      where,
      dryRun: true,
    });
    if (matched > 1_000) throw new Error('too many to delete without a look');
    const result = await this.deadLetters.discard('billing.dead', { where, confirm: token });
    return result.discarded;
  }
}

export async function script(): Promise<void> {
  const deadLetters = await DeadLetters.connect('amqp://localhost');
  const { groups, scanned, total } = await deadLetters.list('billing.dead');
  console.log(`the first ${scanned} of ${total}`, groups);
  await deadLetters.close();
}
