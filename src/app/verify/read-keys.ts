import { request } from "undici";

import { errorCodeOrText } from "../../base/errors.ts";
import { line } from "../../base/line.ts";
import { openDispatchers } from "../../base/network/dispatchers.ts";
import { isLoopback, type Network } from "../../base/network/network.ts";
import { parseAs } from "../../base/parsing.ts";
import { parseJsonFile, readTextFile } from "../../base/read-file.ts";
import { UsageError } from "../../base/usage-error.ts";
import { keyListSchema, parseKeyList, type VendorKey } from "../../report/statement/key-list.ts";

/**
 * Reads a list of public keys that a vendor has published.
 *
 * @param place a file, or a URL: https, or http on loopback
 * @throws {UsageError} if it cannot be read, or is no list of usable keys
 */
export async function readKeys(place: string, network: Network): Promise<readonly VendorKey[]> {
  const isUrl = /^[a-z][a-z\d+.-]*:\/\//i.test(place);
  const text = isUrl ? await fetchKeys(readUrl(place), network) : readTextFile(place, "The list of keys");
  const parsed = parseAs(parseJsonFile(text, place), keyListSchema);
  const keys = parsed.kind === "value" ? parseKeyList(parsed.value) : parsed;
  if (keys.kind === "value") return keys.value;
  throw new UsageError(line`${place} is not a list of keys: ${keys.problem}.`);
}

function readUrl(place: string): string {
  const url = URL.parse(place);
  if (url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(place))) return place;
  throw new UsageError(
    line`--keys is ${place}. Give a file or an https URL: over http, somebody on the way could put other keys in.`,
  );
}

const timeoutMs = 10_000;
const maxBytes = 1024 * 1024;

async function fetchKeys(url: string, network: Network): Promise<string> {
  const dispatchers = openDispatchers(network, { connectMs: timeoutMs, idleTimeoutMs: timeoutMs });
  try {
    const { statusCode, body } = await request(url, {
      dispatcher: dispatchers.of(url),
      signal: AbortSignal.timeout(timeoutMs),
      headers: { accept: "application/json" },
    });
    if (statusCode === 200) return await readAtMost(body, url);
    const where =
      statusCode >= 300 && statusCode < 400 ? " Give the address that it leads to, if it is the vendor's." : "";
    throw new UsageError(line`The list of keys cannot be read: ${url} answers ${statusCode}.${where}`);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(line`The list of keys cannot be read: ${url} (${errorCodeOrText(error)}).`);
  } finally {
    await dispatchers.close();
  }
}

async function readAtMost(body: AsyncIterable<Uint8Array>, url: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > maxBytes) throw new UsageError(line`The list of keys at ${url} exceeds 1 MiB.`);
  }
  return Buffer.concat(chunks).toString("utf8");
}
