import { describe, test } from "vitest";
import { ClaudeAgentWorkspaceSection } from "weakincentives/claude";
import { OpenAIAdapter, OpenAIContainerWorkspaceSection } from "weakincentives/openai";
import {
  type AdapterContractOptions,
  adapterContract,
  type MakeSubject,
  scriptedSubject,
} from "weakincentives/testing";
import { claudeSubject } from "./support/claude/contract-subject.ts";
import { SDK_TIMEOUT, sdkMissing } from "./support/claude/sdk-installed.ts";
import { localSubject, officialClient, ourClient } from "./support/contract-local.ts";
import { openaiSubject } from "./support/contract-server.ts";
import { clients } from "./support/openai-clients.ts";
import { hasBubblewrap } from "./support/workspace/workspace-fixture.ts";

const servers: readonly (readonly [string, MakeSubject])[] = clients.map(([name, client]) => [
  `OpenAI on ${name}`,
  openaiSubject((url, clock) => new OpenAIAdapter({ model: "gpt-5.2", ...client(url), clock })),
]);

const openai: AdapterContractOptions = {
  workspace: (options) => new OpenAIContainerWorkspaceSection(options),
  compacts: true,
  resumes: true,
  streams: true,
};

const claude: AdapterContractOptions = {
  workspace: (options) => new ClaudeAgentWorkspaceSection(options),
  compacts: true,
  resumes: true,
  streams: true,
};

describe.each([["the scripted client", scriptedSubject] as const, ...servers])(
  "%s passes the adapter contract:",
  (_name, make) => {
    const options = { resumes: true, streams: true };
    for (const { name, run } of adapterContract(make, options)) test(name, run);
  },
);

/** The case that requires a real sandbox. */
const NEEDS_ISOLATION = "keeps code from connecting to the host's network";

describe.each([
  ["our client", ourClient],
  ["the official client", officialClient],
] as const)(
  "OpenAIAdapter on the local provider, with %s, passes the adapter contract with workspaces and compaction:",
  (_name, reach) => {
    for (const { name, run } of adapterContract(localSubject(reach), openai)) {
      test.skipIf(name === NEEDS_ISOLATION && !hasBubblewrap)(name, run);
    }
  },
);

describe.skipIf(sdkMissing)(
  "ClaudeAgentAdapter on the real SDK passes the adapter contract with workspaces and compaction:",
  {
    timeout: SDK_TIMEOUT,
  },
  () => {
    for (const { name, run } of adapterContract(claudeSubject, claude)) test(name, run);
  },
);
