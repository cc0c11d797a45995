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
import { allowedHostRoots, createReviewPrompt, model, mounts, question } from "./review.ts";

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
  /** The synced file that the review's own tool wrote. */
  readonly written: string;
}

/** Runs the review on one runtime, against the local provider. */
export async function review(runtime: Runtime): Promise<Reviewed> {
  await using provider = new LocalProvider({ model: model() });
  const { url } = await provider.listen();
  const session = new Session();
  const events: object[] = [];
  session.bus.subscribe("*", (event) => {
    if (event.type !== "TurnProgressed") events.push(event); // how many there are depends on the time
  });
  const syncDestination = await mkdtemp(join(tmpdir(), "portable-review-"));
  const files = { session, mounts, allowedHostRoots, syncOnCleanup: true, syncDestination };
  const { adapter, workspace } = createRuntime(runtime, url, files);
  try {
    const stream = adapter.stream(createReviewPrompt(workspace), { session, input: question });
    const parts = await collectParts(stream, (line) => console.log(`${runtime}: ${line}`));
    const response = await stream.response;
    const report = await workspace.cleanup();
    const written = await readFile(join(syncDestination, "project/REVIEW.md"), "utf8");
    return { response, events, parts, report, written };
  } finally {
    await workspace.cleanup();
    await rm(syncDestination, { recursive: true });
  }
}

/** The only difference between the runtimes: the section and the adapter. */
function createRuntime(
  runtime: Runtime,
  url: string,
  files: OpenAIContainerWorkspaceSectionOptions & ClaudeAgentWorkspaceSectionOptions,
) {
  if (runtime === "openai") {
    const clientConfig = { baseURL: url, apiKey: "local" };
    const adapter = new OpenAIAdapter({ model: "gpt-5.2", clientConfig });
    return { adapter, workspace: new OpenAIContainerWorkspaceSection(files) };
  }
  const isolation = { baseURL: url.replace(/\/v1$/, ""), apiKey: "local" };
  const adapter = new ClaudeAgentSDKAdapter({ model: "claude-sonnet-5", isolation });
  return { adapter, workspace: new ClaudeAgentWorkspaceSection(files) };
}
