#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { createProgram } from "./create-program.ts";
import type { PackageVersions } from "./init/create-manifest.ts";
import { toExitCode } from "./to-exit-code.ts";

// A reader that closes the pipe early, as in `wink demo | head`, is not a failure. A server and a worker run on without it.
const [, , name = "", subcommand] = process.argv;
const isService =
  ["inspect", "serve"].includes(name) || (name === "fleet" && subcommand === "worker");
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  if (isService) return;
  if (!process.emit("SIGHUP", "SIGPIPE")) process.exit(0); // a command that has files cleans up first
});

const manifest: PackageVersions = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
);
let debug = false;
try {
  const wink = createProgram(manifest.version, {
    demo: async (options) => (await import("./demo/demo.ts")).demo(options),
    doctor: async (options) => (await import("./doctor/doctor.ts")).doctor(options),
    fleet: {
      ls: async (...given) => (await import("./fleet/list-runs.ts")).listRuns(...given),
      show: async (...given) => (await import("./fleet/show-run.ts")).showRun(...given),
      cancel: async (...given) => (await import("./fleet/cancel-run.ts")).cancelRun(...given),
      retry: async (...given) => (await import("./fleet/retry-runs.ts")).retryRuns(...given),
      approve: async (...given) => (await import("./fleet/approve-call.ts")).approveCall(...given),
      worker: async (...given) => (await import("./fleet/run-worker.ts")).runWorker(...given),
      drain: async (...given) => (await import("./fleet/drain-workers.ts")).drainWorkers(...given),
    },
    init: async (options) => (await import("./init/init.ts")).init(options, manifest),
    run: {
      program: async (options) => (await import("./run/run-program.ts")).runProgram(options),
      agent: async (options) =>
        await exitWith(await (await import("./run/run-agent.ts")).runAgent(options)),
    },
    sessions: {
      ls: async (...given) => (await import("./sessions/list-sessions.ts")).listSessions(...given),
      show: async (...given) => (await import("./sessions/show-session.ts")).showSession(...given),
      export: async (...given) =>
        (await import("./sessions/export-session.ts")).exportSession(...given),
      rm: async (...given) =>
        (await import("./sessions/remove-sessions.ts")).removeSessions(...given),
    },
  });
  wink.hook("preAction", (_, command) => {
    debug = command.opts()["debug"] === true;
  });
  await wink.parseAsync();
} catch (error) {
  process.exitCode = toExitCode(error, { debug });
}

/** Exits once everything is written, because the module of an agent may leave connections open. */
async function exitWith(code: number): Promise<never> {
  const outputs = [process.stdout, process.stderr];
  await Promise.all(outputs.map((one) => new Promise((resolve) => one.write("", resolve))));
  process.exit(code);
}
