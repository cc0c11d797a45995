// This library as users import it: the built package, through its entry points. A new Session for each run.
//
// Settings: store:false, as for the others. Without `delivery`, responses are streamed, which is the default; without a
// reader no delta is parsed. It always sends the whole conversation, so it does not take part in `long400prev`.
import { codeInterpreterTool, definePrompt, fileSearchTool, Session, Tool, ToolResult, webSearchTool } from 'weakincentives';
import { OpenAIAdapter } from 'weakincentives/openai';
import { z } from 'zod';

export function create({ baseURL, apiKey, add, texts, delivery }) {
  const addTool = new Tool({
    name: texts.TOOL_NAME, description: texts.TOOL_DESCRIPTION,
    params: z.object({ a: z.number(), b: z.number() }),
    handler: (params) => ToolResult.ok(null, add(params)),
  });
  const parts = {
    none: {},
    add: { tools: [addTool] },
    hosted: { hostedTools: [webSearchTool(), codeInterpreterTool(), fileSearchTool({ vectorStoreIds: ['vs_1'] })] },
  };
  const runs = new Map();
  const runFor = (scenario) => {
    let run = runs.get(scenario.name);
    if (!run) {
      const prompt = definePrompt({ name: 'bench:run', instructions: texts.INSTRUCTIONS, ...parts[scenario.tools] });
      const clientConfig = { apiKey, baseURL: baseURL(scenario) };
      const adapter = new OpenAIAdapter({ model: texts.MODEL, modelConfig: { store: false }, clientConfig, delivery });
      runs.set(scenario.name, run = { adapter, prompt });
    }
    return run;
  };

  return {
    async run(scenario) {
      const { adapter, prompt } = runFor(scenario);
      const options = { session: new Session(), input: texts.PROMPT, maxTurns: scenario.steps + 1 };
      if (scenario.stream) {
        let text = '', deltas = 0;
        for await (const delta of adapter.stream(prompt, options).text()) { text += delta; deltas++; }
        return { text, deltas };
      }
      const { text, citations } = await adapter.evaluate(prompt, options);
      return { text, citations: citations.length };
    },
  };
}
