import { Session } from "../session/session.ts";
import { recordingBus } from "../testing/recording-bus.ts";
import { greenhouse, greenhouseModel, vents } from "./greenhouse.ts";
import { tell, tellAnswer } from "./story.ts";

/** Runs the greenhouse agent and prints what happened. */
export async function demo({ json }: { readonly json: boolean }): Promise<void> {
  const bus = recordingBus();
  const session = new Session({ bus }).register(vents);
  const print = json ? () => {} : (line: string) => console.log(line);

  print("A greenhouse that looks after itself at night.");
  print("The model is a script: no key, no network. Everything else is the library at work.\n");
  bus.subscribe("*", (event) => tell(event, print));
  bus.subscribe("ToolInvoked", ({ name, result }) => {
    if (name !== "set_vent") return;
    const state = `the vents are at ${session.get(vents).percent} %`;
    print(result.success ? `    now ${state}` : `    rolled back: ${state} again`);
  });

  const response = await greenhouseModel().evaluate(greenhouse, { session });
  const { output, usage, hostedCalls } = response;
  if (json) {
    const { percent } = session.get(vents);
    console.log(
      JSON.stringify(
        { output, usage, hostedCalls, vents: { percent }, events: bus.events },
        null,
        2,
      ),
    );
    return;
  }
  tellAnswer(output, usage, bus.of("TurnCompleted").length, print);
  print(
    "\nThe agent itself is src/cli/greenhouse.ts in the repository; the README has a smaller one to start from.",
  );
}
