import { vi } from "vitest";
import { demo } from "../../src/cli/demo/demo.ts";

/** Runs the demo in this process and returns its output. The test must restore its mocks. */
export async function captureDemo(options: Parameters<typeof demo>[0]): Promise<string> {
  const lines: string[] = [];
  vi.spyOn(console, "log").mockImplementation((line: string) => {
    lines.push(line);
  });
  await demo(options);
  return lines.join("\n");
}
