/**
 * Evaluates or resumes the prompt of a crash test, and kills itself at the ordered point. Parks calls that wait for
 * approval and have no decision:
 * `node tests/support/crash/crash-main.ts ORDER`, where ORDER is a `CrashOrder` as JSON.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { EvaluationParkedError } from "../../../src/adapter/approvals/evaluation-parked-error.ts";
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
  approvals: order.approvals,
  approve: async ({ name, key }) => {
    child.ledger.add({ what: "waiting", tool: name, key });
    return "park";
  },
  [onBarrier]: (barrier) => child.reach(`barrier ${barrier}`),
};
try {
  const response = await subject.adapter.evaluate(subject.prompt, options);
  writeFileSync(join(order.folder, "answer.json"), JSON.stringify(response));
} catch (error) {
  if (!(error instanceof EvaluationParkedError)) throw error;
  writeFileSync(join(order.folder, "parked.json"), JSON.stringify(error.approvals));
}
await subject.close?.();
await session.close();
await store[Symbol.asyncDispose]?.();
