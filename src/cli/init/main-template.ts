/** The file `main.mts` of a new project: the program that runs the agent. */
export const mainTemplate = `/** Runs the agent once and stores its session: node main.mts rye */
import { Budget, Deadline, PromptEvaluationError, Session } from "weakincentives";
import { OpenAIAdapter } from "weakincentives/openai";
import { JsonlSessionStore } from "weakincentives/stores";
import baker from "./agent.mts";

const [kind = "rye"] = process.argv.slice(2);
const adapter = new OpenAIAdapter({ model: "gpt-5.2" });
const store = new JsonlSessionStore("sessions");
const session = new Session({ store });
try {
  const { output, costUsd = 0 } = await adapter.evaluate(baker.bind({ kind }), {
    session,
    deadline: Deadline.after(5 * 60_000),
    budget: new Budget({ maxTotalTokens: 50_000, maxUsd: 0.5 }),
  });
  console.log(\`Bake \${output.loaves} loaves of \${kind}: \${output.reason}\`);
  console.log(\`It cost $\${costUsd.toFixed(4)}.\`);
} catch (error) {
  if (!(error instanceof PromptEvaluationError)) throw error;
  console.error(\`\${error.name}: \${error.message}\`);
  process.exitCode = 1;
} finally {
  console.log(\`Every step: npx wink sessions show \${session.id} --store sessions\`);
  await session.close();
  await store.close();
}
`;
