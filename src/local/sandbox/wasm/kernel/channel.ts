import { decodeFrame, encodeFrame, PREFIX_BYTES, readPrefix } from "../frames.ts";
import type { KernelCommand, KernelMessage } from "../kernel-messages.ts";

/** Reads and writes whole byte ranges of file descriptors, and blocks until it can. */
export interface Descriptors {
  read(descriptor: number, bytes: Buffer, offset: number): number;
  write(descriptor: number, bytes: Buffer, offset: number): number;
}

/** File descriptors of the child process for the channel to its parent. */
export const CHANNEL = { commands: 3, messages: 4 } as const;

const UNLIMITED = { headerBytes: 2 ** 31, bodyBytes: 2 ** 31 };

/** The child's side of the channel. Both directions block, so that no other code of this process ever runs. */
export class KernelChannel {
  readonly #descriptors: Descriptors;

  constructor(descriptors: Descriptors) {
    this.#descriptors = descriptors;
  }

  /** Returns the next command, or `null` when the parent has closed the channel. */
  receive(): KernelCommand | null {
    const prefix = this.#read(PREFIX_BYTES);
    if (prefix === null) return null;
    // The parent is trusted, so its messages have no limits.
    const { header, whole } = readPrefix(prefix, UNLIMITED);
    const rest = this.#read(whole - PREFIX_BYTES);
    if (rest === null) return null;
    return decodeFrame(Buffer.concat([prefix, rest]), header) as KernelCommand;
  }

  send(message: KernelMessage): void {
    const frame = encodeFrame(message);
    for (let at = 0; at < frame.length; )
      at += this.#descriptors.write(CHANNEL.messages, frame, at);
  }

  #read(size: number): Buffer | null {
    const bytes = Buffer.alloc(size);
    for (let at = 0; at < size; ) {
      const got = this.#descriptors.read(CHANNEL.commands, bytes, at);
      if (got === 0) return null;
      at += got;
    }
    return bytes;
  }
}
