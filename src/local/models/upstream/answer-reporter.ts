import type { AnswerPart, ModelOptions } from "../local-model.ts";
import type { UpstreamAnswer } from "./upstream-answer.ts";

/** Reports the answer of an upstream model while it arrives. */
export class AnswerReporter {
  readonly #onPart: (part: AnswerPart) => Promise<void>;
  #thought: string | null = null;
  #text = "";

  constructor(onPart: NonNullable<ModelOptions["onPart"]>) {
    this.#onPart = onPart;
  }

  /** Whether anything was reported. */
  get hasReported(): boolean {
    return this.#text !== "";
  }

  /** Reports a piece of the text, and before the first one the thought that led to it. */
  async addText(text: string, readThought: () => string): Promise<void> {
    if (text === "") return;
    if (this.#text === "") {
      this.#thought = readThought();
      if (this.#thought !== "") await this.#onPart({ think: this.#thought });
    }
    this.#text += text;
    await this.#onPart({ say: text });
  }

  /** Returns the answer with exactly what was reported. Servers may think again after the text. */
  correct(answer: UpstreamAnswer): UpstreamAnswer {
    if (this.#thought === null) return answer;
    return { ...answer, thought: this.#thought, text: this.#text };
  }
}
