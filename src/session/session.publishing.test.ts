import { expect, test } from "vitest";
import { definePrompt } from "../prompt/define-prompt.ts";
import { scriptedClient } from "../testing/scripted-client.ts";
import { InProcessEventBus } from "./event-bus.ts";
import type { BusEvent } from "./event-map.ts";
import { Session } from "./session.ts";

declare module "./event-map.ts" {
  interface EventMap {
    LampSwitched: { readonly type: "LampSwitched"; readonly on: boolean };
  }
}

const event: BusEvent = { type: "LampSwitched", on: true };

test("a bus that overrides publish() receives events without a subscriber", () => {
  const published: BusEvent[] = [];
  class LoggingBus extends InProcessEventBus {
    override publish(each: BusEvent): void {
      published.push(each);
      super.publish(each);
    }
  }
  new Session({ bus: new LoggingBus() }).dispatch(event);
  const patched = new InProcessEventBus();
  patched.publish = (each) => void published.push(each);
  new Session({ bus: patched }).dispatch(event);
  expect(published).toEqual([event, event]);
});

test("evaluations publish their events on a bus that overrides publish(), unless its hears() returns false", async () => {
  const published: string[] = [];
  class ForwardingBus extends InProcessEventBus {
    override publish(each: BusEvent): void {
      published.push(each.type);
      super.publish(each);
    }
  }
  class SelectiveBus extends ForwardingBus {
    override hears(type: string): boolean {
      return type === "PromptExecuted";
    }
  }
  const prompt = definePrompt({ name: "test:one", instructions: "Answer." });
  const evaluate = (bus: InProcessEventBus) =>
    scriptedClient({ text: "Yes." }).evaluate(prompt, { session: new Session({ bus }) });
  await evaluate(new ForwardingBus());
  expect(published).toEqual(
    expect.arrayContaining(["PromptRendered", "TurnStarted", "TurnCompleted", "PromptExecuted"]),
  );
  published.length = 0;
  await evaluate(new SelectiveBus());
  expect(published).toContain("PromptExecuted");
  expect(published).not.toContain("PromptRendered");
});

test("subscribers that come and go receive exactly the events in between", () => {
  const session = new Session();
  const received: BusEvent[] = [];
  session.dispatch(event);
  const subscription = session.bus.subscribe("LampSwitched", (each) => received.push(each));
  session.dispatch({ type: "LampSwitched", on: false });
  subscription[Symbol.dispose]();
  session.dispatch(event);
  expect(received).toEqual([{ type: "LampSwitched", on: false }]);
});

test("another session on the bus receives events, and its own only once", () => {
  const bus = new InProcessEventBus();
  const [one, other] = [new Session({ bus, id: "same" }), new Session({ bus, id: "same" })];
  const received: string[] = [];
  bus.subscribe("*", ({ type }) => received.push(type));
  one.dispatch(event);
  other.dispatch(event);
  expect(received).toEqual(["LampSwitched", "LampSwitched"]);
});
