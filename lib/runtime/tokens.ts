/** The module's options as they were given. */
export const SETTLE_OPTIONS = 'SETTLE_MODULE_OPTIONS';

/** The module's options with defaults. */
export const TERMS = Symbol('nestjs-settle.terms');

/** The logger of the module. */
export const LOGGER = Symbol('nestjs-settle.logger');

/** The clock by which the module lives. */
export const CLOCK = Symbol('nestjs-settle.clock');

/** Finds the connections of the application: a function, called at bootstrap. */
export const CONNECTIONS = Symbol('nestjs-settle.connections');

/** Ends the process after failFast, where the application gives no `onFailFast`. */
export const LEAVE = Symbol('nestjs-settle.leave');
