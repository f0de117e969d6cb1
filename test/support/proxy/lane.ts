import {
  bodySizeOf,
  type Direction,
  type Frame,
  FrameParser,
  frameTypes,
  joined,
  nameOf,
  type RawFrame,
} from './frames';
import type { Gate } from './gate';
import { carriesContent, type FrameName } from './methods';
import { type Piece, PieceQueue } from './piece-queue';
import type { Treatment } from './rules';

/** What a lane needs from the connection it belongs to. */
export interface LaneHost {
  /** Records the frame; `undefined` when nobody asks for it, and so no rule can match it. */
  observe(direction: Direction, raw: RawFrame, name: FrameName): Frame | undefined;
  decide(frame: Frame): Treatment | undefined;
  isPaused(direction: Direction): boolean;
  write(direction: Direction, part: Buffer): void;
  flush(direction: Direction): void;
  cut(direction: Direction): void;
  insertBack(direction: Direction, parts: readonly Buffer[]): void;
}

/** The content that still has to follow a method on its channel. */
interface Content {
  piece: Piece | undefined;
  /** Whether a rule has decided on the method, and with it on the content. */
  readonly decided: boolean;
  missing: number;
}

/**
 * One direction of one connection: splits what arrives into frames, asks the rules, and passes
 * the pieces on in the order in which they began.
 */
export class Lane {
  private readonly parser = new FrameParser();
  private readonly queue: PieceQueue;
  private readonly contents = new Map<number, Content>();
  private closed = false;

  constructor(
    private readonly direction: Direction,
    private readonly host: LaneHost,
  ) {
    this.queue = new PieceQueue({
      isPaused: () => host.isPaused(direction),
      write: (part) => host.write(direction, part),
      flush: () => host.flush(direction),
    });
  }

  receive(chunk: Buffer): void {
    if (!this.closed) {
      this.parser.push(chunk, (raw) => this.accept(raw));
      this.host.flush(this.direction);
    }
  }

  /** Sends frames behind everything that has arrived so far. */
  insert(parts: readonly Buffer[]): void {
    if (!this.closed) {
      this.queue.push({ parts: [...parts], complete: true });
      this.resume();
    }
  }

  /** Calls back when everything that has arrived so far is passed on. */
  finish(onPassed: () => void): void {
    if (!this.closed) {
      this.completeContents();
      this.queue.push({ parts: [], complete: true, onPassed });
      this.resume();
    }
  }

  /** Passes on what may be passed on now. */
  resume(): void {
    this.queue.drain();
    this.host.flush(this.direction);
  }

  /** Forgets everything that is not passed on, and whatever arrives from now on. */
  close(): void {
    this.closed = true;
    this.queue.clear();
    this.contents.clear();
  }

  private accept(raw: RawFrame): void {
    if (this.closed) {
      return;
    }
    const name = nameOf(raw);
    const frame = this.host.observe(this.direction, raw, name);
    const content = this.contents.get(raw.channel);
    if (content !== undefined) {
      if (raw.type === frameTypes.header || raw.type === frameTypes.body) {
        this.acceptContent(raw, frame, content);
        return;
      }
      this.completeContent(raw.channel, content);
    }
    const treatment = frame && this.host.decide(frame);
    const piece = this.begin(raw, frame, treatment);
    if (this.closed) {
      return;
    }
    if (carriesContent(name)) {
      const leavesContent = treatment?.kind === 'drop' && !treatment.withContent;
      this.contents.set(raw.channel, {
        piece: leavesContent ? undefined : piece,
        decided: treatment !== undefined,
        missing: 0,
      });
    } else {
      this.complete(piece);
    }
  }

  private acceptContent(raw: RawFrame, frame: Frame | undefined, content: Content): void {
    const treatment = content.decided ? undefined : frame && this.host.decide(frame);
    if (treatment !== undefined) {
      if (content.piece !== undefined) {
        this.complete(content.piece);
        content.piece = undefined;
      }
      this.complete(this.begin(raw, frame, treatment));
    } else if (content.piece === undefined) {
      content.piece = this.begin(raw, frame, undefined);
    } else {
      content.piece.parts.push(...raw.parts);
    }
    if (raw.type === frameTypes.header) {
      content.missing = bodySizeOf(raw);
    } else {
      content.missing -= raw.size;
    }
    if (content.missing <= 0 && !this.closed) {
      this.completeContent(raw.channel, content);
    }
  }

  private begin(raw: RawFrame, frame: Frame | undefined, treatment: Treatment | undefined): Piece {
    const base = { parts: [...raw.parts], complete: false };
    if (frame === undefined || treatment === undefined) {
      return this.enqueue(base);
    }
    switch (treatment.kind) {
      case 'drop':
        return base;
      case 'hold':
        return this.beginHold(base, treatment.gate, treatment.onlyMatching);
      case 'cut':
        if (!treatment.before) {
          return this.enqueue({ ...base, onPassed: () => this.host.cut(this.direction) });
        }
        this.completeContents();
        this.resume();
        this.host.cut(this.direction);
        return base;
      case 'rewrite':
        return this.enqueue({
          ...base,
          onComplete: (piece) => {
            const { onward, back } = treatment.replace(frame, joined(piece.parts));
            piece.parts = [...(onward ?? [])];
            if (back !== undefined) {
              this.host.insertBack(this.direction, back);
            }
          },
        });
    }
  }

  private beginHold(base: Piece, gate: Gate, onlyMatching: boolean): Piece {
    if (onlyMatching) {
      const settled = (piece: Piece) => gate.state === 'open' && this.insert(piece.parts);
      return { ...base, onComplete: (piece) => gate.whenSettled(() => settled(piece)) };
    }
    gate.whenSettled(() => this.resume());
    return this.enqueue({ ...base, gate });
  }

  private enqueue(piece: Piece): Piece {
    this.queue.push(piece);
    return piece;
  }

  private complete(piece: Piece): void {
    if (!piece.complete) {
      piece.complete = true;
      piece.onComplete?.(piece);
      this.queue.drain();
    }
  }

  private completeContent(channel: number, content: Content): void {
    this.contents.delete(channel);
    if (content.piece !== undefined) {
      this.complete(content.piece);
    }
  }

  private completeContents(): void {
    for (const [channel, content] of this.contents) {
      this.completeContent(channel, content);
    }
  }
}
