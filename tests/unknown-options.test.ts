import { describe, expect, test } from "vitest";
import * as root from "weakincentives";
import * as claude from "weakincentives/claude";
import * as files from "weakincentives/files";
import * as fleet from "weakincentives/fleet";
import * as local from "weakincentives/local";
import * as mcp from "weakincentives/mcp";
import * as openai from "weakincentives/openai";
import * as stores from "weakincentives/stores";
import * as telemetry from "weakincentives/telemetry";
import * as testing from "weakincentives/testing";
import { claudeRows } from "./support/unknown-options/claude-rows.ts";
import { filesRows, storesRows } from "./support/unknown-options/file-rows.ts";
import { fleetRows } from "./support/unknown-options/fleet-rows.ts";
import { localRows } from "./support/unknown-options/local-rows.ts";
import { mcpRows } from "./support/unknown-options/mcp-rows.ts";
import { openaiRows } from "./support/unknown-options/openai-rows.ts";
import { promptRows } from "./support/unknown-options/prompt-rows.ts";
import { telemetryRows } from "./support/unknown-options/telemetry-rows.ts";
import { testingRows } from "./support/unknown-options/testing-rows.ts";
import { toolRows } from "./support/unknown-options/tool-rows.ts";

const createAdapter = (options: object) =>
  new openai.OpenAIAdapter({ model: "gpt-5.2", clientConfig: { apiKey: "k" }, ...options });

const rows = {
  weakincentives: [...toolRows, ...promptRows],
  "weakincentives/files": filesRows,
  "weakincentives/stores": storesRows,
  "weakincentives/openai": openaiRows,
  "weakincentives/claude": claudeRows,
  "weakincentives/fleet": fleetRows,
  "weakincentives/local": localRows,
  "weakincentives/mcp": mcpRows,
  "weakincentives/telemetry": telemetryRows,
  "weakincentives/testing": testingRows,
};

describe.each(Object.entries(rows))("%s", (_entryPoint, all) => {
  test.each(all)("%s refuses %s and suggests %s", async (owner, misspelled, intended, use) => {
    await (async () => use({} as never))(); // valid without the key
    for (const value of [1, undefined]) {
      const error = await catchOptionError(async () => use({ [misspelled]: value } as never));
      expect(error.message).toBe(
        `${owner} key must be a known option, got "${misspelled}". Did you mean "${intended}"?`,
      );
      expect(error.field).toBe(`${owner} key`);
    }
  });

  test.each(all)("%s refuses a key like no other (not %s or %s)", async (owner, _m, _i, use) => {
    const error = await catchOptionError(async () => use({ zzzzzzzzzz: "s3cret" } as never));
    expect(error.field).toBe(`${owner} key`);
    expect(error.message).toContain('"zzzzzzzzzz"');
    expect(error.message).not.toContain("s3cret");
  });
});

async function catchOptionError(use: () => Promise<unknown>): Promise<root.InvalidOptionError> {
  const error = await use().then(
    () => null,
    (thrown: unknown) => thrown,
  );
  const found = error instanceof root.PromptEvaluationError ? error.cause : error;
  expect(found).toBeInstanceOf(root.InvalidOptionError);
  return found as root.InvalidOptionError;
}

describe("free-form records accept any key", () => {
  test.each<readonly [string, () => unknown]>([
    ["modelConfig.extraBody", () => createAdapter({ modelConfig: { extraBody: { any_key: 1 } } })],
    ["modelConfig.metadata", () => createAdapter({ modelConfig: { metadata: { anyKey: "1" } } })],
    ["clientConfig.headers", () => openai.openAIClient({ headers: { "any-key": "1" } })],
    ["clientConfig.query", () => openai.openAIClient({ query: { anyKey: "1" } })],
    ["Session.tags", () => new root.Session({ tags: { anyKey: "1" } })],
    ["env", () => new claude.ClaudeAgentSDKAdapter({ env: { ANY_KEY: "1" } })],
    [
      "isolation.env",
      () => new claude.ClaudeAgentSDKAdapter({ isolation: { env: { ANY_KEY: "1" } } }),
    ],
    [
      "HostedTool.config and live",
      () => {
        const about = { kind: "k", name: "n", description: "D." };
        return new root.HostedTool({ ...about, config: { anyKey: 1 }, live: { anyKey: 1 } });
      },
    ],
  ])("%s", (_name, use) => {
    expect(use).not.toThrow();
  });
});

/** Exports without options: values, error classes, and functions of plain arguments. */
const withoutOptions = new Set([
  // weakincentives
  ...["BudgetTracker", "Deadline", "ToolResult", "applyPatch", "jsonSchema", "nullEventBus"],
  ...["defaultPrices", "promptLog", "resource", "standingSlice", "toolLog", "visibilitySlice"],
  // weakincentives/claude
  ...["claudeHistorySlice", "noNetwork", "withDomains"],
  // weakincentives/fleet
  "stopOn",
  // weakincentives/local
  "echoModel",
  // weakincentives/openai
  ...["compactionSlice", "defaultCodecs", "historySlice"],
  // weakincentives/testing
  ...["filesystemContract", "recordingBus", "scriptedSubject"],
]);

/** Exports whose rows have the name of a method, of an argument, or of a subclass. */
const otherNames: Readonly<Record<string, string>> = {
  Fleet: "Fleet.open(options)",
  LocalOverridesStore: "LocalOverridesStore.save(overrides)",
  ResourceRegistry: "ResourceRegistry.bind(options)",
  Section: "PlainSection",
  defineSlice: 'Slice "a"',
  openAIClient: "clientConfig",
  scriptedClient: "scriptedClient.with(options)",
  scriptedModel: "steps[0][0].call",
  streamEvaluation: "evaluate(options)",
  systemClock: "Clock.sleep(options)",
};

test("every export that takes options has a row here", () => {
  const exported = [
    root,
    files,
    fleet,
    stores,
    openai,
    claude,
    local,
    mcp,
    telemetry,
    testing,
  ].flatMap((entry) => Object.entries(entry));
  const owners = new Set(
    Object.values(rows)
      .flat()
      .map(([owner]) => owner),
  );
  const missing = exported
    .filter(([name, value]) => !isErrorClass(value) && !withoutOptions.has(name))
    .map(([name]) => otherNames[name] ?? name)
    .filter(
      (name) => ![name, `${name}(options)`, `${name}(config)`].some((one) => owners.has(one)),
    );
  expect(missing).toEqual([]);
});

function isErrorClass(value: unknown): boolean {
  return typeof value === "function" && value.prototype instanceof Error;
}
