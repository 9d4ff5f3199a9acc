import { gapsDocument } from "../reference/gaps/gaps.ts";
import { clausesPage } from "./clauses-page.ts";
import { jsonSchemaOf, schemaNames } from "./json-schemas.ts";

/** What `npm run docs` writes: the text of each file, by its path in the project. */
export const generated: ReadonlyMap<string, () => string> = new Map([
  ["docs/clauses.md", clausesPage],
  ["docs/gaps.md", gapsDocument],
  ...schemaNames.map((name): [string, () => string] => [
    `schemas/${name}.schema.json`,
    () => `${JSON.stringify(jsonSchemaOf(name), null, 2)}\n`,
  ]),
]);
