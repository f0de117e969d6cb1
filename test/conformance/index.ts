import type { ConformanceScenario } from './adapter';
import { batchScenarios } from './batches';
import { consumerScenarios } from './consumers';
import { carbonScenarios, deadLetteringScenarios, limitScenarios } from './dead-lettering';
import { declarationScenarios } from './declarations';
import { differenceScenarios } from './differences';
import { exchangeScenarios } from './exchanges';
import { fieldScenarios } from './fields';
import { intakeScenarios } from './intake';
import { laneScenarios } from './lanes';
import { lengthScenarios } from './limits';
import { orderingScenarios } from './ordering';
import { publishingScenarios } from './publishing';
import { refusalScenarios } from './refusals';
import { republishingScenarios } from './republishing';
import { routingScenarios } from './routing';
import { settlingScenarios } from './settling';
import { topologyScenarios } from './topology';

/**
 * How every adapter of the broker port behaves, as RabbitMQ does. For each scenario: open a new adapter,
 * `run` it, close it; a rejection is a failure.
 */
export const conformanceScenarios: readonly ConformanceScenario[] = [
  ...settlingScenarios,
  ...republishingScenarios,
  ...topologyScenarios,
  ...refusalScenarios,
  ...routingScenarios,
  ...orderingScenarios,
  ...deadLetteringScenarios,
  ...limitScenarios,
  ...carbonScenarios,
  ...fieldScenarios,
  ...declarationScenarios,
  ...exchangeScenarios,
  ...publishingScenarios,
  ...lengthScenarios,
  ...consumerScenarios,
  ...intakeScenarios,
  ...differenceScenarios,
  ...batchScenarios,
  ...laneScenarios,
];
