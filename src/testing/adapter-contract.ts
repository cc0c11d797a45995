import { answerCases } from "./contract/answers.ts";
import { compactionCases } from "./contract/compaction.ts";
import { hostedCases } from "./contract/hosted.ts";
import { limitCases } from "./contract/limits.ts";
import type { ContractCase, MakeSubject } from "./contract/subject.ts";
import { toolCases } from "./contract/tools.ts";
import type { MakeWorkspace } from "./contract/workspace-case.ts";
import { workspaceCases } from "./contract/workspaces.ts";
import { fakeClock } from "./fake-clock.ts";

/** One thing every adapter must do, ready for any test runner: `test(name, run)`. */
export interface ContractTest {
  /** A sentence that holds when `run` resolves. */
  readonly name: string;
  run(): Promise<void>;
}

/** What an adapter has that not every adapter has: it brings cases of its own. */
export interface AdapterContractOptions {
  /** Makes its workspace section; the model then runs the `code` of a turn. @default it has none */
  readonly workspace?: MakeWorkspace | undefined;
  /** It makes conversations shorter that are over `compactsOver`. @default false */
  readonly compacts?: boolean | undefined;
}

/**
 * What every adapter must do, as tests of the adapter that `make` makes.
 *
 * @example
 * for (const { name, run } of adapterContract(makeMyAdapter)) test(name, run);
 * @example
 * const workspace = (options) => new MyWorkspaceSection(options);
 * for (const { name, run } of adapterContract(makeMyAdapter, { workspace })) test(name, run);
 */
export function adapterContract(
  make: MakeSubject,
  { workspace, compacts = false }: AdapterContractOptions = {},
): readonly ContractTest[] {
  const cases = [
    ...[...answerCases, ...toolCases, ...hostedCases, ...limitCases],
    ...(workspace ? workspaceCases(workspace) : []),
    ...(compacts ? compactionCases : []),
  ];
  return cases.map((one) => ({ name: one.name, run: () => held(one, make) }));
}

async function held({ script, compactsOver, check }: ContractCase, make: MakeSubject) {
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
