// The snippets of docs/limits.md.
import { Injectable } from '@nestjs/common';
import { Subscribe } from 'nestjs-settle';

interface Address {
  readonly street: string;
}

declare class Maps {
  locate(address: Address): Promise<void>;
}

@Injectable()
export class Geocoder {
  @Subscribe({ queue: 'addresses', prefetch: 20, concurrency: 2, rate: { limit: 50, per: '1s' } })
  async locate(address: Address): Promise<void> {
    await this.maps.locate(address);
  }

  constructor(private readonly maps: Maps) {}
}
