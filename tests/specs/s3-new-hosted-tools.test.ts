import { describe, expect, expectTypeOf, test } from "vitest";
import {
  HostedTool,
  MarkdownSection,
  Prompt,
  PromptEvaluationError,
  PromptTemplate,
  type WebSearchConfig,
  webSearchTool,
} from "weakincentives";
import { defaultCodecs, type HostedToolCodec, type WireItem } from "weakincentives/openai";
import { clients } from "../openai-clients.ts";
import { message, webSearchCall } from "../wire-server.ts";
import { failure, run } from "./example-run.ts";

/** Step 1: what the capability can be told. */
interface ForecastConfig {
  readonly units?: "metric" | "imperial" | undefined;
  readonly days?: number | undefined;
}

/** Step 2: what it gives back. */
interface ForecastResult {
  readonly place: string;
  readonly degrees: readonly number[];
}

/** Step 3: how it is made. */
function forecastTool(
  config: ForecastConfig = {},
  { name = "forecast" }: { readonly name?: string | undefined } = {},
): HostedTool<ForecastConfig, ForecastResult> {
  return new HostedTool({ kind: "forecast", name, description: "Forecasts the weather.", config });
}

/** Step 4: what the provider calls all that. */
class OpenAIForecastCodec implements HostedToolCodec<ForecastConfig, ForecastResult> {
  readonly kind = "forecast";

  serialize({ config: { units = "metric", days = 1 } }: HostedTool<ForecastConfig>) {
    return { type: "forecast", units, max_days: days };
  }

  parseOutput(items: readonly WireItem[]): ForecastResult | null {
    const call = items.find((item) => item["type"] === "forecast_call");
    if (!call) return null;
    const { place, degrees } = call;
    if (!Array.isArray(degrees)) throw new TypeError("degrees are missing");
    return { place: String(place), degrees: degrees.map(Number) };
  }
}

function promptWith(...hostedTools: readonly HostedTool[]) {
  const section = new MarkdownSection({
    title: "Task",
    key: "task",
    template: "Will it rain?",
    hostedTools,
  });
  return new Prompt(new PromptTemplate({ ns: "sky", key: "rain", sections: [section] }));
}

const call = {
  type: "forecast_call",
  id: "fo_1",
  status: "completed",
  place: "Oslo",
  degrees: [4, 5],
};

describe.each(clients)("S3 Hosted Tools, on %s", (_, reach) => {
  /** Step 5: the codec is registered, and nothing else is changed. OpenAI has no such tool. */
  const known = {
    adapter: { hostedToolCodecs: [new OpenAIForecastCodec()] },
    server: { invalid: "allowed" },
  } as const;

  test("Adding New Hosted Tools > Steps 1 to 5: a kind that nobody knew is sent, parsed, typed and told of", async () => {
    const tool = forecastTool({ days: 2 });
    const { response, bodies, bus } = await run(reach, promptWith(tool), {
      ...known,
      script: [[call, message("No.")]],
    });
    expect(bodies).toEqual([
      {
        model: "gpt-4.1",
        input: [{ type: "message", role: "system", content: "## 1. Task (task)\n\nWill it rain?" }],
        tools: [{ type: "forecast", units: "metric", max_days: 2 }],
        tool_choice: "auto",
      },
    ]);
    const output = response.hostedOutputs.get(tool);
    expectTypeOf(output).toEqualTypeOf<ForecastResult | undefined>();
    expect(output).toEqual({ place: "Oslo", degrees: [4, 5] });
    expect(response.hostedCalls).toMatchObject([
      { name: "forecast", kind: "forecast", callId: "fo_1", success: true, raw: call },
    ]);
    expect(bus.of("ToolInvoked")).toMatchObject([
      {
        name: "forecast",
        callId: "fo_1",
        result: { success: true, value: { place: "Oslo", degrees: [4, 5] } },
        origin: { execution: "provider", provider: "openai", capability: "forecast" },
      },
    ]);
  });

  test("Adding New Hosted Tools > Steps 1 to 5: the kinds that come with the library stay", async () => {
    const { bodies } = await run(reach, promptWith(webSearchTool(), forecastTool()), {
      ...known,
      script: [[message("No.")]],
    });
    expect(bodies[0]?.["tools"]).toEqual([
      { type: "web_search" },
      { type: "forecast", units: "metric", max_days: 1 },
    ]);
  });

  test("Adapter Integration > Codec Registry: a codec of a known kind stands in for the default one", async () => {
    expect(defaultCodecs.map(({ kind }) => kind)).toContain("web_search");
    const preview: HostedToolCodec<WebSearchConfig, string> = {
      kind: "web_search",
      serialize: () => ({ type: "web_search_preview" }),
      parseOutput: (items) => (items.length > 1 ? "it searched" : null),
    };
    const { bodies, response } = await run(reach, promptWith(webSearchTool()), {
      script: [[webSearchCall("rain"), message("No.")]],
      adapter: { hostedToolCodecs: [preview] },
    });
    expect(bodies[0]?.["tools"]).toEqual([{ type: "web_search_preview" }]);
    expect(bodies[0]).not.toHaveProperty("include");
    expect(response.hostedOutputs.get("web_search")).toBe("it searched");
  });

  test("Error Handling > Parse Failures: null is a tool that was not used", async () => {
    const { response, bus } = await run(reach, promptWith(forecastTool()), {
      ...known,
      script: [[message("No.")]],
    });
    expect(response.hostedOutputs.has("forecast")).toBe(false);
    expect(response.hostedCalls).toEqual([]);
    expect(bus.of("ToolInvoked")).toEqual([]);
  });

  test("Error Handling > Parse Failures: what a codec throws is an error in phase parse", async () => {
    const { degrees: __, ...torn } = call;
    const { error, bodies } = await failure(reach, promptWith(forecastTool()), {
      ...known,
      script: [[torn, message("No.")]],
    });
    if (!(error instanceof PromptEvaluationError)) throw error;
    expect(error).toMatchObject({ phase: "parse", promptName: "sky:rain" });
    expect(error.message).toContain('The codec of "forecast" could not read what came back');
    expect(error.cause).toBeInstanceOf(TypeError);
    expect(bodies).toHaveLength(1);
  });
});
