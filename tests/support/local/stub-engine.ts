import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EngineClient, EngineName } from "../../../src/local/sandbox/docker/call-engine.ts";
import { temporaryTree } from "../temporary-tree.ts";

/** The commands of a stub, as lines of shell. A command that is missing fails without a message. */
export interface StubCommands {
  readonly info?: string;
  readonly image?: string;
  readonly ps?: string;
  readonly rm?: string;
  readonly run?: string;
}

/** A client that looks like that of a container engine, and starts no container. */
export interface StubEngine extends EngineClient {
  /** File to which the stub appends the arguments of each call. */
  readonly calls: string;
}

/** Creates a stub of a container engine's client in a temporary folder. */
export function createStubEngine(
  commands: StubCommands,
  engine: EngineName = "docker",
): StubEngine {
  const folder = temporaryTree();
  const program = join(folder, engine);
  const calls = join(folder, "calls");
  const cases = Object.entries(commands).map(([name, lines]) => `${name})\n${lines}\n;;`);
  writeFileSync(
    program,
    `#!/bin/sh\necho "$@" >> ${calls}\ncase "$1" in\n${cases.join("\n")}\n*) exit 1 ;;\nesac\n`,
  );
  chmodSync(program, 0o755);
  return { engine, program, calls };
}

/** Lines of shell that print `value` as JSON. */
export function printJson(value: unknown): string {
  return `cat <<'JSON'\n${JSON.stringify(value)}\nJSON`;
}

/** Docker's report about itself, reduced to the fields in use. */
export const DOCKER_INFO = { OSType: "linux", SecurityOptions: ["name=seccomp,profile=default"] };

/** Podman's report about itself, reduced to the fields in use. */
export const PODMAN_INFO = {
  host: { os: "linux", security: { rootless: true, selinuxEnabled: false } },
};

/** The report of both about an image. */
export const IMAGE = [{ Id: "sha256:abc", Os: "linux", Architecture: "amd64", Config: {} }];
