import { describe, test } from "vitest";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";
import { crashCases } from "../support/crash/crash-cases.ts";
import { expectCrashCase } from "../support/crash/expect-crash-case.ts";
import { expectParkedCase, parkedCases } from "../support/crash/expect-parked-case.ts";

describe.skipIf(sdkMissing)(
  "a run on the real SDK that is killed is resumed with the same answer",
  {
    timeout: 4 * SDK_TIMEOUT, // each test starts several SDK processes
  },
  () => {
    for (const one of crashCases) {
      test(one.name, () => expectCrashCase(one, { adapter: "claude", store: "jsonl" }));
    }
    for (const one of parkedCases) {
      test(one.name, () => expectParkedCase(one, { adapter: "claude", store: "jsonl" }));
    }
  },
);
