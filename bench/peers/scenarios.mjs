// What every client is asked to do. Shared by the stub server, which scripts the answers, and by the processes that run a client.
//
// steps:    model requests of one run         calls: tool calls of one run
// history:  'resend'   = store:false, every request has the whole input
//           'previous' = previous_response_id, a request has only the new items
// stream:   the client reads the deltas       longText: the answer is the text of 400 deltas
export const MODEL = 'gpt-4.1';
export const INSTRUCTIONS = 'You are a careful calculator. Use the add tool when asked to add.';
export const PROMPT = 'Add the numbers one after another and tell me when you are done.';
export const TOOL_NAME = 'add';
export const TOOL_DESCRIPTION = 'Add two numbers and return their sum.';

export const STREAM_DELTAS = 400;
export const CITATIONS = 20;

const loop = (steps, history) => ({ steps, calls: steps - 1, history, tools: 'add' });

export const SCENARIOS = {
  text: { steps: 1, calls: 0, history: 'resend', tools: 'none', about: 'single turn, plain text' },
  loop50: { ...loop(50, 'resend'), about: '50-step tool loop' },
  parallel: { steps: 11, calls: 80, history: 'resend', tools: 'add', about: '8 parallel calls x 10' },
  hosted: { steps: 1, calls: 0, history: 'resend', tools: 'hosted', about: 'hosted tool items + 20 citations' },
  stream: { steps: 1, calls: 0, history: 'resend', tools: 'none', stream: true, about: `streamed text, ${STREAM_DELTAS} deltas` },
  long400: { ...loop(400, 'resend'), about: '400-step loop, whole input resent' },
  long400prev: { ...loop(400, 'previous'), about: '400-step loop, previous_response_id' },
  unread: { steps: 1, calls: 0, history: 'resend', tools: 'none', longText: true, about: `the text of ${STREAM_DELTAS} deltas, which nothing reads one by one` },
};
for (const [name, s] of Object.entries(SCENARIOS)) s.name = name;

const words = 'the sum of these numbers was computed step by step and every intermediate result was checked '.repeat(5).trim();
export const FINAL_TEXT = `Done. ${words}.`;
export const STREAM_TEXT = Array.from({ length: STREAM_DELTAS }, (_, i) => `tok${i % 10} `).join('');

export function expectedText(scenario) {
  return scenario.stream || scenario.longText ? STREAM_TEXT : FINAL_TEXT;
}
