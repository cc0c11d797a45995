/**
 * Evaluates or resumes the prompt of a crash test, and kills itself at the ordered point:
 * `node tests/support/crash/crash-main.ts ORDER`, where ORDER is a `CrashOrder` as JSON.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { NestedOptions } from "../../../src/adapter/nested-adapter.ts";
import { onBarrier } from "../../../src/adapter/resume/barrier.ts";
import { Session } from "../../../src/session/session.ts";
import { CrashChild } from "./crash-child.ts";
import type { CrashOrder } from "./crash-order.ts";
import { crashStores } from "./crash-stores.ts";
import type { CrashModule } from "./crash-subject.ts";

const order: CrashOrder = JSON.parse(process.argv[2] ?? "");
const store = crashStores[order.store](order.folder, order.details);
const { createCrashSubject }: CrashModule = await import(`./adapters/${order.adapter}-crash.ts`);
const session = await Session.openOrCreate(store, "run");
const child = new CrashChild(order, session);
session.bus.subscribe("*", (event) => {
  child.ledger.add({ what: "event", type: event.type, event });
  child.reachNow(`event ${event.type}`);
});
const subject = await createCrashSubject(child);
const options: NestedOptions = {
  ...subject.options,
  session,
  resume: true,
  [onBarrier]: (barrier) => child.reach(`barrier ${barrier}`),
};
const response = await subject.adapter.evaluate(subject.prompt, options);
writeFileSync(join(order.folder, "answer.json"), JSON.stringify(response));
await subject.close?.();
await session.close();
await store[Symbol.asyncDispose]?.();
