import type { FrameDetails } from './details';
import type { Direction, FramePredicate } from './frames';
import type { FrameName } from './methods';

/** What a frame has to carry to match: its connection, channel, and any of its details. */
export interface FramePattern extends FrameDetails {
  readonly connection?: number;
  readonly channel?: number;
}

function from(direction: Direction, method: FrameName, pattern: FramePattern): FramePredicate {
  const { connection, channel, ...details } = pattern;
  const wanted = Object.entries(details);
  return (frame) => {
    if (frame.direction !== direction || frame.method !== method) {
      return false;
    }
    if (connection !== undefined && frame.connection !== connection) {
      return false;
    }
    if (channel !== undefined && frame.channel !== channel) {
      return false;
    }
    const found: Record<string, unknown> = { ...frame.details };
    return wanted.every(([name, value]) => found[name] === value);
  };
}

/** Matches frames of this kind that a client sends. */
export function fromClient(method: FrameName, pattern: FramePattern = {}): FramePredicate {
  return from('client', method, pattern);
}

/** Matches frames of this kind that the broker sends. */
export function fromServer(method: FrameName, pattern: FramePattern = {}): FramePredicate {
  return from('server', method, pattern);
}
