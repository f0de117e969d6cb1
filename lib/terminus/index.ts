export { type AliveOptions, type ReadyOptions, SettleHealthIndicator } from './health-indicator';
