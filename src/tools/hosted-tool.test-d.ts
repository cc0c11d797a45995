import { expectTypeOf, test } from "vitest";
import { HostedTool } from "./hosted-tool.ts";
import { ToolResult } from "./tool-result.ts";

const about = { kind: "weather", name: "weather", description: "Tells the weather." };

interface Weather {
  readonly degrees: number;
}

test("the hook says what the tool puts out", () => {
  const tool = new HostedTool({
    ...about,
    config: { unit: "celsius" },
    handleProviderOutput: (output: Weather) => ToolResult.ok(output),
  });
  expectTypeOf(tool).toEqualTypeOf<HostedTool<{ unit: string }, Weather>>();
});

test("so does a factory's return type", () => {
  const weatherTool = (): HostedTool<{ unit: string }, Weather> =>
    new HostedTool({ ...about, config: { unit: "celsius" } });
  expectTypeOf(weatherTool()["~output"]).toEqualTypeOf<Weather>();
});

test("every hosted tool is a HostedTool, and its config cannot be changed", () => {
  const tool = new HostedTool({ ...about, config: { unit: "celsius" } });
  expectTypeOf([tool]).toExtend<readonly HostedTool[]>();
  // @ts-expect-error Cannot assign to 'config' because it is a read-only property
  tool.config = { unit: "kelvin" };
});
