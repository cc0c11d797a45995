/**
 * A worker of a crash test's fleet, until SIGTERM, which kills itself at the ordered point:
 * `node tests/support/fleet/crash/fleet-crash-main.ts ORDER`, where ORDER is a `FleetCrashOrder` as JSON.
 */
import type { ProviderAdapter } from "../../../../src/adapter/provider-adapter.ts";
import { onFleetMoment } from "../../../../src/fleet/fleet-moment.ts";
import { AgentLoop, Fleet, stopOn } from "../../../../src/fleet/index.ts";
import type { WatchedFleetOptions } from "../../../../src/fleet/open-fleet.ts";
import { Session } from "../../../../src/session/session.ts";
import { CrashChild } from "../../crash/crash-child.ts";
import type { CrashModule, CrashSubject } from "../../crash/crash-subject.ts";
import { crashRequest, type FleetCrashOrder } from "./fleet-crash-order.ts";

const order: FleetCrashOrder = JSON.parse(process.argv[2] ?? "");
const { createCrashSubject }: CrashModule = await import(
  `../../crash/adapters/${order.adapter}-crash.ts`
);
/** The points that are not in an evaluation. */
const worker = new CrashChild(order, new Session());
const now: { child?: CrashChild; subject?: CrashSubject } = {};

const adapter: ProviderAdapter = {
  name: "crash",
  evaluate: async (prompt, options) => {
    if (!now.subject) throw new Error("There is no subject.");
    return await now.subject.adapter.evaluate(prompt, { ...now.subject.options, ...options });
  },
};
const loop = new AgentLoop<object, unknown, unknown, object>({
  name: "crash",
  request: crashRequest,
  prepare: async (_request, { session, folder }) => {
    const { ledger } = worker;
    const current = new CrashChild(
      { ...order, details: { ...order.details, kept: folder } },
      session,
    );
    now.child = current;
    session.bus.subscribe("*", (event) => {
      ledger.add({ what: "event", type: event.type, event });
      current.reachNow(`event ${event.type}`);
    });
    await now.subject?.close?.();
    now.subject = await createCrashSubject(current);
    return now.subject.prompt;
  },
  approve: async ({ name, key }) => {
    worker.ledger.add({ what: "waiting", tool: name, key });
    return "park";
  },
  adapter,
  finalize: (_output, { response }) => JSON.parse(JSON.stringify(response)),
});
const options: WatchedFleetOptions = {
  ...order.fleet,
  [onFleetMoment]: async (moment) => {
    await worker.reach(`fleet ${moment}`);
    await now.child?.reach(`barrier ${moment}`);
  },
};
const fleet = await Fleet.open(options);
await fleet.worker([loop], { concurrency: 1 }).run({ signal: stopOn("SIGTERM") });
await now.subject?.close?.();
await fleet.close();
