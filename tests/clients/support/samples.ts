/** A page for web search. */
export const PAGES: Readonly<Record<string, string>> = {
  "pages.json": JSON.stringify({ "barn.html": "https://owls.example/barn" }),
  "barn.html": "<title>Barn owls</title><p>Barn owls are owls that live in barns.</p>",
};

/** Code that creates a file and prints a number. */
export const CODE = "open('owls.txt', 'w').write('12')\nprint(6 * 7)";

/** An image of one pixel. */
export const PIXEL =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** The answer that the tests of structured output expect. */
export const ANSWER = { animal: "owl", count: 12 };

/** The JSON Schema of {@link ANSWER}. */
export const ANSWER_SCHEMA = {
  type: "object",
  properties: { animal: { type: "string" }, count: { type: "integer" } },
  required: ["animal", "count"],
  additionalProperties: false,
} as const;

/** Two calls at once of a function `look`, and the answer to their results. */
export const TWO_CALLS = [
  [
    { call: { name: "look", args: { at: "barn" } } },
    { call: { name: "look", args: { at: "tree" } } },
  ],
  [{ say: "Twelve owls." }],
];
