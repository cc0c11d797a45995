/**
 * Prints where a client spends its CPU time: `node bench/peers/profile.ts weakincentives loop50 4` profiles it for 4 seconds of
 * CPU time, after a warm-up, and prints the time by package, by function, and by function with its callees.
 */
import { mkdtempDisposableSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { ClientProcess } from "./client-process.ts";
import { buffered, type Client, ours, peers, rawFetch, rawHttp } from "./clients.ts";
import { startStub } from "./start-stub.ts";
import { Totals } from "./totals.ts";

interface Frame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
}

interface Node {
  readonly id: number;
  readonly callFrame: Frame;
  readonly children?: readonly number[];
}

/** A file of `--cpu-prof`. Times are in microseconds. */
interface Profile {
  readonly nodes: readonly Node[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
  readonly startTime: number;
  readonly endTime: number;
}

const [name = ours.name, scenario = "loop50", seconds = "4"] = process.argv.slice(2);
const clients = [ours, buffered, rawFetch, rawHttp, ...peers];
const client = clients.find((one) => one.name === name);
if (!client) {
  const names = clients.map((one) => `"${one.name}"`).join(", ");
  console.error(`"${name}" is no client. Use one of ${names}.`);
  process.exit(2);
}

using folder = mkdtempDisposableSync(join(tmpdir(), "wink-bench-"));
const wallUs = await runProfiled(client);
const [file = ""] = readdirSync(folder.path);
const profile: Profile = JSON.parse(readFileSync(join(folder.path, file), "utf8"));
print(profile, profile.endTime - wallUs);

/** Runs a client under the profiler. Returns the elapsed time of the measured part, which is the last one. */
async function runProfiled(profiled: Client): Promise<number> {
  using stub = await startStub();
  const flags = ["--cpu-prof", `--cpu-prof-dir=${folder.path}`, "--cpu-prof-interval=200"];
  await using running = await ClientProcess.start(profiled, stub.origin, flags);
  await running.measure({ scenario, minRequests: 25_000 });
  const started = performance.now();
  await running.measure({ scenario, cpuMs: Number(seconds) * 1_000 });
  return (performance.now() - started) * 1_000;
}

function print({ nodes, samples, timeDeltas, startTime }: Profile, from: number): void {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)),
  );
  const [packages, functions, inclusive] = [new Totals(), new Totals(), new Totals()];
  let time = startTime;
  for (const [index, id] of samples.entries()) {
    const us = timeDeltas[index] ?? 0;
    time += us;
    const frame = byId.get(id)?.callFrame;
    if (time < from || !frame || /^\((idle|program)\)$/.test(frame.functionName)) continue;
    packages.add(findPackage(frame), us);
    functions.add(describeFrame(frame), us);
    const stack = new Set<string>();
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const caller = byId.get(at)?.callFrame;
      if (caller) stack.add(describeFrame(caller));
    }
    for (const caller of stack) inclusive.add(caller, us);
  }
  packages.print("By package", packages.sum, 14);
  functions.print("By function", packages.sum, 30);
  inclusive.print("By function, with its callees", packages.sum, 60);
}

function describeFrame(frame: Frame): string {
  const { functionName, url, lineNumber } = frame;
  const place = url === "" ? "" : ` ${basename(url)}:${lineNumber + 1}`;
  return `${functionName || "(anonymous)"}  [${findPackage(frame)}${place}]`;
}

function findPackage({ functionName, url }: Frame): string {
  if (functionName === "(garbage collector)") return "(gc)";
  if (url === "") return "(vm)";
  if (url.startsWith("node:")) return url.includes("undici") ? "node:undici" : "node:core";
  const [, found] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
  return found ?? (url.includes("/dist/") ? "weakincentives" : "harness");
}
