export { currentDelivery } from './delivery/current-delivery';
export { Delivery } from './delivery/delivery.decorator';
export { SettleHeaders } from './delivery/headers';
export type {
  ApplicationDescription,
  BindingDescription,
  ConsumerDescription,
  EffectDescription,
  ExchangeDescription,
  QueueDescription,
  SubscriptionDescription,
} from './description/description';
export { SubscriptionRegistry } from './lifecycle/registry';
export { SettlementEvents } from './lifecycle/settlement-events';
export { SubscriptionEvents } from './lifecycle/subscription-events';
export {
  type Backoff,
  exponential,
  fixed,
  type GrowthOptions,
  type JitterOptions,
  linear,
  steps,
} from './model/backoff';
export type {
  BatchOptions,
  ConsumerOptions,
  OrderOptions,
  RateOptions,
} from './model/consumer-options';
export type { DeadLetterReason, Decision } from './model/decision';
export type { Headers, IncomingMessage } from './model/delivery';
export { type Duration, parseDuration } from './model/duration';
export { http, network, sqlState } from './model/error-matches';
export {
  ChannelLostError,
  HandlerTimeoutError,
  Panic,
  RepublishError,
  type RepublishFailureScope,
  SettleStartupError,
  ShutdownError,
  UnmatchedMessageError,
} from './model/errors';
export type { Cause } from './model/failure-mark';
export type {
  DeliveryInterceptor,
  DeliveryInterceptorOption,
  InjectableDeliveryInterceptor,
} from './model/interceptor';
export { InvalidPayloadError, type PayloadIssue } from './model/invalid-payload-error';
export type { KillSwitchOptions } from './model/kill-switch-options';
export type {
  AcknowledgedOptions,
  CommonSubscribeOptions,
  DeadLetterOptions,
  DeclareOptions,
  NoAckOptions,
  OnError,
  PerformedBy,
  QueueType,
  RetryOptions,
  SharedOptions,
  SubscribeDefaults,
  SubscribeOptions,
} from './model/options';
export {
  type AfterWork,
  ack,
  drop,
  isOutcome,
  type Outcome,
  type OutcomeKind,
  pauseFor,
  retry,
  retryAfter,
} from './model/outcome';
export type {
  DecompressOptions,
  HeaderValue,
  PayloadOptions,
  WhenOptions,
} from './model/payload-options';
export {
  type AppliedPolicyName,
  type ErrorClass,
  type ErrorMatch,
  type ErrorPolicy,
  type ErrorRule,
  type FailurePolicy,
  type FixedPolicy,
  on,
  type PolicyFunction,
  type PolicyName,
} from './model/policy';
export type {
  PayloadClass,
  PayloadOf,
  PayloadSchema,
  SchemaResult,
  StandardSchema,
} from './model/schema';
export type { FailFastEvent, IsPanic, SettleModuleOptions } from './model/settle-options';
export type { RepublishedMessage, Settlement, SettlementStatus } from './model/settlement';
export type { Size } from './model/size';
export type { Binding, SubscriptionMetadata } from './model/subscription-metadata';
export type {
  BusiestKey,
  DeliveryInFlight,
  PauseCause,
  SubscriptionState,
  SubscriptionStateChange,
  SubscriptionStatus,
} from './model/subscription-status';
export { SettleModule, type SettleOptionsFactory } from './settle.module';
export {
  type BatchResult,
  type HandlerDecorator,
  type HandlerResult,
  Subscribe,
} from './subscribe/subscribe.decorator';
export {
  getSubscriptionToken,
  type HandlerClass,
  InjectSubscription,
  type MethodName,
} from './subscribe/token';
