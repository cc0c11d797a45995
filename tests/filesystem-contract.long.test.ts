import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { Session } from "weakincentives";
import { ClaudeAgentWorkspaceSection } from "weakincentives/claude";
import { HostFilesystem, InMemoryFilesystem } from "weakincentives/files";
import { LocalProvider } from "weakincentives/local";
import {
  ContainerFilesystem,
  OpenAIContainerWorkspaceSection,
  openAIClient,
} from "weakincentives/openai";
import { filesystemContract, type MakeFilesystem } from "weakincentives/testing";
import { hostSandbox } from "./support/host-sandbox.ts";

const createMemorySubject: MakeFilesystem = () => ({ filesystem: new InMemoryFilesystem() });

/** Fails if a file is left outside the root, or of a snapshot. */
const createHostSubject: MakeFilesystem = async () => {
  const scratch = await mkdtemp(join(tmpdir(), "wink-contract-"));
  const root = join(scratch, "root");
  await mkdir(root);
  const filesystem = new HostFilesystem(root);
  return {
    filesystem,
    async close() {
      await filesystem[Symbol.asyncDispose]();
      expect(await readdir(scratch)).toEqual(["root"]);
      await rm(scratch, { recursive: true });
    },
  };
};

/** Fails if temporary files are left after cleanup. */
function createContainerSubject(kind: "standalone" | "workspace"): MakeFilesystem {
  return async () => {
    const client = openAIClient({ baseURL: url, apiKey: "local" });
    const section = new OpenAIContainerWorkspaceSection({ session: new Session(), client });
    const filesystem =
      kind === "standalone" ? new ContainerFilesystem({ client }) : section.filesystem;
    return {
      filesystem,
      async close() {
        await filesystem.cleanup();
        expect(existsSync(section.tempDir)).toBe(false);
      },
    };
  };
}

/** Fails if temporary files are left after cleanup. */
const createHostWorkspaceSubject: MakeFilesystem = () => {
  const section = new ClaudeAgentWorkspaceSection({ session: new Session() });
  return {
    filesystem: section.filesystem,
    async close() {
      await section.cleanup();
      expect(existsSync(section.tempDir)).toBe(false);
    },
  };
};

const provider = new LocalProvider({ sandbox: hostSandbox() });
const { url } = await provider.listen();
afterAll(() => provider[Symbol.asyncDispose]());

describe.each([
  ["InMemoryFilesystem", createMemorySubject],
  ["HostFilesystem", createHostSubject],
  ["a standalone ContainerFilesystem", createContainerSubject("standalone")],
  ["ContainerFilesystem of a workspace", createContainerSubject("workspace")],
  ["HostFilesystem of a workspace", createHostWorkspaceSubject],
])("%s passes the file system contract:", (_name, make) => {
  for (const { name, run } of filesystemContract(make)) test(name, run);
});
