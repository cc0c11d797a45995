import { isPlainObject } from "../../../base/freeze.ts";
import { parseBoundedJson } from "../../parse-bounded-json.ts";
import { MAX_ANSWER_BYTES } from "./read-answer-text.ts";

/** The data of one server-sent event, as an object. */
export type StreamData = Readonly<Record<string, unknown>>;

/**
 * Reads the server-sent events of a model server, and calls `onData` with the data of each one in order, and waits for
 * it. Returns the reason if the stream is not one of JSON objects, otherwise `null`.
 */
export async function readAnswerStream(
  body: AsyncIterable<Uint8Array>,
  onData: (data: StreamData) => Promise<void>,
): Promise<string | null> {
  const decoder = new TextDecoder();
  let length = 0;
  let rest = "";
  const readLine = async (line: string): Promise<string | null> => {
    const [, data] = /^data: ?(.*)/.exec(line) ?? [];
    if (data === undefined || data === "[DONE]" || data === "") return null;
    const parsed = parseBoundedJson(data);
    if (!parsed.ok || !isPlainObject(parsed.value)) return `an event that is not JSON: ${data}`;
    await onData(parsed.value);
    return null;
  };
  for await (const bytes of body) {
    length += bytes.length;
    if (length > MAX_ANSWER_BYTES) return "more than 16 MiB";
    const text = decoder.decode(bytes, { stream: true });
    rest += text;
    if (!text.includes("\n")) continue; // a long line is not searched again with each chunk
    const lines = rest.split(/\r?\n/);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const problem = await readLine(line);
      if (problem !== null) return problem;
    }
  }
  return await readLine(rest);
}
