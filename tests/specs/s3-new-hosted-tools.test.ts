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
import { itemsOfType, recordsAt, textAt } from "../../src/base/reading.ts";
import { folderOf } from "../support/local/stage.ts";
import { clients } from "../support/openai-clients.ts";
import { cannedFailure, cannedRun } from "../support/specs/canned-run.ts";
import { run } from "../support/specs/example-run.ts";
import { message } from "../support/wire-server.ts";

// Where Python runs in WebAssembly, every container takes seconds to start.
vi.setConfig({ testTimeout: 60_000 });

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
  /** Step 5: the codec is registered. Nobody has such a tool, so that only a prepared answer can have used it. */
  const known = {
    adapter: { hostedToolCodecs: [new OpenAIForecastCodec()] },
    server: { invalid: "allowed" },
  } as const;

  test("Adding New Hosted Tools > Steps 1 to 5: a kind that nobody knew is sent, parsed, typed and told of", async () => {
    const tool = forecastTool({ days: 2 });
    const { response, bodies, bus } = await cannedRun(reach, promptWith(tool), {
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
    const { bodies } = await cannedRun(reach, promptWith(webSearchTool(), forecastTool()), {
      ...known,
      script: [[message("No.")]],
    });
    expect(bodies[0]?.["tools"]).toEqual([
      { type: "web_search" },
      { type: "forecast", units: "metric", max_days: 1 },
    ]);
  });

  test("Adding New Hosted Tools > Steps 1 to 5: the specification's own, a code interpreter, really runs", async () => {
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
        const [call] = itemsOfType(items, "code_interpreter_call");
        if (!call) return null;
        const logs = recordsAt(call, "outputs").map((output) => textAt(output, "logs"));
        return { code: textAt(call, "code"), stdout: logs.join("") };
      },
    };
    const tool = new HostedTool<PythonConfig, PythonResult>({
      kind: "code_interpreter",
      name: "code_interpreter",
      description: "Execute code in a sandboxed environment.",
      config: { allowedLanguages: ["python"], timeoutSeconds: 30 },
    });
    const code = "print(sum([4, 5]) / 2)";
    const { response } = await run(reach, promptWith(tool), {
      script: [[{ code }], [{ say: "4.5 mm." }]],
      adapter: { hostedToolCodecs: [codec] },
    });
    expect(response.hostedOutputs.get(tool)).toEqual({ code, stdout: "4.5\n" });
  });

  test("Adapter Integration > Codec Registry: a codec of a known kind stands in for the default one", async () => {
    expect(defaultCodecs.map(({ kind }) => kind)).toContain("web_search");
    const preview: HostedToolCodec<WebSearchConfig, string> = {
      kind: "web_search",
      serialize: () => ({ type: "web_search_preview" }),
      parseOutput: (items) => (items.length > 1 ? "it searched" : null),
    };
    const { bodies, response } = await run(reach, promptWith(webSearchTool()), {
      script: [[{ search: { web: "rain" } }], [{ say: "No." }]],
      provider: { web: folderOf({ "rain.html": "<title>Rain</title><p>No rain.</p>" }) },
      adapter: { hostedToolCodecs: [preview] },
    });
    expect(bodies[0]?.["tools"]).toEqual([{ type: "web_search_preview" }]);
    expect(bodies[0]).not.toHaveProperty("include");
    expect(response.hostedOutputs.get("web_search")).toBe("it searched");
  });

  test("Error Handling > Parse Failures: null is a tool that was not used", async () => {
    const { response, bus } = await cannedRun(reach, promptWith(forecastTool()), {
      ...known,
      script: [[message("No.")]],
    });
    expect(response.hostedOutputs.has("forecast")).toBe(false);
    expect(response.hostedCalls).toEqual([]);
    expect(bus.of("ToolInvoked")).toEqual([]);
  });

  test("Error Handling > Parse Failures: what a codec throws is an error in phase parse", async () => {
    const { degrees: __, ...torn } = call;
    const { error, bodies } = await cannedFailure(reach, promptWith(forecastTool()), {
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
