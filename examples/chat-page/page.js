// What the model writes may be hostile: it is only ever set as text, never as HTML.
const [form, text, send, stop, status, messages, empty, scroll] = [
  ...["form", "text", "send", "stop", "status", "messages", "empty", "scroll"],
].map((id) => document.getElementById(id));

const CALLS = new Map([
  ["code_interpreter", ["Running code", "Ran code"]],
  ["web_search", ["Searching the web", "Searched the web"]],
  ["file_search", ["Searching files", "Searched files"]],
]);

let running = null; // the AbortController of the answer that is being written

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const message = text.value.trim();
  if (message === "" || running) return;
  text.value = "";
  await loaded.catch(() => {}); // without the earlier messages, the chat still works
  await ask(message);
});
text.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});
stop.addEventListener("click", () => running?.abort());

const loaded = showHistory();
text.focus();

/** Shows the messages of the chat so far. */
async function showHistory() {
  const history = await fetch("/chat").then((response) => response.json());
  for (const { role, text: said } of history) addMessage(role).textContent = said;
}

/** Sends a message and shows the answer as it arrives. */
async function ask(message) {
  addMessage("user").textContent = message;
  const answer = new Answer(addMessage("assistant"));
  running = new AbortController();
  showRunning(true);
  try {
    const response = await fetch("/chat", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ text: message }),
      signal: running.signal,
    });
    if (!response.ok) throw new Error(REFUSALS.get(response.status) ?? `HTTP ${response.status}`);
    for await (const { type, data } of readEvents(response.body)) answer.add(type, data);
    if (!answer.hasEnded) throw new Error("The connection was lost.");
    status.textContent = "";
  } catch (error) {
    if (running.signal.aborted) answer.note("stopped", "Stopped.");
    else answer.note("error", `The answer failed. ${error.message}`);
    status.textContent = running.signal.aborted ? "Stopped" : "Failed";
  } finally {
    answer.end();
    running = null;
    showRunning(false);
  }
}

const REFUSALS = new Map([
  [409, "The previous answer is still being written. Try again in a moment."],
  [413, "The message is too long."],
]);

/** One answer in the page: the text of each turn, hosted calls with their state, and a sign of life. */
class Answer {
  hasEnded = false;
  #item;
  #turns = new Map();
  #calls = new Map();
  #waiting;
  #since = performance.now();
  #timer = setInterval(() => this.#showTime(), 1000);

  constructor(item) {
    this.#item = item;
    item.setAttribute("aria-busy", "true");
    this.#waiting = this.note("waiting running", "Thinking");
    status.textContent = "Thinking";
  }

  add(type, data) {
    const isAtEnd = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 40;
    if (type === "error") throw new Error(`(${data.name})`);
    if (type === "response") this.hasEnded = true;
    else if (data.type === "text") this.#addText(data);
    else if (data.type === "hostedCall") this.#showCall(data);
    else if (data.type === "restart") this.#restart(data);
    if (isAtEnd) scroll.scrollTop = scroll.scrollHeight;
  }

  /** Adds a line that is not the model's. */
  note(className, words) {
    const line = document.createElement("div");
    line.className = className;
    if (className === "error") line.setAttribute("role", "alert");
    line.textContent = words;
    this.#item.append(line);
    return line;
  }

  end() {
    clearInterval(this.#timer);
    this.#waiting.remove();
    for (const { line } of this.#calls.values()) line.classList.remove("running");
    this.#item.setAttribute("aria-busy", "false");
    scroll.scrollTop = scroll.scrollHeight;
  }

  #addText({ turn, delta }) {
    this.#waiting.remove();
    status.textContent = "Answering";
    this.#lineOf(turn, this.#turns, "text").append(delta);
  }

  #showCall({ turn, callId, kind, status: state }) {
    this.#waiting.remove();
    const [doing, done] = CALLS.get(kind) ?? [`Using ${kind}`, `Used ${kind}`];
    const call = this.#calls.get(callId) ?? { line: this.note("call running", ""), turn };
    this.#calls.set(callId, call);
    const isDone = ["completed", "failed", "incomplete"].includes(state);
    Object.assign(call, {
      isDone,
      words: state === "failed" ? `${done}, without success` : isDone ? done : doing,
    });
    call.line.classList.toggle("running", !isDone);
    call.line.textContent = call.words;
    status.textContent = call.words;
    this.#turns.delete(turn); // text after the call begins below it
  }

  /** The turn is sent again: what it showed so far is void. */
  #restart({ turn }) {
    for (const line of this.#item.querySelectorAll(`[data-turn="${Number(turn)}"]`)) line.remove();
    this.#turns.delete(turn);
    for (const [id, call] of this.#calls)
      if (call.turn === turn) {
        call.line.remove();
        this.#calls.delete(id);
      }
  }

  #lineOf(turn, lines, className) {
    const line = lines.get(turn) ?? this.note(className, "");
    line.dataset.turn = turn;
    lines.set(turn, line);
    return line;
  }

  /** Shows how long the model or a call has been working, so that a long wait does not look like a stall. */
  #showTime() {
    const seconds = Math.round((performance.now() - this.#since) / 1000);
    if (this.#waiting.isConnected) this.#waiting.textContent = `Thinking, ${seconds} s`;
    for (const { line, isDone, words } of this.#calls.values())
      if (!isDone) line.textContent = `${words}, ${seconds} s`;
  }
}

function addMessage(role) {
  empty.hidden = true;
  const item = document.createElement("li");
  item.className = role;
  messages.append(item);
  scroll.scrollTop = scroll.scrollHeight;
  return item;
}

function showRunning(isRunning) {
  send.hidden = isRunning;
  stop.hidden = !isRunning;
  if (!isRunning) text.focus();
}

/** Reads server-sent events from a fetch body. */
async function* readEvents(body) {
  let rest = "";
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + chunk).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const fields = block.split("\n").map((line) => line.split(/: ?(.*)/s));
      const data = fields.find(([name]) => name === "data")?.[1];
      const type = fields.find(([name]) => name === "event")?.[1] ?? "message";
      if (data !== undefined) yield { type, data: JSON.parse(data) };
    }
  }
}
