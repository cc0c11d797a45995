import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { describe } from "vitest";
import {
  type Barrier,
  BUBBLEWRAP,
  chooseBarrier,
  NO_BARRIER,
} from "../../src/local/sandbox/wasm/barrier.ts";
import { encodeFrame } from "../../src/local/sandbox/wasm/frames.ts";
import { attempt } from "../support/attacks/attempt.ts";
import {
  createHostilePyodide,
  openWasmTarget,
  startHostileChild,
} from "../support/attacks/wasm-target.ts";

// JavaScript of the attacker runs in the child, as if a flaw in V8 or Node had given it to him.
describe("A child process of the wasm sandbox that was taken over", {
  timeout: 60_000,
}, async () => {
  const barrier = await chooseBarrier([BUBBLEWRAP]);
  const hasBubblewrap = barrier.kind === "bubblewrap";

  // As root the tests also start it as another user, by a program that changes the user first.
  const users = process.getuid?.() === 0 ? (["root", "user"] as const) : (["user"] as const);
  const toUser: Barrier = {
    ...barrier,
    wrap: (program, files) => [
      ...["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"],
      ...barrier.wrap(program, files),
    ],
  };
  const getBarrier = (as: "root" | "user") =>
    as === "user" && process.getuid?.() === 0 ? toUser : barrier;

  /** Runs JavaScript in the child and returns the error with which it reports its results. */
  async function takeOver(program: string, behind = barrier): Promise<string> {
    const child = await startHostileChild(behind, program);
    return await child.waitUntilReady().then(
      () => {
        child.kill("it started");
        return "it started";
      },
      (error: unknown) => String(error),
    );
  }

  /** JavaScript that tries each function and throws the names of those that worked. */
  const tryAll = (tries: Readonly<Record<string, string>>) => `
    const load = (name) => process.getBuiltinModule(name);
    const through = [];
    for (const [name, work] of Object.entries({ ${Object.entries(tries)
      .map(([name, code]) => `${JSON.stringify(name)}: async () => { ${code} }`)
      .join(", ")} })) {
      try { await work(); through.push(name); } catch {}
    }
    throw new Error('through=' + through.join());`;
  const listThrough = (report: string) =>
    (/through=(.*)/.exec(report)?.[1] ?? `no report: ${report}`).split(",").filter(Boolean);

  for (const as of users) {
    attempt(
      {
        ...{ finding: "C1", surface: "wasm, taken over", as },
        tries: "to connect to a unix socket and to a port of the host, and to create a socket file",
        shows:
          "Inside bubblewrap neither the path nor the port exists, and nothing can be created.",
      },
      async () => {
        let connections = 0;
        const count = () => {
          connections += 1;
        };
        const path = join("/tmp", `wink-victim-${process.pid}.sock`);
        const [byPath, byPort] = [createServer(count).listen(path), createServer(count)];
        byPort.listen(0, "127.0.0.1");
        await Promise.all([once(byPath, "listening"), once(byPort, "listening")]);
        const address = byPort.address();
        const port = typeof address === "object" ? address?.port : 0;
        const connect = (to: string) =>
          `await new Promise((done, fail) => load('net').connect(${to}).on('connect', done).on('error', fail))`;
        const listen = (to: string) =>
          `await new Promise((done, fail) => load('net').createServer().listen(${to}, done).on('error', fail))`;
        const report = await takeOver(
          tryAll({
            path: connect(`{ path: ${JSON.stringify(path)} }`),
            port: connect(`{ port: ${port}, host: '127.0.0.1' }`),
            file: listen(`{ path: '/tmp/wink-created.sock' }`),
            abstract: connect(`{ path: '\\0wink' }`),
            udp: `load('dgram').createSocket('udp4').send('x', ${port}, '127.0.0.1'); throw 1`,
          }),
          getBarrier(as),
        );
        byPath.close();
        byPort.close();
        const through = [...listThrough(report)];
        if (connections > 0) through.push(`${connections} connections`);
        if (existsSync("/tmp/wink-created.sock")) through.push("a socket file");
        return { tried: 5, through };
      },
      { skip: !hasBubblewrap },
    );
    attempt(
      {
        ...{ finding: "own", surface: "wasm, taken over", as },
        tries:
          "to read the host's files, write any file, start a program and signal the host's processes",
        shows:
          "Inside bubblewrap only Node, Pyodide and libraries exist, read-only, and no process of the host.",
      },
      async () => {
        const report = await takeOver(
          tryAll({
            passwd: "load('fs').readFileSync('/etc/passwd')",
            proc: "load('fs').readFileSync('/proc/self/environ')",
            home: `load('fs').readdirSync(${JSON.stringify(process.cwd())})`,
            write: "load('fs').writeFileSync('/tmp/x', '')",
            spawn: "load('child_process').execFileSync('/bin/sh', ['-c', 'true'])",
            signal: `process.kill(${process.pid}, 0)`,
            worker: "new (load('worker_threads').Worker)('1', { eval: true })",
            inspect: "load('inspector').open(0, '127.0.0.1')",
          }),
          getBarrier(as),
        );
        return { tried: 8, through: listThrough(report).filter((name) => name !== "inspect") };
      },
      { skip: !hasBubblewrap },
    );
  }

  const flood = (frame: Buffer) =>
    `const { writeSync } = process.getBuiltinModule('fs');
     const frame = Buffer.from('${frame.toString("hex")}', 'hex');
     for (;;) writeSync(4, frame);`;
  /** Starts a child that floods the host and returns how much the host's memory grew, in MiB. */
  async function measureFlood(program: string): Promise<number> {
    const before = process.memoryUsage.rss();
    const child = await startHostileChild(NO_BARRIER, program);
    let most = 0;
    const timer = setInterval(() => {
      most = Math.max(most, process.memoryUsage.rss() - before);
    }, 20);
    await Promise.race([child.waitUntilReady().catch(() => {}), setTimeout(5_000)]);
    child.kill("the flood has ended");
    await child.exited;
    clearInterval(timer);
    return Math.round(most / 2 ** 20);
  }

  attempt(
    {
      ...{ finding: "C6", surface: "wasm, taken over" },
      tries:
        "to fill the host's memory through the channel: huge sizes, endless bytes, endless messages",
      shows:
        "A size beyond the limit ends the child at its first 8 bytes; no message is stored that is not used.",
    },
    async () => {
      const output = encodeFrame({ type: "output", stream: "stdout", bytes: Buffer.alloc(60_000) });
      const announced = Buffer.concat([
        Buffer.from([0, 0x0f, 0, 0, 1, 0x70, 0, 0]),
        Buffer.alloc(1_000_000, 0x20),
      ]);
      const grown = [
        await measureFlood(flood(Buffer.alloc(65_536, 0xff))),
        await measureFlood(flood(output)),
        await measureFlood(flood(announced)),
        await measureFlood(flood(encodeFrame({ type: "changes", changes: [] }))),
      ];
      return { tried: 4, through: grown.filter((mebibytes) => mebibytes > 200).map(String) };
    },
  );
  attempt(
    {
      ...{ finding: "own", surface: "wasm, taken over" },
      tries:
        "messages that parse badly: JSON 100,000 levels deep, byte arrays with negative or huge sizes",
      shows: "The child is killed, and the host keeps working.",
    },
    async () => {
      const frame = (text: string) => {
        const bytes = Buffer.concat([Buffer.alloc(8), Buffer.from(text)]);
        bytes.writeUInt32BE(text.length, 0);
        return bytes;
      };
      const texts = [
        "[".repeat(100_000),
        '{"blob":-5}',
        '{"blob":4294967296}',
        '{"type":{"blob":0}}',
      ];
      const reports: string[] = [];
      for (const text of texts) {
        const report = await takeOver(
          `process.getBuiltinModule('fs').writeSync(4, Buffer.from('${frame(text).toString("base64")}', 'base64'));
           await new Promise(() => setInterval(() => {}, 1000));`,
          NO_BARRIER,
        );
        if (!report.includes("never sends")) reports.push(report);
      }
      return { tried: texts.length, through: reports };
    },
  );
  attempt(
    {
      ...{ finding: "own", surface: "wasm, taken over" },
      tries: "to report that it is ready and keep working, with a handler for every signal",
      shows: "The host stops it after the report: it uses no processor time until a run.",
    },
    async () => {
      const ready = encodeFrame({ type: "ready" }).toString("hex");
      const child = await startHostileChild(
        NO_BARRIER,
        `process.on('SIGCONT', () => {}); process.on('SIGTSTP', () => {});
         process.getBuiltinModule('fs').writeSync(4, Buffer.from('${ready}', 'hex'));
         for (;;) { try { process.kill(process.pid, 'SIGCONT') } catch {} }`,
      );
      await child.waitUntilReady();
      await setTimeout(200);
      const state = readState(child.pid);
      child.kill("it was stopped");
      await child.exited;
      return { through: state === "T" ? [] : [`its state was ${state}`] };
    },
    { skip: process.platform !== "linux" },
  );
  attempt(
    {
      ...{ finding: "own", surface: "wasm, taken over" },
      tries: "to answer a run with files outside the folder, by path, by link and in pieces",
      shows: "Only plain paths are stored; the rest is refused and reported.",
    },
    async () => {
      const paths = ["../evil", "/tmp/wink-evil", "a/../../evil", "..", "", "a\0b", "fine"];
      const change = (path: string, more = false) => ({
        ...{ change: "file", path, bytes: Buffer.from("x"), more },
      });
      const changes = paths.flatMap((path) => [change(path, true), change(path), change(path)]);
      const ran = { type: "ran", error: null, images: [], timedOut: false };
      const frames = [ran, { type: "changes", changes }, { type: "filesSent", rejected: [] }];
      const send = (bytes: Buffer) =>
        `fs.writeSync(4, Buffer.from('${bytes.toString("hex")}', 'hex'));`;
      const pyodide = await createHostilePyodide(
        `const fs = process.getBuiltinModule('fs'); ${send(encodeFrame({ type: "ready" }))}
         fs.readSync(3, Buffer.alloc(8)); ${frames.map((frame) => send(encodeFrame(frame))).join("\n")}
         for (;;) fs.readSync(3, Buffer.alloc(1000)) || process.exit();`,
      );
      await using target = await openWasmTarget(NO_BARRIER, pyodide);
      const { stderr } = await target.python("1");
      const outside = readdirSync(dirname(target.root)).filter((name) => name !== "data");
      const through = [...outside, ...readdirSync(target.root).filter((name) => name !== "fine")];
      if (existsSync("/tmp/wink-evil")) through.push("/tmp/wink-evil");
      if (!stderr.includes("Not stored")) through.push(`nothing was reported: ${stderr}`);
      return { tried: changes.length, through };
    },
  );
});

/** Reads the state of a process: `T` if it is stopped. */
function readState(pid: number | undefined): string {
  return readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /s, "")[0] ?? "";
}
