import type { ContractTest } from "./adapter-contract.ts";
import { changingCases } from "./filesystem/changing.ts";
import type { MakeFilesystem } from "./filesystem/filesystem-case.ts";
import { pathCases } from "./filesystem/paths.ts";
import { readingCases } from "./filesystem/reading.ts";
import { searchingCases } from "./filesystem/searching.ts";
import { snapshotCases } from "./filesystem/snapshots.ts";

/**
 * Returns tests of the requirements for file systems. `make` creates an empty, writable file
 * system for each test.
 *
 * @example
 * ```ts
 * import { test } from "vitest";
 * import { InMemoryFilesystem } from "weakincentives/files";
 * import { filesystemContract } from "weakincentives/testing";
 *
 * const createSubject = () => ({ filesystem: new InMemoryFilesystem() });
 * for (const { name, run } of filesystemContract(createSubject)) test(name, run);
 * ```
 */
export function filesystemContract(make: MakeFilesystem): readonly ContractTest[] {
  const cases = [
    ...pathCases,
    ...readingCases,
    ...changingCases,
    ...searchingCases,
    ...snapshotCases,
  ];
  return cases.map(({ name, check }) => ({
    name,
    async run() {
      const subject = await make();
      try {
        await check(subject.filesystem);
      } finally {
        await subject.close?.();
      }
    },
  }));
}
