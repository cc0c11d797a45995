import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import { nullable, object, type Validator } from "../../validators/validator.ts";
import { metadata } from "./common-fields.ts";
import { createItemsValidator } from "./items.ts";
import { createToolValidator } from "./tools.ts";

/** OpenAI's limit: how many items one request may add. */
const MAX_ITEMS = 20;

/** Creates the validators for the bodies of the conversation routes. */
export function createConversationValidators(
  catalog: ToolCatalog,
): Readonly<Record<"create" | "update" | "addItems", Validator>> {
  const items = createItemsValidator(catalog, createToolValidator(catalog), { max: MAX_ITEMS });
  return {
    create: object({}, { items: nullable(items), metadata }),
    update: object({ metadata }),
    addItems: object({ items }),
  };
}
