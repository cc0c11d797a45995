import { describe, expect, expectTypeOf, test, vi } from "vitest";
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
import { filterByType, readRecords, readString } from "../../src/base/json.ts";
import { createFolder } from "../support/local/provider-fixture.ts";
import { clients } from "../support/openai-clients.ts";
import { runCanned, runCannedFailure } from "../support/specs/canned-run.ts";
import { runExample } from "../support/specs/example-run.ts";
import { message } from "../support/wire-server.ts";

// With Python in WebAssembly, every container takes seconds to start.
vi.setConfig({ testTimeout: 60_000 });

/** Step 1: the settings of the capability. */
interface ForecastConfig {
  readonly units?: "metric" | "imperial" | undefined;
  readonly days?: number | undefined;
}

/** Step 2: its result. */
interface ForecastResult {
  readonly place: string;
  readonly degrees: readonly number[];
}

/** Step 3: its factory. */
function forecastTool(
  config: ForecastConfig = {},
  { name = "forecast" }: { readonly name?: string | undefined } = {},
): HostedTool<ForecastConfig, ForecastResult> {
  return new HostedTool({ kind: "forecast", name, description: "Forecasts the weather.", config });
}

/** Step 4: its wire format. */
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

function createPrompt(...hostedTools: readonly HostedTool[]) {
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
  /** Step 5: the codec is registered. No provider has this tool, so its answer is prepared. */
  const known = {
    adapter: { hostedToolCodecs: [new OpenAIForecastCodec()] },
    server: { invalid: "allowed" },
  } as const;

  test("Adding New Hosted Tools > Steps 1 to 5: a new kind is sent, parsed, typed and published", async () => {
    const tool = forecastTool({ days: 2 });
    const { response, bodies, bus } = await runCanned(reach, createPrompt(tool), {
      ...known,
      adapter: { ...known.adapter, delivery: "buffered" },
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

  test("Adding New Hosted Tools > Steps 1 to 5: the built-in kinds remain available", async () => {
    const { bodies } = await runCanned(reach, createPrompt(webSearchTool(), forecastTool()), {
      ...known,
      script: [[message("No.")]],
    });
    expect(bodies[0]?.["tools"]).toEqual([
      { type: "web_search" },
      { type: "forecast", units: "metric", max_days: 1 },
    ]);
  });

  test("Adding New Hosted Tools > Steps 1 to 5: the specification's own example, a code interpreter, really runs", async () => {
    interface PythonConfig {
      readonly allowedLanguages?: readonly string[] | undefined;
      readonly timeoutSeconds?: number | undefined;
    }
    interface PythonResult {
      readonly code: string;
      readonly stdout: string;
    }
    const codec: HostedToolCodec<PythonConfig, PythonResult> = {
      kind: "code_interpreter",
      serialize: () => ({ type: "code_interpreter", container: { type: "auto" } }),
      include: () => ["code_interpreter_call.outputs"],
      parseOutput(items) {
        const [call] = filterByType(items, "code_interpreter_call");
        if (!call) return null;
        const logs = readRecords(call, "outputs").map((output) => readString(output, "logs"));
        return { code: readString(call, "code"), stdout: logs.join("") };
      },
    };
    const tool = new HostedTool<PythonConfig, PythonResult>({
      kind: "code_interpreter",
      name: "code_interpreter",
      description: "Execute code in a sandboxed environment.",
      config: { allowedLanguages: ["python"], timeoutSeconds: 30 },
    });
    const code = "print(sum([4, 5]) / 2)";
    const { response } = await runExample(reach, createPrompt(tool), {
      script: [[{ code }], [{ say: "4.5 mm." }]],
      adapter: { hostedToolCodecs: [codec] },
    });
    expect(response.hostedOutputs.get(tool)).toEqual({ code, stdout: "4.5\n" });
  });

  test("Adapter Integration > Codec Registry: a codec for a built-in kind replaces the default one", async () => {
    expect(defaultCodecs.map(({ kind }) => kind)).toContain("web_search");
    const preview: HostedToolCodec<WebSearchConfig, string> = {
      kind: "web_search",
      serialize: () => ({ type: "web_search_preview" }),
      parseOutput: (items) => (items.length > 1 ? "it searched" : null),
    };
    const { bodies, response } = await runExample(reach, createPrompt(webSearchTool()), {
      script: [[{ search: { web: "rain" } }], [{ say: "No." }]],
      provider: { web: createFolder({ "rain.html": "<title>Rain</title><p>No rain.</p>" }) },
      adapter: { hostedToolCodecs: [preview] },
    });
    expect(bodies[0]?.["tools"]).toEqual([{ type: "web_search_preview" }]);
    expect(bodies[0]).not.toHaveProperty("include");
    expect(response.hostedOutputs.get("web_search")).toBe("it searched");
  });

  test("Error Handling > Parse Failures: null means that the tool was not used", async () => {
    const { response, bus } = await runCanned(reach, createPrompt(forecastTool()), {
      ...known,
      script: [[message("No.")]],
    });
    expect(response.hostedOutputs.has("forecast")).toBe(false);
    expect(response.hostedCalls).toEqual([]);
    expect(bus.of("ToolInvoked")).toEqual([]);
  });

  test("Error Handling > Parse Failures: an error thrown by a codec is reported in phase parse", async () => {
    const { degrees: __, ...torn } = call;
    const { error, bodies } = await runCannedFailure(reach, createPrompt(forecastTool()), {
      ...known,
      script: [[torn, message("No.")]],
    });
    if (!(error instanceof PromptEvaluationError)) throw error;
    expect(error).toMatchObject({ phase: "parse", promptName: "sky:rain" });
    expect(error.message).toContain('The codec for "forecast" could not read the response');
    expect(error.cause).toBeInstanceOf(TypeError);
    expect(bodies).toHaveLength(1);
  });
});
