/** Your own provider: implement `ModelClient` for one conversation and pass it to `evaluate`. */
import {
  evaluate,
  MarkdownSection,
  type ModelClient,
  Prompt,
  PromptTemplate,
  type ProviderAdapter,
  Session,
  type Turn,
} from "weakincentives";

/** Answers with the last line of the prompt, in capitals. */
function createShoutingClient(): ModelClient {
  return {
    adapterName: "shouting",
    async send({ rendered }): Promise<Turn> {
      const lastLine = rendered.text.split("\n").at(-1) ?? "";
      const [inputTokens, outputTokens] = [rendered.text.length, lastLine.length];
      return {
        text: lastLine.toUpperCase(),
        toolCalls: [],
        hostedCalls: [],
        citations: [],
        usage: {
          inputTokens,
          outputTokens,
          cachedTokens: 0,
          reasoningTokens: 0,
          totalTokens: inputTokens + outputTokens,
        },
        finishReason: "stop",
        responseId: null,
        requestId: null,
        model: "shout-1",
      };
    },
  };
}

const shouting: ProviderAdapter = {
  name: "shouting",
  evaluate: (prompt, options) =>
    evaluate(prompt, createShoutingClient(), { ...options, adapter: shouting }),
};

const task = new MarkdownSection({ key: "task", title: "Task", template: "Mind the gap." });
const template = new PromptTemplate({ ns: "station", key: "announce", sections: [task] });
const { text } = await shouting.evaluate(new Prompt(template), { session: new Session() });
console.log(text);
// prints: MIND THE GAP.
