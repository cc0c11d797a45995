import type { Clock } from "../../base/clock.ts";
import type { RequestLog } from "../http/request-log.ts";
import type { RouteTable } from "../http/route-table.ts";
import { Messages } from "../messages/messages.ts";
import type { TurnServices } from "../turn/turn.ts";
import { type AnthropicFileServices, anthropicFileRoutes } from "./anthropic-files.ts";
import { anthropicModelRoutes } from "./anthropic-models.ts";
import { messageRoutes } from "./messages.ts";

/** Services of Anthropic's routes. */
export interface AnthropicServices extends AnthropicFileServices {
  readonly turns: TurnServices;
  readonly clock: Clock;
  readonly maxBodyBytes: number;
  /** Called with unexpected errors that occur after a stream has started. */
  readonly onFault: (error: unknown) => void;
  readonly log: RequestLog | null;
}

/** Anthropic's API. Register it before OpenAI's: both have some paths, which OpenAI's handlers would take. */
export function anthropicRoutes(routes: RouteTable, services: AnthropicServices): void {
  const { turns, files, ids, clock, maxBodyBytes, onFault, log } = services;
  const messages = new Messages(turns, (id) => files.get(id) !== undefined);
  messageRoutes(routes, { messages, ids, clock, maxBodyBytes, onFault, log });
  anthropicFileRoutes(routes, services);
  anthropicModelRoutes(routes, ids);
}
