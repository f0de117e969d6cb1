import { Module } from '@nestjs/common';
import { DeadLetters } from './dead-letters';
import { SettlementPrinter } from './settlement-printer';
import { ShopModule } from './shop.module';
import { ShopSettlements } from './shop-settlements';
import { Showcase } from './showcase';

/** The shop, and who shows what happens in it. */
@Module({
  imports: [ShopModule],
  providers: [DeadLetters, SettlementPrinter, ShopSettlements, Showcase],
})
export class ShowcaseModule {}
