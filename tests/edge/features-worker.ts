import {
  codeInterpreterTool,
  Deadline,
  definePrompt,
  defineSlice,
  jsonSchema,
  Session,
  Tool,
  ToolResult,
} from "weakincentives";
import {
  historySlice,
  OpenAIAdapter,
  OpenAIContainerWorkspaceSection,
  uploadFile,
} from "weakincentives/openai";

declare module "weakincentives" {
  interface EventMap {
    LoavesSold: { readonly type: "LoavesSold"; readonly kind: string };
  }
}

const sold = defineSlice<readonly string[]>("bakery.sold", {
  initial: [],
  on: { LoavesSold: (kinds, { kind }) => [...kinds, kind] },
});
const sell = new Tool({
  name: "sell",
  description: "Sells a loaf.",
  params: jsonSchema<{ readonly kind: string }>({
    type: "object",
    properties: { kind: { type: "string", minLength: 3 } },
    required: ["kind"],
    additionalProperties: false,
  }),
  handler: ({ kind }, { session }) => {
    session.dispatch({ type: "LoavesSold", kind });
    return kind === "rye" ? ToolResult.ok("sold") : ToolResult.error(`There is no ${kind} bread.`);
  },
});
const seller = definePrompt({ name: "seller", instructions: "Sell bread.", tools: [sell] });
const picture = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);

/** Adapters may be kept between requests. */
let adapter: OpenAIAdapter | undefined;

/** What a worker may try, by the path of its URL. */
const features: Readonly<Record<string, (client: OpenAIAdapter) => unknown>> = {
  "/continue": async (client) => {
    const session = new Session().register(sold);
    await client.evaluate(seller, { session, input: "Sell wheat and rye." });
    const opened = Session.parse(session.serialize(), [historySlice, sold]);
    const next = { session: opened, input: "How many messages are there?", continue: true };
    const { text } = await client.evaluate(seller, next);
    return { sold: opened.get(sold), text };
  },
  "/nested": async (client) => {
    const ask = new Tool({
      name: "ask",
      description: "Asks the seller.",
      params: jsonSchema<object>({ type: "object", properties: {}, additionalProperties: false }),
      handler: async (_, { adapter: nested, session }) => {
        const input = "How many messages are there?";
        return ToolResult.ok((await nested.evaluate(seller, { session, input })).text);
      },
    });
    const asker = definePrompt({ name: "asker", instructions: "Ask the seller.", tools: [ask] });
    return (await client.evaluate(asker, { session: new Session(), input: "Ask." })).text;
  },
  "/attach-bytes": async (client) => {
    const prompt = seller.bind({}).attach({ bytes: picture, filename: "bread.png" });
    return (await client.evaluate(prompt, { input: "What is attached?" })).text;
  },
  "/upload-bytes": async ({ client }) => {
    const file = new File(["month,loaves\n"], "sales.csv");
    const { id } = (await client.files.create({ file, purpose: "user_data" })) as { id: string };
    const content = await client.files.content(id);
    return new TextDecoder().decode(await content.arrayBuffer());
  },
  "/deadline": async (client) => {
    const deadline = Deadline.after(500);
    await client.evaluate(seller, { input: "Wait.", deadline });
  },
  "/no-key": async () => {
    await new OpenAIAdapter({ model: "gpt-5.2" }).evaluate(seller, { input: "Hello." });
  },
  "/workspace": () => new OpenAIContainerWorkspaceSection({ session: new Session() }),
  "/host-mounts": async (client) => {
    const container = {
      type: "auto",
      hostMounts: [{ hostPath: "/etc/hostname" }],
      allowedHostRoots: "any",
    } as const;
    const hostedTools = [codeInterpreterTool({ container })];
    const prompt = definePrompt({ name: "mounts", instructions: "Count.", hostedTools });
    await client.evaluate(prompt, { input: "Count." });
  },
  "/attach-path": async (client) => {
    const prompt = seller.bind({}).attach({ path: "bread.png" });
    await client.evaluate(prompt, { input: "What is attached?" });
  },
  "/upload-path": async ({ client }) => await uploadFile(client, "sales.csv"),
};

const worker = {
  async fetch(request: Request, env: Readonly<Record<string, string>>): Promise<Response> {
    adapter ??= new OpenAIAdapter({
      model: "gpt-5.2",
      clientConfig: { apiKey: env["OPENAI_API_KEY"], baseURL: env["OPENAI_BASE_URL"] },
    });
    try {
      const { pathname } = new URL(request.url);
      const feature = features[pathname];
      if (!feature) throw new Error(`There is no feature ${pathname}`);
      const value = await feature(adapter);
      if (pathname !== "/nested") return Response.json({ value });
      const hooks = globalThis.process?.getBuiltinModule?.("node:async_hooks") !== undefined;
      return Response.json({ value, hooks });
    } catch (error) {
      const { name, message } = error as Error;
      return Response.json({ name, message });
    }
  },
};

// biome-ignore lint/style/noDefaultExport: workerd calls the default export
export default worker;
