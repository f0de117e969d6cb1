// @ts-check
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How often the delay of the event loop is looked at, in ms. */
const RESOLUTION = 5;

/**
 * What one run of a program took, from the first message to the end.
 *
 * @typedef {object} Measured
 * @property {number} elapsedMs
 * @property {number} cpuMicroseconds user and system time of the whole process
 * @property {number} peakBytes the most memory that the process ever had
 * @property {number} idleBytes what it had before it consumed
 * @property {number} loopDelayMs the event loop's delay at p99
 */

/** Measures this process from `begin` to `end`. */
export class Meter {
  #idleBytes = process.memoryUsage.rss();
  #startedAt = 0;
  #cpuAtStart = process.cpuUsage();
  #loop = monitorEventLoopDelay({ resolution: RESOLUTION });

  begin() {
    this.#loop.enable();
    this.#cpuAtStart = process.cpuUsage();
    this.#startedAt = performance.now();
  }

  /**
   * @returns {Measured}
   */
  end() {
    const elapsedMs = performance.now() - this.#startedAt;
    const { user, system } = process.cpuUsage(this.#cpuAtStart);
    this.#loop.disable();
    return {
      elapsedMs,
      cpuMicroseconds: user + system,
      peakBytes: process.resourceUsage().maxRSS * 1024,
      idleBytes: this.#idleBytes,
      loopDelayMs: Math.max(0, this.#loop.percentile(99) / 1e6 - RESOLUTION),
    };
  }
}
