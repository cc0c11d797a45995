import { checkKnownKeys, type KnownKeys } from "../base/errors.ts";
import { answerCases } from "./contract/answers.ts";
import { approvalCases, parkingCases } from "./contract/approvals.ts";
import { compactionCases } from "./contract/compaction.ts";
import { costCases } from "./contract/costs.ts";
import { hostedCases } from "./contract/hosted.ts";
import { limitCases } from "./contract/limits.ts";
import { messageCases } from "./contract/messages.ts";
import { preparingCases } from "./contract/preparing.ts";
import { resumingCases } from "./contract/resuming.ts";
import { streamingCases } from "./contract/streaming.ts";
import type { ContractCase, MakeSubject } from "./contract/subject.ts";
import { toolCases } from "./contract/tools.ts";
import type { MakeWorkspace } from "./contract/workspace-case.ts";
import { workspaceCases } from "./contract/workspace-cases.ts";
import { fakeClock } from "./fake-clock.ts";

/** One requirement of every adapter, as a test for any test runner: `test(name, run)`. */
export interface ContractTest {
  /** Title of the test. */
  readonly name: string;
  /** Resolves if the adapter meets the requirement; rejects otherwise. */
  run(): Promise<void>;
}

/** Optional features of an adapter. Each adds its own tests. */
export interface AdapterContractOptions {
  /**
   * Creates the adapter's workspace section. The model then runs the `code` of a turn. @default no
   * workspace
   */
  readonly workspace?: MakeWorkspace | undefined;
  /**
   * Whether the adapter compacts conversations that are longer than `compactsOver` tokens. @default
   * false
   */
  readonly compacts?: boolean | undefined;
  /** Whether the adapter can resume an evaluation on a stored session. @default false */
  readonly resumes?: boolean | undefined;
  /** Whether the adapter has `stream`. @default false */
  readonly streams?: boolean | undefined;
}

const contractKeys: KnownKeys<AdapterContractOptions> = {
  compacts: true,
  resumes: true,
  streams: true,
  workspace: true,
};

/**
 * Returns tests of the requirements for adapters. `make` creates the adapter under test.
 *
 * @example
 * ```ts
 * import { test } from "vitest";
 * import { adapterContract, type MakeSubject } from "weakincentives/testing";
 *
 * // Creates your adapter with a model that plays the script.
 * declare const createSubject: MakeSubject;
 * for (const { name, run } of adapterContract(createSubject)) test(name, run);
 * ```
 */
export function adapterContract(
  make: MakeSubject,
  options: AdapterContractOptions = {},
): readonly ContractTest[] {
  checkKnownKeys(options, "adapterContract(options)", contractKeys);
  const { workspace, compacts = false, resumes = false, streams = false } = options;
  const cases = [
    ...[...answerCases, ...toolCases, ...hostedCases, ...limitCases, ...messageCases],
    ...[...preparingCases, ...approvalCases, ...costCases],
    ...(resumes ? [...resumingCases, ...parkingCases] : []),
    ...(streams ? streamingCases : []),
    ...(workspace ? workspaceCases(workspace) : []),
    ...(compacts ? compactionCases : []),
  ];
  return cases.map((one) => ({ name: one.name, run: () => runCase(one, make) }));
}

async function runCase({ script, compactsOver, check }: ContractCase, make: MakeSubject) {
  const clock = fakeClock({ skipsSleep: true });
  const subject = await make(
    script,
    compactsOver === undefined ? { clock } : { clock, compactsOver },
  );
  try {
    await check({ adapter: subject.adapter, asked: () => subject.asked(), clock });
  } finally {
    await subject.close?.();
  }
}
