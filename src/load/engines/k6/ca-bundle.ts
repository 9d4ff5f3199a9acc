import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates } from "node:tls";

import type { Network } from "../../../base/network/network.ts";

/** A file of all authorities that k6 is to trust, while it runs. */
export interface CaBundle {
  /** `null` where the machine's own are enough. */
  readonly file: string | null;
  readonly remove: () => void;
}

/** Whether k6 can be told of authorities: Go reads them from a file named in the environment on these systems. Source: Go, crypto/x509. */
export const canTrustCaBundle = (platform: NodeJS.Platform = process.platform): boolean =>
  platform !== "darwin" && platform !== "win32";

/** The file takes the place of the machine's: so those are in it, too. */
export function writeCaBundle({ ca }: Network): CaBundle {
  if (ca === null) return { file: null, remove: () => {} };
  const folder = mkdtempSync(join(tmpdir(), "authorities-"));
  const file = join(folder, "authorities.pem");
  writeFileSync(file, [...getCACertificates("default"), ca].join("\n"));
  return { file, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
