// This library: OpenAIAdapter on its own client, a new Session for each run.
//
// Settings: store:false, as for the others. It reads answers whole and always sends the whole conversation, so it
// has no part in the scenarios `stream` and `prev id`.
import {
  codeInterpreterTool, fileSearchTool, MarkdownSection, Prompt, PromptTemplate, Session, Tool, ToolResult, webSearchTool,
} from 'weakincentives';
import { OpenAIAdapter } from 'weakincentives/openai';
import { z } from 'zod';

export function create({ baseURL, apiKey, add, texts }) {
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
      const template = `${texts.INSTRUCTIONS}\n\n${texts.PROMPT}`;
      const section = new MarkdownSection({ key: 'task', title: 'Task', template, ...parts[scenario.tools] });
      const prompt = new Prompt(new PromptTemplate({ ns: 'bench', key: 'run', sections: [section] }));
      const adapter = new OpenAIAdapter({
        model: texts.MODEL, modelConfig: { store: false }, clientConfig: { apiKey, baseURL: baseURL(scenario) },
      });
      runs.set(scenario.name, run = { adapter, prompt });
    }
    return run;
  };

  return {
    async run(scenario) {
      const { adapter, prompt } = runFor(scenario);
      const { text, citations } = await adapter.evaluate(prompt, { session: new Session(), maxTurns: scenario.steps + 1 });
      return { text, citations: citations.length };
    },
  };
}
