import { listParts } from "../list-parts.ts";
import type { LoopSettings } from "../loop-options.ts";
import type { Turn } from "../model-client.ts";
import { streamFeed } from "../turn-observer.ts";

/** Delivers a stored answer to the readers of a stream. */
export function deliverAnswer(turn: Turn, number: number, settings: LoopSettings): void {
  const feed = settings[streamFeed];
  if (feed) for (const part of listParts(turn, number)) feed.onPart(part);
}
