// A new process that imports a client and answers one turn with it. Prints the CPU time of both, in milliseconds.
//
//   node startup.mjs '{ "name", "folder", "delivery"?, "origin" }'
import { pathToFileURL } from 'node:url';
import * as texts from './scenarios.mjs';

const { name, folder, delivery, origin } = JSON.parse(process.argv[2]);
const readCpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
const atStart = readCpu();
const { create } = await import(pathToFileURL(`${folder}/client.mjs`).href);
const importMs = readCpu() - atStart;
const client = await create({
  baseURL: (scenario) => `${origin}/${encodeURIComponent(name)}/${scenario.name}/v1`,
  apiKey: 'sk-stub', add: ({ a, b }) => String(a + b), texts, delivery,
});
const { text } = await client.run(texts.SCENARIOS.text);
if (text !== texts.FINAL_TEXT) throw new Error(`${name}: wrong text ${text}`);
process.stdout.write(JSON.stringify({ importMs, answerMs: readCpu() }), () => process.exit(0));
