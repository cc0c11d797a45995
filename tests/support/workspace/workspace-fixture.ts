import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { onTestFinished } from "vitest";
import { type BusEvent, MarkdownSection, Prompt, PromptTemplate, Session } from "weakincentives";
import { LocalProvider, type ModelScript, scriptedModel } from "weakincentives/local";
import {
  OpenAIAdapter,
  OpenAIContainerWorkspaceSection,
  type OpenAIContainerWorkspaceSectionOptions,
} from "weakincentives/openai";
import { bubblewrapSandbox } from "../../../src/local/sandbox/bubblewrap/bubblewrap-sandbox.ts";
import type { Sandbox } from "../../../src/local/sandbox/sandbox.ts";
import { ContainerCalls } from "../../../src/openai/http/container-calls.ts";
import { openAIClient } from "../../../src/openai/http/http-client.ts";
import { hostSandbox } from "../host-sandbox.ts";

const bubblewrap = bubblewrapSandbox();

/**
 * Whether bubblewrap works here. Tests that need files at `/mnt/data`, or an interpreter that keeps its state
 * between calls, are skipped without it.
 */
export const { usable: hasBubblewrap } = await bubblewrap.probe();

/** Returns bubblewrap if it works, otherwise the host's Python without isolation. */
export function workspaceSandbox(): Sandbox {
  return hasBubblewrap ? bubblewrap : hostSandbox();
}

/** A local provider on a socket, an adapter for it, and calls to inspect its containers. */
export interface WorkspaceFixture {
  readonly provider: LocalProvider;
  readonly url: string;
  readonly adapter: OpenAIAdapter;
  readonly calls: ContainerCalls;
  readonly session: Session;
  /** All events of the session, in order. */
  readonly events: readonly BusEvent[];
  /** Creates a section of the session. It is cleaned up when the test ends. */
  createSection(
    options?: Partial<OpenAIContainerWorkspaceSectionOptions>,
  ): OpenAIContainerWorkspaceSection;
  /** Evaluates a prompt with this section and one task. */
  run(section: OpenAIContainerWorkspaceSection, task?: string): Promise<string>;
}

/** Starts the fixture. It is disposed when the test ends. */
export async function createWorkspaceFixture(
  script: ModelScript,
  options: { readonly sandbox?: Sandbox | "wasm" } = {},
): Promise<WorkspaceFixture> {
  const provider = new LocalProvider({
    model: scriptedModel(script),
    sandbox: options.sandbox ?? workspaceSandbox(),
  });
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const { url } = await provider.listen();
  const clientConfig = { baseURL: url, apiKey: "local" };
  const adapter = new OpenAIAdapter({
    model: "local",
    clientConfig,
    hostedTools: { codeInterpreter: true },
    throttle: { baseDelayMs: 1, maxDelayMs: 5 },
  });
  const session = new Session();
  const events: BusEvent[] = [];
  session.bus.subscribe("*", (event) => events.push(event));
  return {
    provider,
    url,
    adapter,
    session,
    events,
    calls: new ContainerCalls(openAIClient(clientConfig)),
    createSection(given = {}) {
      const section = new OpenAIContainerWorkspaceSection({ session, ...given });
      onTestFinished(async () => {
        await section.cleanup();
        if (section.syncedDir) rmSync(section.syncedDir, { recursive: true, force: true });
      });
      return section;
    },
    async run(section, task = "Look at the files.") {
      const template = new PromptTemplate({
        ns: "tests",
        key: "workspace",
        sections: [new MarkdownSection({ key: "task", title: "Task", template: task }), section],
      });
      const { text } = await adapter.evaluate(new Prompt(template), { session });
      return text;
    },
  };
}

/** Creates a folder with these files. It is removed when the test ends. */
export function createRepository(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = mkdtempSync(join(tmpdir(), "wink-repository-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
  return folder;
}

/** Reads every file below a folder as Latin-1, which preserves every byte. */
export function readFiles(folder: string): Readonly<Record<string, string>> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name)).sort();
  return Object.fromEntries(
    paths.map((path) => [relative(folder, path), readFileSync(path, "latin1")]),
  );
}
