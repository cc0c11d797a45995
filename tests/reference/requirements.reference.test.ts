import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseRequirements } from "../support/requirements-table.ts";

const { WINK_SHARED: shared = "" } = process.env;

test.skipIf(shared === "")(
  "every requirement has the number and level of the reference list",
  () => {
    const reference = readFileSync(join(shared, "reference/requirements.md"), "utf8");
    const ours = readFileSync(new URL("../../docs/requirements.md", import.meta.url), "utf8");

    expect(parseRequirements(ours).map(({ number, level }) => `${number} ${level}`)).toEqual(
      [...reference.matchAll(/^(\d+)\. \[([^\]]+)\]/gm)].map(
        ([, number, level]) => `${number} ${level}`,
      ),
    );
  },
);
