/** Prints the expected cost of `npm run test:live`, before it runs. */
import { describeExpectedCost } from "./expected-cost.ts";

const { WINK_LIVE_MODEL: model = "gpt-5.2" } = process.env;
process.stdout.write(`${describeExpectedCost(model)}\n\n`);
