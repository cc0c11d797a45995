/** Runs the first agent on the Claude Agent SDK: only the adapter differs. */
// run: wink run
// needs: @anthropic-ai/claude-agent-sdk
import { definePrompt } from "weakincentives";
import { ClaudeAgentSDKAdapter } from "weakincentives/claude";

const baker = definePrompt({ name: "baker", instructions: "Plan tonight's baking. Be brief." });
const adapter = new ClaudeAgentSDKAdapter({ model: "claude-sonnet-5" });
const { text } = await adapter.evaluate(baker, { input: "3 of 15 loaves of rye bread are left." });
console.log(text);
// prints: You said: 3 of 15 loaves of rye bread are left.
