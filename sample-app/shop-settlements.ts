import { Injectable } from '@nestjs/common';
import { type Settlement, SettlementEvents } from 'nestjs-settle';
import { filter, Observable } from 'rxjs';

/** The settlements of the shop's own handlers, without those of the dead-letter consumers. */
@Injectable()
export class ShopSettlements extends Observable<Settlement> {
  constructor(all: SettlementEvents) {
    const own = all.pipe(filter(({ subscription }) => subscription.deadLetter !== undefined));
    super((subscriber) => own.subscribe(subscriber));
  }
}
