import { readFileSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import {
  createStubEngine,
  DOCKER_INFO,
  IMAGE,
  printJson,
  type StubCommands,
} from "../../../../tests/support/local/stub-engine.ts";
import { temporaryTree } from "../../../../tests/support/temporary-tree.ts";
import { dockerSandbox } from "./docker-sandbox.ts";

const ANSWERS: StubCommands = {
  info: printJson(DOCKER_INFO),
  image: printJson(IMAGE),
  ps: ":",
  rm: ":",
};
const LIMITS = { timeoutMs: 4_000, maxOutputBytes: 1_000 };
const MEMORY = { memoryBytes: 300 * 1024 ** 2 };

const create = (commands: StubCommands) => {
  const { program } = createStubEngine({ ...ANSWERS, ...commands });
  return dockerSandbox({ engine: "docker", program });
};

describe("dockerSandbox", () => {
  test("is named after its engine", () => {
    expect(dockerSandbox({ engine: "docker" }).name).toBe("docker");
    expect(dockerSandbox({ engine: "podman" }).isolation).toContain("A container of Podman");
  });

  test("rejects engines and images that it cannot use", () => {
    const engine: string = "lxc";
    expect(() => dockerSandbox({ engine: engine as "docker" })).toThrow(
      'dockerSandbox.engine must name a container engine, got "lxc". Use "docker" or "podman".',
    );
    expect(() => dockerSandbox({ engine: "docker", image: "--privileged" })).toThrow(
      'dockerSandbox.image must be the name of an image, got "--privileged".',
    );
  });

  test("takes the image from WINK_SANDBOX_IMAGE, or Python's", async () => {
    for (const [value, name] of [
      ["tools:1", "tools:1"],
      ["", "python:3.13-slim"],
    ] as const) {
      vi.stubEnv("WINK_SANDBOX_IMAGE", value);
      const { reason } = await create({ image: "echo 'No such image' >&2; exit 1" }).probe();
      expect(reason).toBe(`the image ${name} is missing: docker pull ${name}`);
      vi.unstubAllEnvs();
    }
  });

  test("asks a broken engine again, because the problem may be solved", async () => {
    const engine = createStubEngine({ ...ANSWERS, info: "exit 1" });
    const sandbox = dockerSandbox({ engine: "docker", program: engine.program });
    for (let tries = 0; tries < 2; tries++) expect((await sandbox.probe()).usable).toBe(false);
    expect(readFileSync(engine.calls, "utf8").match(/^info/gm)).toHaveLength(2);
    const root = temporaryTree();
    await expect(sandbox.open({ root, ...MEMORY })).rejects.toThrow("The sandbox did not start: ");
  });

  test("rejects when its opening is canceled, and starts no container", async () => {
    const engine = createStubEngine(ANSWERS);
    const sandbox = dockerSandbox({ engine: "docker", program: engine.program });
    const reason = new Error("enough");
    const options = { root: temporaryTree(), ...MEMORY, signal: AbortSignal.abort(reason) };
    await expect(sandbox.open(options)).rejects.toBe(reason);
    expect(readFileSync(engine.calls, "utf8")).not.toContain("run");
  });

  test("refuses limits that nothing enforces if they are required", async () => {
    const sandbox = create({ run: "exit 1" });
    const options = { root: temporaryTree(), ...MEMORY, require: "enforced" } as const;
    await expect(sandbox.open(options)).rejects.toThrow(
      "memory and processes and disk are only watched (the engine's trial run failed)",
    );
  });

  test("starts images of processors without a system call filter, and passes none", async () => {
    const [image] = IMAGE;
    const other = printJson([{ ...image, Architecture: "riscv64" }]);
    const engine = createStubEngine({ ...ANSWERS, image: other, run: "exit 1" });
    await dockerSandbox({ engine: "docker", program: engine.program }).probe();
    // The last argument is the filter.
    expect(readFileSync(engine.calls, "utf8")).toMatch(/\} \d+ $/m);
  });

  test("explains why a container did not start", async () => {
    for (const [message, reason] of [
      ['exec: "python3": executable file not found', "the image has no python3"],
      ["OSError: [Errno 22] The system call filter was refused", "is for another processor"],
      ["Error: Mounts denied: /tmp is not shared from the host", "File sharing"],
      ["docker: no space left", "docker: no space left"],
    ] as const) {
      const probe = await create({ run: `echo '${message}' >&2; exit 125` }).probe();
      expect(probe).toMatchObject({ usable: false, reason: expect.stringContaining(reason) });
    }
  });

  test("removes a container that does not start in time", async () => {
    const engine = createStubEngine({ ...ANSWERS, run: "exec sleep 60" });
    const { program } = engine;
    const sandbox = dockerSandbox({ engine: "docker", program, startTimeoutMs: 200 });
    await using container = await sandbox.open({ root: temporaryTree(), ...MEMORY });
    await expect(container.python("1", LIMITS)).rejects.toThrow(
      "docker started no container within 0.2 s",
    );
    expect(readFileSync(engine.calls, "utf8")).toMatch(/^rm --force wink-sandbox\./m);
  });

  test("removes the container if the client ignores the end of its input", async () => {
    const engine = createStubEngine({ ...ANSWERS, run: "echo; exec sleep 60" });
    const sandbox = dockerSandbox({ engine: "docker", program: engine.program });
    const container = await sandbox.open({ root: temporaryTree(), ...MEMORY });
    const run = container.shell("true", LIMITS).catch((error: unknown) => error);
    await expect.poll(() => readFileSync(engine.calls, "utf8")).toContain("run --name");
    await container[Symbol.asyncDispose]();
    await run;
    expect(readFileSync(engine.calls, "utf8")).toMatch(/^rm --force wink-sandbox\./m);
  });
});
