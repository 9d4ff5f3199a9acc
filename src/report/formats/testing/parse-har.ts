import { Ajv } from "ajv";
import schemas from "har-schema";
import { expect } from "vitest";

/** A validator for the HAR schema, with lax settings: the schema uses an older draft of JSON Schema, and it demands URLs that parse. */
const ajv = new Ajv({ strict: false, validateFormats: false, validateSchema: false });
for (const [name, schema] of Object.entries(schemas))
  ajv.addSchema({ ...schema, $id: `${name}.json`, $schema: "http://json-schema.org/draft-07/schema#" });

export interface HarEntry {
  readonly startedDateTime: string;
  readonly time: number;
  readonly timings: { readonly send: number; readonly wait: number; readonly receive: number };
  readonly request: { readonly queryString: readonly unknown[]; readonly postData?: { readonly text: string } };
  readonly response: {
    readonly status: number;
    readonly redirectURL: string;
    readonly content: Readonly<Record<string, unknown>>;
    readonly _error?: string;
  };
}

/** Parses a HAR archive and returns its entries. Throws if the archive does not match the schema. */
export function parseHar(text: string): readonly HarEntry[] {
  const har: unknown = JSON.parse(text);
  expect(ajv.validate("har.json", har), ajv.errorsText()).toBe(true);
  return (har as { log: { entries: readonly HarEntry[] } }).log.entries;
}
