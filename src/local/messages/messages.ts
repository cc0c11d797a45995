import { readRecord } from "../../base/json.ts";
import type { ApiProblem } from "../api-problem.ts";
import { countJsonTokens } from "../count-tokens.ts";
import { SEALING_REMEDY, type Sealer } from "../turn/sealer.ts";
import type { TurnServices } from "../turn/turn.ts";
import { UsageMeter } from "../turn/usage-meter.ts";
import { joinPath } from "./check/anthropic-wording.ts";
import type { CheckedMessage } from "./check/checked-message.ts";
import type { Block } from "./check/content.ts";
import { createInvalidProblem } from "./check/invalid-problem.ts";
import { type CheckOptions, checkMessageRequest } from "./check/request.ts";
import { findForgedCompaction } from "./compaction.ts";
import { createMessage } from "./create-message.ts";
import { DeferredActions } from "./deferred-actions.ts";
import { countRequestTokens, type MessageParts } from "./message-object.ts";
import { BYTES_PER_TOKEN, type FinishedBlock, type MessageEnd } from "./message-state.ts";
import { createNextMessages, MessageThreads, type ThreadTurn } from "./message-threads.ts";

/** A validated request and the message that has started for it. */
export interface StartedMessage extends Omit<MessageParts, "blocks" | "stop"> {
  /** The turn of a thread, if the request has one. */
  readonly thread: ThreadTurn | null;
}

/** Creates messages like Anthropic's API. */
export class Messages {
  readonly #turns: TurnServices;
  readonly #isFile: (id: string) => boolean;
  readonly #deferredActions = new DeferredActions();
  readonly #threads = new MessageThreads();

  /** `isFile` tells whether a file with an id was uploaded. */
  constructor(turns: TurnServices, isFile: (id: string) => boolean) {
    this.#turns = turns;
    this.#isFile = isFile;
  }

  /** Validates a request. Throws the error that Anthropic would return, before anything runs. */
  start(body: unknown, options: CheckOptions = {}): StartedMessage {
    const { betas = [], isCounting = false } = options;
    const hasThread = !isCounting && betas.some(isThreadsBeta);
    const thread = hasThread ? this.#threads.begin(body) : null;
    try {
      const known = isCounting ? betas.filter((beta) => !isThreadsBeta(beta)) : betas;
      const request = checkMessageRequest(thread?.body ?? body, { isCounting, betas: known });
      this.#checkMessages(request.messages);
      const id = this.#turns.ids.next("msg_");
      const inputTokens = countRequestTokens(request);
      return { id, request, inputTokens, usage: new UsageMeter(), thread };
    } catch (error) {
      thread?.release();
      throw error;
    }
  }

  /** Creates the message block by block. */
  createBlocks(started: StartedMessage, signal: AbortSignal): Blocks {
    const { request, usage, thread } = started;
    const services = { ...this.#turns, deferredActions: this.#deferredActions };
    const blocks = createMessage(request, services, { signal, usage });
    return thread ? saveInThread(blocks, { ...started, thread }, signal) : blocks;
  }

  #checkMessages(messages: readonly CheckedMessage[]): void {
    const { sealer } = this.#turns;
    const problem =
      findForgedThinking(messages, sealer) ??
      findForgedCompaction(messages, sealer) ??
      findMissingFile(messages, this.#isFile);
    if (problem) throw problem;
  }
}

type Blocks = AsyncGenerator<FinishedBlock, MessageEnd, undefined>;

/** Stores the conversation in its thread once the message has ended. */
async function* saveInThread(
  blocks: Blocks,
  { id, inputTokens, thread }: StartedMessage & { readonly thread: ThreadTurn },
  signal: AbortSignal,
): Blocks {
  const content: Block[] = [];
  const release = () => thread.release();
  signal.addEventListener("abort", release, { once: true });
  try {
    for (;;) {
      const next = await blocks.next();
      if (next.done) {
        const bytes = (inputTokens + countJsonTokens(content)) * BYTES_PER_TOKEN;
        thread.save(id, createNextMessages(thread.body, content), bytes);
        return next.value;
      }
      content.push(next.value.block);
      yield next.value;
    }
  } finally {
    signal.removeEventListener("abort", release);
    release();
  }
}

function isThreadsBeta(beta: string): boolean {
  return beta.startsWith("message-threads-");
}

/** Returns the error for a thinking block that this server did not sign. */
function findForgedThinking(
  messages: readonly CheckedMessage[],
  sealer: Sealer,
): ApiProblem | null {
  for (const { content, place } of messages) {
    for (const [index, { type, signature }] of content.entries()) {
      if (type !== "thinking" || sealer.open(String(signature))) continue;
      const path = joinPath(joinPath(joinPath("messages", place), "content"), index);
      const problem = "Invalid `signature` in `thinking` block";
      return createInvalidProblem(path, `${problem}. ${SEALING_REMEDY}`);
    }
  }
  return null;
}

/** Returns the error for a block that refers to a file that was not uploaded. */
function findMissingFile(
  messages: readonly CheckedMessage[],
  isFile: (id: string) => boolean,
): ApiProblem | null {
  for (const { content, place } of messages) {
    for (const [index, block] of content.entries()) {
      const id = block["file_id"] ?? readRecord(block, "source")["file_id"];
      if (id === undefined || isFile(String(id))) continue;
      const path = joinPath(joinPath(joinPath("messages", place), "content"), index);
      return createInvalidProblem(path, `File not found: ${id}`);
    }
  }
  return null;
}
