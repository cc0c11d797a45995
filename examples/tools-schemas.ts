/** Describes the params of a tool with Zod, ArkType, Valibot and plain JSON Schema. */
// needs: arktype
// needs: valibot
// needs: @valibot/to-json-schema
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import {
  definePrompt,
  jsonSchema,
  type ProviderAdapter,
  Session,
  Tool,
  ToolResult,
} from "weakincentives";
import { OpenAIAdapter } from "weakincentives/openai";
import { scriptedClient } from "weakincentives/testing";
import * as z from "zod";

const description = "Waters a bed of the greenhouse.";
const withZod = new Tool({
  name: "water_with_zod",
  description,
  params: z.strictObject({ bed: z.string(), liters: z.number().max(20) }),
  handler: ({ bed, liters }) => ToolResult.ok(`${bed}: ${liters.toFixed(1)} l`),
});
const withArkType = new Tool({
  name: "water_with_arktype",
  description,
  params: type({ bed: "string", liters: "number <= 20" }),
  handler: ({ bed, liters }) => ToolResult.ok(`${bed}: ${liters.toFixed(1)} l`),
});
const withValibot = new Tool({
  name: "water_with_valibot",
  description,
  params: toStandardJsonSchema(
    v.strictObject({ bed: v.string(), liters: v.pipe(v.number(), v.maxValue(20)) }),
  ),
  handler: ({ bed, liters }) => ToolResult.ok(`${bed}: ${liters.toFixed(1)} l`),
});
const withJsonSchema = new Tool({
  name: "water_with_json_schema",
  description,
  params: jsonSchema<{ bed: string; liters: number }>({
    type: "object",
    properties: { bed: { type: "string" }, liters: { type: "number", maximum: 20 } },
    required: ["bed", "liters"],
    additionalProperties: false,
  }),
  handler: ({ bed, liters }) => ToolResult.ok(`${bed}: ${liters.toFixed(1)} l`),
});

const tools = [withZod, withArkType, withValibot, withJsonSchema];
const gardener = definePrompt({
  name: "gardener",
  instructions: "Water the bed of tomatoes once with each tool, with 25 liters.",
  tools,
});

// A scripted model answers. With `--live`, OpenAI's API does: set OPENAI_API_KEY.
const args = { bed: "tomatoes", liters: 25 };
const script = scriptedClient(
  { toolCalls: tools.map(({ name }) => ({ name, arguments: args })) },
  { text: "25 liters are too much." },
);
const isLive = process.argv.includes("--live");
const adapter: ProviderAdapter = isLive ? new OpenAIAdapter({ model: "gpt-5.2" }) : script;

const session = new Session();
session.bus.subscribe("ToolInvoked", ({ name, result }) => {
  console.log(`${name}: ${result.message.split(": ").slice(1).join(": ")}`);
});
await adapter.evaluate(gardener, { session });
// prints: water_with_zod: liters: Too big: expected number to be <=20
// prints: water_with_arktype: liters: liters must be at most 20 (was 25)
// prints: water_with_valibot: liters: Invalid value: Expected <=20 but received 25
// prints: water_with_json_schema: liters: must be at most 20, got 25
