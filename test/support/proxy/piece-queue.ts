import type { Gate } from './gate';

/** A method with its content, or a frame of its own: what is passed on in one piece. */
export interface Piece {
  parts: Buffer[];
  complete: boolean;
  readonly gate?: Gate;
  readonly onComplete?: (piece: Piece) => void;
  readonly onPassed?: () => void;
}

/** Where the pieces go. */
export interface PieceTarget {
  isPaused(): boolean;
  write(part: Buffer): void;
  flush(): void;
}

/** After this many passed pieces the queue gives their memory back. */
const compactionLength = 1000;

/**
 * The pieces of one direction that are not passed on, in order. A piece at the head that is
 * incomplete or kept back keeps back those behind it.
 */
export class PieceQueue {
  private readonly pieces: Piece[] = [];
  private head = 0;

  constructor(private readonly target: PieceTarget) {}

  push(piece: Piece): void {
    this.pieces.push(piece);
  }

  /** Passes on what may be passed on now. */
  drain(): void {
    while (!this.target.isPaused()) {
      const piece = this.pieces[this.head];
      if (piece === undefined || this.head === compactionLength) {
        this.pieces.splice(0, this.head);
        this.head = 0;
      }
      if (piece === undefined || !piece.complete || piece.gate?.state === 'closed') {
        return;
      }
      this.head += 1;
      this.pass(piece);
    }
  }

  clear(): void {
    this.pieces.length = 0;
    this.head = 0;
  }

  private pass(piece: Piece): void {
    if (piece.gate?.state === 'dropped') {
      return;
    }
    for (const part of piece.parts) {
      this.target.write(part);
    }
    if (piece.onPassed !== undefined) {
      this.target.flush();
      piece.onPassed();
    }
  }
}
