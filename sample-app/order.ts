/** The payload of the shop's messages. */
export interface Order {
  readonly number: number;
  readonly article: 'tea' | 'coffee' | 'unicorn';
  readonly card: 'valid' | 'declined' | 'slow once' | 'always slow';
  readonly customer: { readonly mail: string };
}
