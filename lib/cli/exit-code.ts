/** How the command exits. */
export const EXIT_CODE = {
  success: 0,
  /** Something failed: no connection, no such queue, or a run that did not end. */
  failure: 1,
  /** The command line is not valid. */
  usage: 2,
  /** It was done for some messages, but not for all that were selected. */
  partial: 3,
  /** It was interrupted (Ctrl-C). */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT_CODE)[keyof typeof EXIT_CODE];
