/** Your own provider: implement `ModelClient`, and `evaluate` and `streamEvaluation` do the rest. */
import {
  evaluate,
  MarkdownSection,
  type ModelClient,
  Prompt,
  PromptTemplate,
  type ProviderAdapter,
  streamEvaluation,
  type Turn,
} from "weakincentives";

/** Answers with the last line of the prompt, in capitals. A real client sends a request here. */
function createShoutingClient(): ModelClient {
  return {
    adapterName: "shouting",
    async send({ rendered, turn, observer }): Promise<Turn> {
      const lastLine = rendered.text.split("\n").at(-1) ?? "";
      // Parts that a client reports are streamed as they arrive. Without them, a turn arrives whole.
      if (observer?.wantsParts) {
        for (const word of lastLine.toUpperCase().match(/\S+\s*/g) ?? []) {
          observer.onPart({ type: "text", turn, delta: word });
          await observer.backlog; // waits for readers that are far behind
        }
      }
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

const shouting: Required<ProviderAdapter> = {
  name: "shouting",
  evaluate: (prompt, options) =>
    evaluate(prompt, createShoutingClient(), { ...options, adapter: shouting }),
  stream: (prompt, options) =>
    streamEvaluation(prompt, options, (given) => shouting.evaluate(prompt, given)),
};

const task = new MarkdownSection({ key: "task", title: "Task", template: "Mind the gap." });
const template = new PromptTemplate({ ns: "station", key: "announce", sections: [task] });
const prompt = new Prompt(template);
const { text } = await shouting.evaluate(prompt);
console.log(text);
// prints: MIND THE GAP.

const words: string[] = [];
for await (const delta of shouting.stream(prompt).text()) words.push(delta);
console.log(words.join("| "));
// prints: MIND | THE | GAP.
