/** Which sandbox runs a model's code here, how its limits hold, and what hostile code gets. */
import { LocalProvider, scriptedModel } from "weakincentives/local";

const code = `
import os, socket
def attempt(name, work):
    try:
        work()
        print(name, "got through")
    except BaseException as problem:
        print(name, "failed")
attempt("reading the host's users,", lambda: open("/etc/shadow").read())
attempt("connecting to the network,", lambda: socket.create_connection(("192.0.2.1", 80), timeout=1))
attempt("replacing a program,", lambda: open("/usr/bin/env", "w"))
attempt("a file of 8 GiB,", lambda: os.pwrite(os.open("big", os.O_CREAT | os.O_WRONLY), b"x", 8 << 30))`;

await using provider = new LocalProvider({
  model: scriptedModel([[{ code }], [{ say: "Done." }]]),
});

// For example: bubblewrap, { memory: "enforced", processes: "enforced", disk: "watched", means: "cgroup v2; …" }
const { name, limits } = await provider.sandbox();
if (limits.memory === "watched") console.error(`${name} can briefly exceed its memory limit.`);

const request = { model: "any", input: "Attack.", include: ["code_interpreter_call.outputs"] };
const tools = [{ type: "code_interpreter", container: { type: "auto" } }];
const response = await provider.fetch("http://local/v1/responses", {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ ...request, tools }),
});
const { output } = await response.json();
console.log(output[0].outputs[0].logs.trim());
// prints: reading the host's users, failed
// prints: connecting to the network, failed
// prints: replacing a program, failed
// prints: a file of 8 GiB, failed
