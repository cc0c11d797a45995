import type { ProgressListener } from "../base/track-bytes.ts";
import type { BusEvent } from "../session/event-map.ts";
import type { EventPublisher } from "./events.ts";

/**
 * Returns a listener that publishes `WorkspaceProgressed` on the session's bus, or `null` if no subscriber
 * receives it. A bus that throws does not affect the transfer.
 */
export function findProgressListener({
  session: { id: sessionId, bus },
  prompt: { name: promptName },
  adapterName: adapter,
  clock,
}: EventPublisher): ProgressListener | null {
  if (bus.hears?.("WorkspaceProgressed") === false) return null;
  const stamp = { type: "WorkspaceProgressed", sessionId, promptName, adapter } as const;
  return {
    clock,
    onProgress(progress) {
      const createdAt = new Date(clock.now()).toISOString();
      const event: BusEvent = Object.freeze({ ...stamp, createdAt, ...progress });
      try {
        bus.publish(event);
      } catch {} // the event only reports progress
    },
  };
}
