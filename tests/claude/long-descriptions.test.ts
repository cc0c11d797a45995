import { describe, expect, test } from "vitest";
import { Tool, ToolResult } from "weakincentives";
import { readRecords, readString } from "../../src/base/json.ts";
import { createPrompt, createServerFixture } from "../support/claude/claude-fixture.ts";
import { textBlock } from "../support/claude/messages-server.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";

describe.skipIf(sdkMissing)("A tool on the real SDK", () => {
  test(
    "is offered with a whole description of 4,096 characters, in any language and on several lines",
    async () => {
      const start = "Zählt Kräuter 🌱.\n\nRegeln:\n";
      const description = `${start.padEnd(4089, "- eine Zeile\n")}THE END`;
      expect(description).toHaveLength(4096);
      const tool = new Tool({
        name: "zaehleKraeuter",
        description,
        params: null,
        handler: () => ToolResult.ok(null),
      });
      const fixture = await createServerFixture([{ content: [textBlock("Done.")] }]);
      await fixture.run(createPrompt({ tools: [tool] }));
      const tools = readRecords(fixture.requests[0]?.body ?? {}, "tools");
      const offered = tools.find((one) => readString(one, "name") === "mcp__wink__zaehleKraeuter");
      expect(readString(offered ?? {}, "description")).toBe(description);
    },
    SDK_TIMEOUT,
  );
});
