import type {
  ApprovalDecision,
  ApprovalRequest,
} from "../../adapter/approvals/approval-request.ts";
import { EvaluationParkedError } from "../../adapter/approvals/evaluation-parked-error.ts";
import { Session } from "../../session/session.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import { createContractStore } from "./contract-store.ts";
import { expectContains, expectRejection, expectSame } from "./expect.ts";
import { createPrompt, noteTool, wordTool } from "./prompts.ts";
import type { ContractCase, ContractSubject, ContractTurn } from "./subject.ts";

const script: readonly ContractTurn[] = [
  {
    toolCalls: [
      { name: "deploy", arguments: { word: "barn" } },
      { name: "note", arguments: { word: "meanwhile" } },
    ],
  },
  { text: "Done." },
];

/** Cases about calls that need approval and are decided at once. */
export const approvalCases: readonly ContractCase[] = [
  {
    name: "runs a call that needs approval after approve has approved it",
    script,
    async check(subject) {
      const { requests, deployed } = await decide(subject, "approve");
      const asked = requests.map(({ name, params, promptName }) => ({ name, params, promptName }));
      const expected = { name: "deploy", params: { word: "barn" }, promptName: "contract:text" };
      expectSame(asked, [expected], "the request");
      expectSame(deployed, ["barn"], "the calls that ran");
      expectContains(subject.asked().at(-1), "deployed barn", "the last request");
    },
  },
  {
    name: "does not run a denied call, tells the model, and runs the other calls of the turn",
    script,
    async check(subject) {
      const { deployed } = await decide(subject, "deny");
      expectSame(deployed, [], "the calls that ran");
      expectContains(subject.asked().at(-1), DENIED, "the last request");
      expectContains(subject.asked().at(-1), "noted meanwhile", "the last request");
    },
  },
  {
    name: "denies a call that needs approval if the evaluation has no approve",
    script,
    async check({ adapter, asked }) {
      const { prompt, deployed } = createDeployment();
      const { text } = await adapter.evaluate(prompt);
      expectSame([text, deployed], ["Done.", []], "the answer and the calls that ran");
      expectContains(asked().at(-1), "there is no one to give it", "the last request");
    },
  },
];

/** Cases about calls that are parked, on a stored session. */
export const parkingCases: readonly ContractCase[] = [
  {
    name: "parks a call, and runs it once after the evaluation is resumed with its approval",
    script,
    async check(subject) {
      expectSame(await parkAndResume(subject, "approve"), ["barn"], "the calls that ran");
      expectContains(subject.asked().at(-1), "deployed barn", "the last request");
    },
  },
  {
    name: "parks a call, and tells the model if the evaluation is resumed with a denial",
    script,
    async check(subject) {
      expectSame(await parkAndResume(subject, "deny"), [], "the calls that ran");
      expectContains(subject.asked().at(-1), DENIED, "the last request");
    },
  },
];

const DENIED = "The call was not made: it was denied.";

/** Evaluates with an approver that always gives this decision. */
async function decide({ adapter }: ContractSubject, decision: ApprovalDecision) {
  const { prompt, deployed } = createDeployment();
  const requests: ApprovalRequest[] = [];
  const approve = async (request: ApprovalRequest) => {
    expectSame(deployed, [], "the calls that ran before the decision");
    requests.push(request);
    return decision;
  };
  const { text } = await adapter.evaluate(prompt, { approve });
  expectSame(text, "Done.", "the answer");
  return { requests, deployed };
}

/** Parks the call, and resumes on the stored session with this decision. Returns the calls that ran. */
async function parkAndResume(
  { adapter, asked }: ContractSubject,
  decision: "approve" | "deny",
): Promise<readonly string[]> {
  const store = createContractStore();
  const { prompt, deployed } = createDeployment();
  const session = await Session.openOrCreate(store, "contract");
  const approve = async () => "park" as const;
  const evaluating = adapter.evaluate(prompt, { session, approve });
  const { approvals: waiting } = await expectRejection(evaluating, EvaluationParkedError);
  expectSame(
    waiting.map(({ name, params }) => ({ name, params })),
    [{ name: "deploy", params: { word: "barn" } }],
    "the parked calls",
  );
  expectSame([asked().length, deployed], [1, []], "requests and calls before the decision");
  const approvals = Object.fromEntries(waiting.map(({ key }) => [key, decision]));
  const again = await Session.openOrCreate(store, "contract");
  const { text } = await adapter.evaluate(prompt, { session: again, resume: true, approvals });
  expectSame(text, "Done.", "the answer");
  expectContains(asked().at(-1), "noted meanwhile", "the last request");
  return deployed;
}

/** Creates a prompt whose tool `deploy` needs approval, and `note` does not. */
function createDeployment() {
  const deployed: string[] = [];
  const deploy = wordTool(
    "deploy",
    ({ word }) => {
      deployed.push(word);
      return ToolResult.ok(`deployed ${word}`);
    },
    { needsApproval: true },
  );
  return { prompt: createPrompt([deploy, noteTool]), deployed };
}
