import type { StreamEvent } from "weakincentives";

/** The parts of a stream, joined. */
export interface Parts {
  /** The calls and answers in the order in which they began and ended. */
  readonly order: readonly string[];
  /** The text of each turn. */
  readonly texts: readonly string[];
  /** The name and arguments of each call to a tool of the agent. */
  readonly toolCalls: readonly { readonly name: string; readonly arguments: unknown }[];
  /** The kind and last status of each hosted call. */
  readonly hostedCalls: readonly { readonly kind: string; readonly status: string }[];
}

/** Reads a stream to its end, and prints each call and answer when it begins. */
export async function collectParts(
  stream: AsyncIterable<StreamEvent>,
  print: (line: string) => void,
): Promise<Parts> {
  const order: string[] = [];
  const note = (line: string) => {
    order.push(line);
    print(line);
  };
  const texts = new Map<number, string>();
  const calls = new Map<string, { name: string; text: string }>();
  const hostedCalls = new Map<string, { kind: string; status: string }>();
  for await (const event of stream) {
    if (event.type === "text") {
      if (!texts.has(event.turn)) note("answers");
      texts.set(event.turn, (texts.get(event.turn) ?? "") + event.delta);
    } else if (event.type === "toolCall") {
      const { callId, name, delta } = event;
      if (!calls.has(callId)) note(`calls ${name}`);
      calls.set(callId, { name, text: (calls.get(callId)?.text ?? "") + delta });
    } else if (event.type === "hostedCall") {
      const { callId, kind, status } = event;
      if (!hostedCalls.has(callId)) note(`starts ${kind}`);
      if (status === "completed" && hostedCalls.get(callId)?.status !== status)
        note(`ends ${kind}`);
      hostedCalls.set(callId, { kind, status });
    }
  }
  const toolCalls = [...calls.values()].map(({ name, text }) => ({
    name,
    arguments: JSON.parse(text),
  }));
  return { order, texts: [...texts.values()], toolCalls, hostedCalls: [...hostedCalls.values()] };
}
