import type { Socket } from 'node:net';

/** Writes to a socket, and joins pieces that lie next to each other in memory to one write. */
export class Outlet {
  private run: { bytes: Buffer; length: number } | undefined;

  constructor(private readonly socket: Socket) {}

  write(part: Buffer): void {
    const { run } = this;
    if (
      run !== undefined &&
      run.bytes.buffer === part.buffer &&
      run.bytes.byteOffset + run.length === part.byteOffset
    ) {
      run.length += part.length;
      return;
    }
    this.flush();
    this.run = { bytes: part, length: part.length };
  }

  flush(): void {
    if (this.run === undefined) {
      return;
    }
    const { bytes, length } = this.run;
    this.run = undefined;
    if (this.socket.writable) {
      this.socket.write(Buffer.from(bytes.buffer, bytes.byteOffset, length));
    }
  }
}
