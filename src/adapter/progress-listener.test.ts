import { describe, expect, test } from "vitest";
import { type EventBus, InProcessEventBus } from "../session/event-bus.ts";
import { Session } from "../session/session.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { findProgressListener } from "./progress-listener.ts";

const progress = { step: "fetch", doneBytes: 5, totalBytes: 9 } as const;

function createPublisher(bus: EventBus) {
  const session = new Session({ bus, id: "s1" });
  return { session, prompt: { name: "job" }, adapterName: "openai", clock: fakeClock() };
}

describe("findProgressListener()", () => {
  test("returns null if no subscriber receives the event", () => {
    const publisher = createPublisher(new InProcessEventBus());
    expect(findProgressListener(publisher)).toBeNull();
    using _ = publisher.session.bus.subscribe("TurnStarted", () => {});
    expect(findProgressListener(publisher)).toBeNull();
  });

  test("publishes stamped events that the session neither reduces nor stores", () => {
    const publisher = createPublisher(new InProcessEventBus());
    const { session } = publisher;
    const heard: unknown[] = [];
    using _ = session.bus.subscribe("*", (event) => void heard.push(event));
    findProgressListener(publisher)?.onProgress(progress);
    expect(heard).toEqual([
      {
        type: "WorkspaceProgressed",
        sessionId: "s1",
        promptName: "job",
        adapter: "openai",
        createdAt: "1970-01-01T00:00:00.000Z",
        ...progress,
      },
    ]);
  });

  test("ignores errors of the bus", () => {
    const own = new InProcessEventBus();
    const publish = () => {
      throw new Error("The bus is closed.");
    };
    const subscribe: EventBus["subscribe"] = (type, handler) => own.subscribe(type, handler);
    const publisher = createPublisher({ publish, subscribe });
    expect(() => findProgressListener(publisher)?.onProgress(progress)).not.toThrow();
  });
});
