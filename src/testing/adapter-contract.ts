import { answerCases } from "./contract/answers.ts";
import { hostedCases } from "./contract/hosted.ts";
import { limitCases } from "./contract/limits.ts";
import type { MakeSubject } from "./contract/subject.ts";
import { toolCases } from "./contract/tools.ts";
import { fakeClock } from "./fake-clock.ts";

/** One thing every adapter must do, ready for any test runner: `test(name, run)`. */
export interface ContractTest {
  /** A sentence that holds when `run` resolves. */
  readonly name: string;
  run(): Promise<void>;
}

/**
 * What every adapter must do, as tests of the adapter that `make` makes.
 *
 * @example
 * for (const { name, run } of adapterContract(makeMyAdapter)) test(name, run);
 */
export function adapterContract(make: MakeSubject): readonly ContractTest[] {
  const cases = [...answerCases, ...toolCases, ...hostedCases, ...limitCases];
  return cases.map(({ name, script, check }) => ({
    name,
    async run() {
      const clock = fakeClock({ skipsSleep: true });
      const subject = await make(script, { clock });
      try {
        await check({ adapter: subject.adapter, asked: () => subject.asked(), clock });
      } finally {
        await subject.close?.();
      }
    },
  }));
}
