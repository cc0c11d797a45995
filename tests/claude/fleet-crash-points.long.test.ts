import { describe, test } from "vitest";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";
import { parkedCases } from "../support/crash/expect-parked-case.ts";
import {
  expectFleetCrashCase,
  expectParkedFleetCase,
  fleetCrashCases,
} from "../support/fleet/crash/expect-fleet-crash-case.ts";

const needsPostgres = process.env["WINK_POSTGRES"] === undefined;

describe.skipIf(sdkMissing ?? needsPostgres)(
  "a fleet's worker on the real SDK that is killed is replaced without a loss",
  { timeout: 4 * SDK_TIMEOUT }, // each test starts several SDK processes
  () => {
    for (const one of fleetCrashCases) {
      test(one.name, () => expectFleetCrashCase(one, { adapter: "claude" }));
    }
    for (const one of parkedCases) {
      test(one.name, () => expectParkedFleetCase(one, { adapter: "claude" }));
    }
  },
);
