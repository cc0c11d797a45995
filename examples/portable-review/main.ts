/** One code review on OpenAI and on Claude; answers, events and files are compared field by field. */
// `--on openai` or `--on claude` runs only one of them. With `--live`, the providers' APIs answer, and the
// results are printed, not compared: set OPENAI_API_KEY and ANTHROPIC_API_KEY.
// needs: @anthropic-ai/claude-agent-sdk
import { parseArgs } from "node:util";
import { differences } from "./differences.ts";
import { review, runtimes } from "./runtimes.ts";

/** Expected differences and their reasons. Any other difference is a bug. */
const meant: readonly (readonly [RegExp, string])[] = [
  [/^events\[\d+\]\.(adapter|origin\.provider)$/, "events name the runtime"],
  [
    /^events\[0\]\.(text|messages\[0\]\.text)$/,
    "the workspace tells the model where its files are",
  ],
  [/^events\[0\]\.hostedTools\[\d+\]/, "Claude also has file tools"],
  [/\.containerId$/, "Claude uses no container"],
  [/hostedCalls\[\d+\]\.(params|output|message)/, "on Claude code runs in Bash, untyped"],
  [/^hosted\[\d+\]\.(params|result|renderedOutput)/, "on Claude code runs in Bash, untyped"],
  [/^parts\.order/, "on Claude the code of a turn runs when the turn is complete"],
  [/^response\.hostedOutputs/, "on Claude code runs in Bash, untyped"],
];

const { values } = parseArgs({ options: { on: { type: "string" }, live: { type: "boolean" } } });
const on = runtimes.find((runtime) => runtime === values.on);
if (values.on !== undefined && !on) {
  console.error(`--on must be one of ${runtimes.join(", ")}, got ${values.on}`);
  process.exit(2);
}

if (on || values.live) {
  for (const runtime of on ? [on] : runtimes) {
    const { response, written } = await review(runtime);
    console.log(written.trim());
    console.log(JSON.stringify(response, null, 2));
  }
} else {
  const [one, other] = [await review("openai"), await review("claude")];
  console.log(one.written.trim());
  const kinds = one.events.map((event) => Object(event).type);
  console.log(`${kinds.length} events on each: ${kinds.join(" ")}`);
  const reasons = new Set<string>();
  for (const { path, one: left, other: right } of differences(one, other)) {
    const index = Number(/^events\[(\d+)\]/.exec(path)?.[1]);
    const isHosted = Object(one.events[index]).origin !== undefined;
    const where = isHosted ? path.replace(/^events/, "hosted") : path;
    const reason = meant.find(([pattern]) => pattern.test(path) || pattern.test(where))?.[1];
    if (reason) reasons.add(reason);
    else {
      console.log(`${path}: ${JSON.stringify(left)} and ${JSON.stringify(right)}`);
      process.exitCode = 1;
    }
  }
  for (const reason of [...reasons].sort()) console.log(`Expected difference: ${reason}.`);
}
// prints: openai: starts code_interpreter
// prints: openai: ends code_interpreter
// prints: openai: calls report_fault
// prints: openai: starts code_interpreter
// prints: openai: ends code_interpreter
// prints: openai: calls report_fault
// prints: openai: answers
// prints: claude: starts code_interpreter
// prints: claude: calls report_fault
// prints: claude: ends code_interpreter
// prints: claude: starts code_interpreter
// prints: claude: calls report_fault
// prints: claude: ends code_interpreter
// prints: claude: answers
// prints: - vents.py: opening() gives less than 0 percent
// prints: - vents.py: opening() gives more than 100 percent
// prints: 13 events on each: PromptRendered TurnStarted TurnCompleted ToolInvoked ToolInvoked TurnStarted TurnCompleted ToolInvoked ToolInvoked TurnStarted TurnCompleted PromptExecuted WorkspaceSynced
// prints: Expected difference: Claude also has file tools.
// prints: Expected difference: Claude uses no container.
// prints: Expected difference: events name the runtime.
// prints: Expected difference: on Claude code runs in Bash, untyped.
// prints: Expected difference: on Claude the code of a turn runs when the turn is complete.
// prints: Expected difference: the workspace tells the model where its files are.
