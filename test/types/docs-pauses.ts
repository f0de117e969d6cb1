// The snippets of docs/pauses.md.
import { Injectable } from '@nestjs/common';
import { on, pauseFor, Subscribe } from 'nestjs-settle';

class BankDown extends Error {}

@Injectable()
export class Billing {
  @Subscribe({
    queue: 'billing',
    retry: { attempts: 5 },
    deadLetter: 'billing.dead',
    onError: [on(BankDown, pauseFor('30s')), 'drop'],
  })
  charge(): void {}

  @Subscribe({
    queue: 'billing',
    retry: { attempts: 5 },
    deadLetter: 'billing.dead',
    onError: 'retryAfter',
    killSwitch: { failures: 0.5, minimum: 10, window: '1m', pause: '30s', max: '10m' },
  })
  refund(): void {}
}
