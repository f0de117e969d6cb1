import {
  RABBIT_CONTEXT_TYPE_KEY,
  RABBIT_HEADER_TYPE,
  RABBIT_PARAM_TYPE,
  RABBIT_REQUEST_TYPE,
} from '@golevelup/nestjs-rabbitmq';

/** The context type of golevelup's handlers, which guards and filters of applications test for. */
export const CONTEXT_TYPE = RABBIT_CONTEXT_TYPE_KEY;

/** The numbers of golevelup's parameter decorators. */
export const PARAMETER = {
  payload: RABBIT_PARAM_TYPE,
  header: RABBIT_HEADER_TYPE,
  message: RABBIT_REQUEST_TYPE,
} as const;
