import { recordsAt } from "../../../src/base/reading.ts";
import type { WireItem } from "../../../src/openai/wire.ts";
import type { RouteAnswer, SeenRequest } from "../wire-server.ts";

/** What the provider says to one of these requests: counted from 1. */
type Answering<Given> = Given | ((nth: number, request: SeenRequest) => Given | RouteAnswer);

/** How a provider counts and compacts. */
export interface CompactionRouteOptions {
  /** @default a quarter of the request's bytes */
  readonly tokens?: Answering<number>;
  /** What a conversation becomes. @default what users said, and one item that is sealed */
  readonly window?: Answering<readonly WireItem[]>;
}

/** For a wire server: the two routes by which a conversation is kept short. */
export interface CompactionRoutes {
  readonly counts: readonly SeenRequest[];
  readonly compactions: readonly SeenRequest[];
  readonly routes: Readonly<Record<string, (request: SeenRequest) => RouteAnswer>>;
}

/** What every compaction here costs. */
export const compactionCost = { input_tokens: 90, output_tokens: 10, total_tokens: 100 };

/** Routes that remember who asked. */
export function compactionRoutes(options: CompactionRouteOptions = {}): CompactionRoutes {
  const counts: SeenRequest[] = [];
  const compactions: SeenRequest[] = [];
  const { tokens = (_nth, { text }) => Math.ceil(text.length / 4), window = compactedOf } = options;
  return {
    counts,
    compactions,
    routes: {
      "POST /responses/input_tokens": (request) => {
        const nth = counts.push(request);
        const said = typeof tokens === "function" ? tokens(nth, request) : tokens;
        if (typeof said !== "number") return said;
        return { json: { object: "response.input_tokens", input_tokens: said } };
      },
      "POST /responses/compact": (request) => {
        const nth = compactions.push(request);
        const said = typeof window === "function" ? window(nth, request) : window;
        if (!isWindow(said)) return said;
        const about = { id: `resp_c${nth}`, object: "response.compaction", created_at: 1 };
        return { json: { ...about, output: said, usage: compactionCost } };
      },
    },
  };
}

/** What only the provider can read. */
export function sealedItem(nth: number): WireItem {
  return { id: `cmp_${nth}`, type: "compaction", encrypted_content: `sealed ${nth}` };
}

function compactedOf(nth: number, { body }: SeenRequest): readonly WireItem[] {
  const said = recordsAt(body, "input").filter(({ role }) => role === "user");
  return [...said, sealedItem(nth)];
}

function isWindow(said: readonly WireItem[] | RouteAnswer): said is readonly WireItem[] {
  return Array.isArray(said);
}
