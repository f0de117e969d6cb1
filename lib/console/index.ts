export { SettleConsoleModule } from './console.module';
export type { ConsoleAction, ConsoleGuard, SettleConsoleOptions } from './options';
