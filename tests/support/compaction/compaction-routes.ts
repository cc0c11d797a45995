import { readRecords } from "../../../src/base/json.ts";
import type { WireItem } from "../../../src/openai/wire.ts";
import type { RouteAnswer, SeenRequest } from "../wire-server.ts";

/** A fixed reply, or a function that creates the reply to the `nth` request, counted from 1. */
type RouteReply<Value> = Value | ((nth: number, request: SeenRequest) => Value | RouteAnswer);

/** The replies of the compaction routes. */
export interface CompactionRouteOptions {
  /** The token count. @default a quarter of the request's characters */
  readonly tokens?: RouteReply<number>;
  /** The compacted window. @default the user messages and one encrypted item */
  readonly window?: RouteReply<readonly WireItem[]>;
}

/** The count and compaction routes of a wire server, with the requests they received. */
export interface CompactionRoutes {
  readonly counts: readonly SeenRequest[];
  readonly compactions: readonly SeenRequest[];
  readonly routes: Readonly<Record<string, (request: SeenRequest) => RouteAnswer>>;
}

/** The usage that every compaction reports. */
export const compactionCost = { input_tokens: 90, output_tokens: 10, total_tokens: 100 };

/** Creates routes that record their requests. */
export function compactionRoutes(options: CompactionRouteOptions = {}): CompactionRoutes {
  const counts: SeenRequest[] = [];
  const compactions: SeenRequest[] = [];
  const { tokens = (_nth, { text }) => Math.ceil(text.length / 4), window = createWindow } =
    options;
  return {
    counts,
    compactions,
    routes: {
      "POST /responses/input_tokens": (request) => {
        const nth = counts.push(request);
        const reply = typeof tokens === "function" ? tokens(nth, request) : tokens;
        if (typeof reply !== "number") return reply;
        return { json: { object: "response.input_tokens", input_tokens: reply } };
      },
      "POST /responses/compact": (request) => {
        const nth = compactions.push(request);
        const reply = typeof window === "function" ? window(nth, request) : window;
        if (!isWindow(reply)) return reply;
        const fields = { id: `resp_c${nth}`, object: "response.compaction", created_at: 1 };
        return { json: { ...fields, output: reply, usage: compactionCost } };
      },
    },
  };
}

/** Creates an item that only the provider can read. */
export function createEncryptedItem(nth: number): WireItem {
  return { id: `cmp_${nth}`, type: "compaction", encrypted_content: `sealed ${nth}` };
}

function createWindow(nth: number, { body }: SeenRequest): readonly WireItem[] {
  const userItems = readRecords(body, "input").filter(({ role }) => role === "user");
  return [...userItems, createEncryptedItem(nth)];
}

function isWindow(reply: readonly WireItem[] | RouteAnswer): reply is readonly WireItem[] {
  return Array.isArray(reply);
}
