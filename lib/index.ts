export { Delivery } from './delivery/delivery.decorator';
export { SettleHeaders } from './delivery/headers';
export type { Duration } from './outcome/duration';
export {
  ChannelLostError,
  HandlerTimeoutError,
  Panic,
  SettleStartupError,
  StoppingError,
} from './outcome/errors';
export { ack, drop, isOutcome, type Outcome, retry, retryAfter } from './outcome/outcome';
export { type ErrorClass, type ErrorRule, type FailurePolicy, on } from './outcome/policy';
export type { Interceptor } from './pipeline/interceptor';
export type { SubscriptionStatus } from './runtime/active-subscription';
export type { FailFastEvent } from './runtime/fail-fast';
export type { SettleModuleOptions } from './runtime/module-options';
export { SubscriptionRegistry } from './runtime/registry';
export { SettlementEvents } from './runtime/settlement-events';
export { SettleModule, type SettleOptionsFactory } from './settle.module';
export type { Decision } from './settlement/decide';
export type { Settlement } from './settlement/settlement';
export { type Backoff, exponential, fixed, linear, steps } from './subscription/backoff';
export type { SubscribeDefaults, SubscribeOptions } from './subscription/options';
export { Subscribe } from './subscription/subscribe.decorator';
export type { Subscription } from './subscription/subscription';
export { getSubscriptionToken, InjectSubscription } from './subscription/token';
