// The clients to compare, in the order they are reported. A new SDK joins by adding a folder with a
// package.json and a client.mjs that exports `create({ baseURL, apiKey, add, texts }) -> { run(scenario) }`,
// and a line here. `skip` names the scenarios a client cannot do, and why.
import path from 'node:path';
import { ROOT } from './procs.mjs';

const at = (name, extra = {}) => ({ name, dir: path.join(ROOT, 'clients', name), ...extra });

export const CLIENTS = [
  at('weakincentives', { skip: { long400prev: 'the whole conversation is sent' } }),
  at('raw-http'),
  at('raw-fetch'),
  at('raw-openai'),
  at('ai-sdk'),
  at('openai-agents'),
  at('langchain'),
  at('mastra', { skip: { long400prev: 'no chaining' } }),
];
