/** The options of the module as they were given. */
export { SETTLE_OPTIONS } from '../subscribe/module-check';

/** The options of the module with defaults. */
export const RESOLVED_OPTIONS = Symbol('nestjs-settle.resolved-options');

/** The logger of the module. */
export const LOGGER = Symbol('nestjs-settle.logger');

/** The module's source of time. */
export const CLOCK = Symbol('nestjs-settle.clock');

/** A function that finds the connections of the application; called at bootstrap. */
export const CONNECTIONS = Symbol('nestjs-settle.connections');

/** Exits the process after failFast, if the application sets no `onFailFast`. */
export const EXIT = Symbol('nestjs-settle.exit');
