import { readdirSync, readFileSync } from "node:fs";
import * as stable from "@opentelemetry/semantic-conventions";
import * as incubating from "@opentelemetry/semantic-conventions/incubating";
import { expect, test } from "vitest";
import { toProviderName, toToolType } from "../../src/telemetry/outcome-attributes.ts";

/**
 * The names that OpenTelemetry has published, as the constants of its package. Version 1.41.1 is the last release of the
 * conventions for generative AI: they have moved to a repository without releases (as of 2026-11-18).
 */
const published = new Set<unknown>(
  [...Object.entries(stable), ...Object.entries(incubating)]
    .filter(([name]) => /^(ATTR|METRIC)_/.test(name))
    .map(([, value]) => value),
);

/** Published names that the conventions replaced before 1.41.0. */
const replaced = [
  ...["gen_ai.system", "gen_ai.prompt", "gen_ai.completion"],
  ...["gen_ai.usage.prompt_tokens", "gen_ai.usage.completion_tokens"],
];

const folder = new URL("../../src/telemetry/", import.meta.url);
const sources = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), "utf8"));
const used = new Set(
  sources.flatMap((code) => code.match(/(?<=")(?:gen_ai|error|server|wink)\.[\w.]+(?=")/g) ?? []),
);

test("every attribute and metric of the source is published by OpenTelemetry, or starts with wink.", () => {
  expect(published.size).toBeGreaterThan(500);
  expect(used.size).toBeGreaterThan(25);
  const own = [...used].filter((name) => !published.has(name));
  expect(own.filter((name) => !name.startsWith("wink."))).toEqual([]);
  expect([...used].filter((name) => replaced.includes(name))).toEqual([]);
});

test("the guide lists every attribute, metric and event, and no other", () => {
  const page = readFileSync(new URL("../../docs/guides/telemetry.md", import.meta.url), "utf8");
  const listed = new Set(page.match(/(?<=`)(?:gen_ai|error|wink)\.[\w.]+(?=`)/g));
  expect([...listed].toSorted()).toEqual([...used].toSorted());
});

test("operations, providers and types of tools are in the conventions", () => {
  const operations = sources.flatMap(
    (code) => code.match(/(?<="gen_ai\.operation\.name": ")\w+/g) ?? [],
  );
  const known = [
    incubating.GEN_AI_OPERATION_NAME_VALUE_CHAT,
    incubating.GEN_AI_OPERATION_NAME_VALUE_EXECUTE_TOOL,
    incubating.GEN_AI_OPERATION_NAME_VALUE_INVOKE_AGENT,
  ];
  expect([...new Set(operations)].toSorted()).toEqual(known.toSorted());
  expect(toProviderName("openai")).toBe(incubating.GEN_AI_PROVIDER_NAME_VALUE_OPENAI);
  expect(toProviderName("claude")).toBe(incubating.GEN_AI_PROVIDER_NAME_VALUE_ANTHROPIC);
  expect([null, "web_search", "file_search"].map(toToolType)).toEqual([
    ...["function", "extension", "datastore"],
  ]);
});
