import { DataPointType } from "@opentelemetry/sdk-metrics";
import { expect, test } from "vitest";
import {
  MarkdownSection,
  Prompt,
  PromptTemplate,
  Session,
  ThrottleError,
  Tool,
  ToolResult,
} from "weakincentives";
import { fakeClock, scriptedClient } from "weakincentives/testing";
import { createTraceFixture } from "../support/telemetry/trace-fixture.ts";

const look = new Tool({
  name: "look",
  description: "Looks.",
  params: null,
  handler: () => ToolResult.ok(null),
});
const section = new MarkdownSection({ key: "t", title: "T", template: "Go.", tools: [look] });
const template = new PromptTemplate({ ns: "test", key: "metrics", sections: [section] });

/** Returns the points of a histogram. */
function listPoints(metric: Awaited<ReturnType<typeof read>> | undefined) {
  if (metric?.dataPointType !== DataPointType.HISTOGRAM) throw new Error("There is no histogram.");
  return metric.dataPoints.map(({ attributes, value: { count, sum = 0, buckets } }) => ({
    ...{ attributes, count, sum, boundaries: buckets.boundaries },
  }));
}

async function read(fixture: ReturnType<typeof createTraceFixture>, name: string) {
  const metric = (await fixture.readMetrics()).get(name);
  if (!metric) throw new Error(`There is no metric "${name}".`);
  return metric;
}

test("the metrics are the durations of requests and evaluations, and the tokens of requests", async () => {
  const fixture = createTraceFixture();
  const session = new Session();
  fixture.instrument(session);
  const usage = { inputTokens: 100, outputTokens: 7 };
  const model = scriptedClient(
    { toolCalls: [{ name: "look" }], model: "owl-1", usage },
    { text: "Done.", model: "owl-1", usage },
    new ThrottleError("Later", { promptName: "p", kind: "quota_exhausted" }),
  ).with({ clock: fakeClock({ skipsSleep: true }) });
  await model.evaluate(new Prompt(template), { session });
  await model.evaluate(new Prompt(template), { session }).catch(() => {});

  const tokens = await read(fixture, "gen_ai.client.token.usage");
  expect(tokens.descriptor).toMatchObject({ unit: "{token}", type: "HISTOGRAM" });
  const chat = { "gen_ai.operation.name": "chat", "gen_ai.provider.name": "scripted" };
  const response = { ...chat, "gen_ai.response.model": "owl-1" };
  const boundaries = Array.from({ length: 14 }, (_, index) => 4 ** index);
  expect(listPoints(tokens)).toEqual([
    { attributes: { ...response, "gen_ai.token.type": "input" }, count: 2, sum: 200, boundaries },
    { attributes: { ...response, "gen_ai.token.type": "output" }, count: 2, sum: 14, boundaries },
  ]);

  const durations = await read(fixture, "gen_ai.client.operation.duration");
  expect(durations.descriptor).toMatchObject({ unit: "s", type: "HISTOGRAM" });
  const agent = { ...chat, "gen_ai.operation.name": "invoke_agent" };
  const failed = { "error.type": "ThrottleError" };
  const points = listPoints(durations);
  expect(points.map(({ attributes, count }) => ({ attributes, count }))).toEqual([
    { attributes: response, count: 2 },
    { attributes: agent, count: 1 },
    { attributes: { ...chat, ...failed }, count: 1 },
    { attributes: { ...agent, ...failed }, count: 1 },
  ]);
  for (const point of points) {
    expect(point.sum).toBeGreaterThan(0);
    expect(point.sum).toBeLessThan(10);
    expect(point.boundaries).toEqual(Array.from({ length: 14 }, (_, index) => 0.01 * 2 ** index));
  }
});
