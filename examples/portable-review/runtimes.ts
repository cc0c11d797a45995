import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Session } from "weakincentives";
import {
  ClaudeAgentSDKAdapter,
  ClaudeAgentWorkspaceSection,
  type ClaudeAgentWorkspaceSectionOptions,
} from "weakincentives/claude";
import { LocalProvider } from "weakincentives/local";
import {
  OpenAIAdapter,
  OpenAIContainerWorkspaceSection,
  type OpenAIContainerWorkspaceSectionOptions,
} from "weakincentives/openai";
import { collectParts, type Parts } from "./parts.ts";
import { createMounts, createReviewPrompt, model, question } from "./review.ts";

/** The runtimes that can run the review. */
export const runtimes = ["openai", "claude"] as const;

export type Runtime = (typeof runtimes)[number];

/** The result of a review. */
export interface Reviewed {
  readonly response: object;
  readonly events: readonly object[];
  /** The parts of the stream, joined by call and turn. */
  readonly parts: Parts;
  /** The report of the sync at cleanup. */
  readonly report: object;
  /** The synced file that the review's own tool wrote, or `""` if the model reported no fault. */
  readonly written: string;
}

/**
 * Runs the review on one runtime. A scripted model answers. With `--live`, the provider's API does: set
 * OPENAI_API_KEY and ANTHROPIC_API_KEY.
 */
export async function review(runtime: Runtime): Promise<Reviewed> {
  const provider = new LocalProvider({ model: model() });
  const { url } = await provider.listen();
  const session = new Session();
  const events: object[] = [];
  session.bus.subscribe("*", (event) => {
    // How many there are depends on the time.
    if (!/^(?:Turn|Workspace)Progressed$/.test(event.type)) events.push(event);
  });
  const folder = await mkdtemp(join(tmpdir(), "portable-review-"));
  const local = process.argv.includes("--live") ? null : url;
  const { adapter, workspace } = createRuntime(runtime, local, {
    session,
    mounts: await createMounts(folder),
    allowedHostRoots: [folder],
    syncOnCleanup: true,
    syncDestination: folder,
  });
  try {
    const stream = adapter.stream(createReviewPrompt(workspace), { session, input: question });
    const parts = await collectParts(stream, (line) => console.log(`${runtime}: ${line}`));
    const response = await stream.response;
    const report = await workspace.cleanup();
    const written = await readFile(join(folder, "project/REVIEW.md"), "utf8").catch(() => "");
    return { response, events, parts, report, written };
  } finally {
    await workspace.cleanup();
    await provider.close();
    await rm(folder, { recursive: true });
  }
}

/** The only difference between the runtimes: the section and the adapter. */
function createRuntime(
  runtime: Runtime,
  url: string | null,
  files: OpenAIContainerWorkspaceSectionOptions & ClaudeAgentWorkspaceSectionOptions,
) {
  if (runtime === "openai") {
    const clientConfig = url ? { baseURL: url, apiKey: "local" } : {};
    const adapter = new OpenAIAdapter({ model: "gpt-5.2", clientConfig });
    return { adapter, workspace: new OpenAIContainerWorkspaceSection(files) };
  }
  const isolation = url ? { baseURL: url.replace(/\/v1$/, ""), apiKey: "local" } : {};
  const adapter = new ClaudeAgentSDKAdapter({ model: "claude-sonnet-5", isolation });
  return { adapter, workspace: new ClaudeAgentWorkspaceSection(files) };
}
