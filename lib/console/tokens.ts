/** The options of the console, resolved. */
export const CONSOLE_OPTIONS = Symbol('nestjs-settle.console-options');

/** The clock of the application's `SettleModule`. */
export const CONSOLE_CLOCK = Symbol('nestjs-settle.console-clock');

/** The connections of the application, as a function. */
export const CONSOLE_CONNECTIONS = Symbol('nestjs-settle.console-connections');

/** The logger of the application's `SettleModule`. */
export const CONSOLE_LOGGER = Symbol('nestjs-settle.console-logger');

/** The active subscriptions of the application's `SettleModule`. */
export const CONSOLE_SUBSCRIPTIONS = Symbol('nestjs-settle.console-subscriptions');
