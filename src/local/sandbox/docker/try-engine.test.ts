import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { PythonRun, Sandbox } from "../sandbox.ts";
import type { EngineInfo } from "./read-engine-info.ts";
import { tryEngine } from "./try-engine.ts";

const RUN: PythonRun = {
  stdout: '{"memory": true, "processes": true}\n',
  stderr: "",
  error: null,
  images: [],
  timedOut: false,
  truncated: false,
  died: false,
};
const DOCKER: EngineInfo = { engine: "docker", rootless: false, selinux: false };
const PODMAN: EngineInfo = { engine: "podman", rootless: true, selinux: false };

/** Tries an engine whose container answers `answer` in the shared folder, if it is not `null`. */
function tryWith(run: Partial<PythonRun>, answer: string | null, info = DOCKER, arch = "x64") {
  const open: Sandbox["open"] = async ({ root }) => ({
    async python() {
      if (answer !== null) writeFileSync(join(root, "answer"), answer);
      return { ...RUN, ...run };
    },
    shell: () => Promise.reject(new Error("unused")),
    async [Symbol.asyncDispose]() {},
  });
  const client = { engine: info.engine, program: info.engine };
  return tryEngine(client, { info, image: { id: "sha256:abc", arch } }, open);
}

describe("tryEngine", () => {
  test("reports the limits that the container found enforced", async () => {
    expect(await tryWith({}, "42")).toEqual({
      usable: true,
      reason: "a trial run succeeded",
      limits: {
        memory: "enforced",
        processes: "enforced",
        disk: "watched",
        means: "Docker with cgroups",
      },
    });
  });

  test("reports limits that the engine ignores as watched", async () => {
    for (const stdout of ['{"memory": false, "processes": false}', "no JSON"]) {
      const { limits } = await tryWith({ stdout }, "42");
      expect(limits).toMatchObject({ memory: "watched", processes: "watched" });
    }
    const { limits } = await tryWith({ stdout: "" }, "42", PODMAN);
    expect(limits).toEqual({
      memory: "watched",
      processes: "enforced",
      disk: "watched",
      means: "rootless Podman without cgroups of its own",
    });
  });

  test("notices an engine that does not share the folder with this process", async () => {
    const missing = "FileNotFoundError: [Errno 2] No such file or directory: 'question'";
    for (const probe of [await tryWith({ error: missing }, null), await tryWith({}, null)]) {
      expect(probe).toMatchObject({
        usable: false,
        reason: expect.stringMatching(/^docker does not share the folder .*File sharing$/),
      });
    }
  });

  test("passes on another failure of the trial", async () => {
    expect(await tryWith({ error: "MemoryError" }, null)).toEqual({
      usable: false,
      reason: "a trial run failed: MemoryError",
    });
  });

  test("reports an image whose processor has no system call filter", async () => {
    const { reason } = await tryWith({}, "42", DOCKER, "riscv64");
    expect(reason).toContain("a trial run succeeded, but without a system call filter");
  });
});
