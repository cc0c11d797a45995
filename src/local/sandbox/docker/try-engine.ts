import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getErrorMessage } from "../../../base/errors.ts";
import { parseJson, type UnknownRecord } from "../../../base/json.ts";
import { SUPERVISOR_PROCESSES } from "../container-limits.ts";
import type { LimitGrade, LimitReport, Sandbox, SandboxProbe } from "../sandbox.ts";
import { describeFilter } from "../seccomp/describe-filter.ts";
import { SUPERVISOR_BYTES } from "./build-run-arguments.ts";
import { type EngineClient, explainEngineProblem } from "./call-engine.ts";
import type { FoundImage } from "./find-image.ts";
import { createLimitCheck } from "./prepare-program.ts";
import type { EngineInfo } from "./read-engine-info.ts";

/** An engine that answered, and the image that it has. */
export interface PreparedEngine {
  readonly info: EngineInfo;
  readonly image: FoundImage;
}

/**
 * Runs a program in a container: it reads a file of this process, writes one, and reports which limits the
 * kernel enforces. An engine on another machine shares no files, and not every engine enforces limits.
 */
export async function tryEngine(
  client: EngineClient,
  { image, info }: PreparedEngine,
  open: Sandbox["open"],
): Promise<SandboxProbe> {
  const root = await mkdtemp(join(tmpdir(), "weakincentives-probe-"));
  try {
    await writeFile(join(root, "question"), "6 * 7");
    await using container = await open({
      root,
      memoryBytes: MEMORY_BYTES,
      maxProcesses: PROCESSES,
    });
    const run = await container.python(TRIAL, { timeoutMs: 10_000, maxOutputBytes: 1_000 });
    const answer = await readFile(join(root, "answer"), "utf8").catch(() => "");
    if (run.error?.includes("question") || (run.error === null && answer !== "42")) {
      return refuse(
        `${client.engine} does not share the folder ${tmpdir()}: ${SHARING[client.engine]}`,
      );
    }
    if (run.error !== null) return refuse(`a trial run failed: ${run.error}`);
    const limits = parseLimits(run.stdout, info);
    return { usable: true, reason: `a trial run succeeded${describeFilter(image.arch)}`, limits };
  } catch (error) {
    const message = getErrorMessage(error).replace(/^The sandbox did not start: /, "");
    return refuse(explainStart(client, message));
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

const MEMORY_BYTES = 256 * 1024 ** 2;
const PROCESSES = 32;

const TRIAL = `${createLimitCheck(MEMORY_BYTES + SUPERVISOR_BYTES, PROCESSES + SUPERVISOR_PROCESSES)}
_ = open("answer", "w").write(str(eval(open("question").read())))`;

const SHARING = {
  docker:
    "use an engine on this machine, and on Docker Desktop share the folder under Resources, File sharing",
  podman: "use an engine on this machine, and share the folder with podman machine init --volume",
};

function refuse(reason: string): SandboxProbe {
  return { usable: false, reason };
}

function explainStart(client: EngineClient, message: string): string {
  if (
    /exec.*(python3|\/usr\/bin\/env)|(python3|\/usr\/bin\/env).*(not found|no such file)/i.test(
      message,
    )
  )
    return "the image has no python3 or no /usr/bin/env: use an image with Python, such as python:3.13-slim";
  if (message.includes("The system call filter was refused"))
    return "the image is for another processor: use an image for this one";
  return explainEngineProblem(client, message);
}

/** Parses what the trial printed. Limits that the kernel does not enforce are watched by the supervisor. */
function parseLimits(stdout: string, { engine, rootless }: EngineInfo): LimitReport {
  const parsed = parseJson(stdout);
  const enforced: UnknownRecord = parsed.ok ? { ...Object(parsed.value) } : {};
  const grade = (name: string): LimitGrade => (enforced[name] === true ? "enforced" : "watched");
  const [memory, counted] = [grade("memory"), grade("processes")];
  // Rootless Podman gives each container its own user namespace, in which processes are counted per user.
  const processes = rootless && engine === "podman" ? "enforced" : counted;
  const name = engine === "docker" ? "Docker" : "Podman";
  const groups = memory === "enforced" ? "with cgroups" : "without cgroups of its own";
  return {
    memory,
    processes,
    disk: "watched",
    means: `${rootless ? "rootless " : ""}${name} ${groups}`,
  };
}
