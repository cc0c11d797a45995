/**
 * A file that counts how many of its bytes were read for the current request. Clients that copy the file
 * before they send it are not observed: their count stays 0.
 */
export class CountedFile extends File {
  #readBytes = 0;

  /** The bytes that the last call of `stream` has passed on. */
  get readBytes(): number {
    return this.#readBytes;
  }

  /** Returns the content as a stream and counts it from 0. */
  override stream(): ReturnType<Blob["stream"]> {
    this.#readBytes = 0;
    const count = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform: (chunk, controller) => {
        this.#readBytes += chunk.length;
        controller.enqueue(chunk);
      },
    });
    return super.stream().pipeThrough(count);
  }
}
