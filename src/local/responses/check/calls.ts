import {
  anyObject,
  anything,
  byType,
  idOf,
  integer,
  list,
  map,
  maybe,
  object,
  oneOf,
  text,
} from "../../validators/shapes.ts";
import { callEnvironment } from "./containers.ts";
import { callOutput, longText, searchResult } from "./content.ts";

const type = anything; // it chose the shape
const id = maybe(text());
const status = maybe(oneOf("in_progress", "completed", "incomplete"));
const caller = maybe(
  byType({ direct: object({ type }), program: object({ type, caller_id: text() }) }),
);

/** What names a call and ties its output to it. */
export const callId = text({ min: 1, max: 64 });

/** Of what is read back from the API: nobody needs to send it. */
const created_by = maybe(text());

const toolText = { type, call_id: callId };
const aside = { id, caller, status, created_by };

/** Calls of the client's functions, and what it answers. */
export const functionItems = {
  function_call: object(
    { ...toolText, name: text({ min: 1 }), arguments: longText },
    { ...aside, id: maybe(idOf("fc")), namespace: maybe(text()) },
  ),
  function_call_output: object(
    { ...toolText, output: callOutput },
    { ...aside, name: maybe(text()), namespace: maybe(text()) },
  ),
  custom_tool_call: object(
    { ...toolText, name: text({ min: 1 }), input: longText },
    { ...aside, id: maybe(idOf("ctc")), namespace: maybe(text()) },
  ),
  custom_tool_call_output: object({ ...toolText, output: callOutput }, aside),
};

const sources = maybe(
  list(byType({ url: object({ type, url: text() }), api: object({ type, name: text() }) })),
);

/** Calls that OpenAI runs. */
export const hostedItems = {
  web_search_call: object(
    {
      type,
      id: idOf("ws"),
      status: oneOf("in_progress", "searching", "completed", "failed", "incomplete"),
    },
    {
      action: byType({
        search: object({ type }, { query: maybe(text()), queries: maybe(list(text())), sources }),
        open_page: object({ type }, { url: maybe(text()) }),
        find_in_page: object({ type, pattern: text() }, { url: maybe(text()) }),
      }),
      results: maybe(list(anyObject)),
      created_by,
    },
  ),
  file_search_call: object(
    {
      type,
      id: text({ min: 1 }),
      status: oneOf("in_progress", "searching", "completed", "incomplete", "failed"),
      queries: list(text()),
    },
    { results: maybe(list(searchResult)), created_by },
  ),
  code_interpreter_call: object(
    {
      type,
      id: text({ min: 1 }),
      container_id: text({ min: 1 }),
      code: maybe(longText),
    },
    {
      status: oneOf("in_progress", "completed", "incomplete", "interpreting", "failed"),
      outputs: maybe(
        list(
          byType({
            logs: object({ type, logs: longText }),
            image: object({ type, url: text() }),
          }),
        ),
      ),
      created_by,
    },
  ),
  image_generation_call: object(
    { type, id: text({ min: 1 }) },
    {
      status: oneOf("in_progress", "completed", "generating", "failed"),
      result: maybe(text()),
      action: maybe(text()),
      background: maybe(text()),
      error: maybe(anyObject),
      output_format: maybe(text()),
      quality: maybe(text()),
      revised_prompt: maybe(text()),
      size: maybe(text()),
      svg_usage: anyObject,
    },
  ),
};

const outcome = byType({ exit: object({ type, exit_code: integer() }), timeout: object({ type }) });

const patched = { type, path: text({ min: 1 }) };
const diffed = object({ ...patched, diff: longText });

/** Calls of OpenAI's own tools that whoever asks may have to run, and what it answers. */
export const clientItems = {
  shell_call: object(
    {
      ...toolText,
      action: object(
        { commands: list(text()) },
        { timeout_ms: maybe(integer()), max_output_length: maybe(integer()) },
      ),
    },
    { ...aside, environment: maybe(callEnvironment) },
  ),
  shell_call_output: object(
    {
      ...toolText,
      output: list(object({ stdout: longText, stderr: longText, outcome }, { created_by })),
    },
    { ...aside, max_output_length: maybe(integer()) },
  ),
  apply_patch_call: object(
    {
      ...toolText,
      status: oneOf("in_progress", "completed"),
      operation: byType({ create_file: diffed, update_file: diffed, delete_file: object(patched) }),
    },
    { id, caller, created_by },
  ),
  apply_patch_call_output: object(
    { ...toolText, status: oneOf("completed", "failed") },
    { id, caller, output: maybe(longText), created_by },
  ),
  local_shell_call: object(
    {
      ...toolText,
      id: text(),
      action: object(
        { type: oneOf("exec"), command: list(text()), env: map(text()) },
        { timeout_ms: maybe(integer()), working_directory: maybe(text()), user: maybe(text()) },
      ),
    },
    { status },
  ),
  local_shell_call_output: object({ type, output: longText }, { id, call_id: callId, status }),
  computer_call: object(
    { ...toolText, id: text() },
    {
      action: anyObject,
      actions: list(anyObject),
      pending_safety_checks: maybe(list(anyObject)),
      status,
    },
  ),
  computer_call_output: object(
    { ...toolText, output: anyObject },
    { id, acknowledged_safety_checks: maybe(list(anyObject)), status },
  ),
};
