import { connect } from "node:net";
import { onTestFinished } from "vitest";

/** A response as bytes from a socket. */
export interface RawAnswer {
  /** The status of the first response; 0 if the server only closed the connection. */
  readonly status: number;
  /** Everything the server sent. */
  readonly text: string;
}

/** Sends bytes to a port of this machine and reads until the server closes, or for `waitMs`. */
export async function sendRaw(
  port: number,
  bytes: string | Buffer,
  { waitMs = 5_000, until }: { readonly waitMs?: number; readonly until?: RegExp } = {},
): Promise<RawAnswer> {
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  let text = "";
  socket.on("error", () => undefined); // the server may reset it
  socket.setEncoding("latin1").on("data", (part) => {
    text += part;
    if (until?.test(text)) socket.destroy();
  });
  const closed = new Promise((resolve) => socket.once("close", resolve));
  const timer = setTimeout(() => socket.destroy(), waitMs);
  socket.write(bytes);
  await closed;
  clearTimeout(timer);
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), text };
}

/** Formats a request with `connection: close`. A header with the value `null` is omitted. */
export function formatRequest(
  line: string,
  headers: Readonly<Record<string, string | null>> = {},
  body = "",
): string {
  const all = { host: "localhost", connection: "close", ...headers };
  const length = body === "" ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const lines = Object.entries({ ...length, ...all }).flatMap(([name, value]) =>
    value === null ? [] : [`${name}: ${value}`],
  );
  return `${[`${line} HTTP/1.1`, ...lines].join("\r\n")}\r\n\r\n${body}`;
}
