import { setTimeout as sleep } from "node:timers/promises";

/** Runs `work` up to three times, with a short pause before each further try. Throws the last error. */
export async function retry(work: () => Promise<void>, pauseMs = 20): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === MAX_ATTEMPTS) throw error;
      await sleep(pauseMs * attempt);
    }
  }
}

const MAX_ATTEMPTS = 3;
