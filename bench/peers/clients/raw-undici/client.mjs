import { z } from 'zod';
import { request, Agent } from 'undici';
export function create({ baseURL, apiKey, add, texts }) {
  const agent = new Agent({ allowH2: false });
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` };
  let freed = Promise.resolve();
  return { async run(scenario) {
    const url = `${baseURL(scenario)}/responses`;
    const body = JSON.stringify({ model: texts.MODEL, instructions: texts.INSTRUCTIONS, store: false, stream: true, input: [{ role: 'user', content: texts.PROMPT }] });
    await freed;
    const r = await request(url, { method: 'POST', headers, body, dispatcher: agent });
    const chunks = [];
    await new Promise((res, rej) => { r.body.on('data', c => chunks.push(c)); r.body.on('end', res); r.body.on('error', rej); });
    freed = new Promise(r => setImmediate(r));
    const text = Buffer.concat(chunks).toString();
    const at = text.lastIndexOf('data: ');
    const response = JSON.parse(text.slice(at + 6)).response;
    return { text: response.output[0].content[0].text };
  } };
}
