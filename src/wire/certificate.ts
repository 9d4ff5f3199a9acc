import { connect, type PeerCertificate } from "node:tls";

/** What a TLS server shows of itself. Plain JSON. */
export type CertificateSeen =
  | {
      readonly kind: "seen";
      /** Names that it is issued for: its subject's, and the alternative ones. */
      readonly names: readonly string[];
      /** As the certificate has it: `Mar  4 05:06:07 2026 GMT`. */
      readonly validTo: string;
      /** Whether this machine trusts it for this host and now. */
      readonly authorized: boolean;
      /** Why not, in the words of the TLS library; `null` where it does. */
      readonly problem: string | null;
    }
  | { readonly kind: "unseen"; readonly reason: string };

const deadlineMs = 10_000;

/** Connects once, asks for nothing, and looks at the certificate. Never rejects. */
export function seeCertificate(url: string): Promise<CertificateSeen> {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const seen = Promise.withResolvers<CertificateSeen>();
  const isName = !/^[\d.]+$|:/.test(host);
  // It is looked at, not relied on: nothing is sent on this connection.
  const socket = connect({
    host,
    port: port === "" ? 443 : Number(port),
    rejectUnauthorized: false,
    ...(isName ? { servername: host } : {}),
  });
  const unseen = (reason: string): void => seen.resolve({ kind: "unseen", reason });
  socket.setTimeout(deadlineMs, () => unseen(`no TLS handshake within ${deadlineMs / 1000} s`));
  socket.once("error", (error) => unseen(error.message));
  socket.once("secureConnect", () => {
    const certificate = socket.getPeerCertificate();
    seen.resolve({
      kind: "seen",
      names: namesOf(certificate),
      validTo: certificate.valid_to,
      authorized: socket.authorized,
      problem: socket.authorized ? null : problemOf(socket.authorizationError),
    });
  });
  return seen.promise.finally(() => socket.destroy());
}

function namesOf({ subject, subjectaltname = "" }: PeerCertificate): string[] {
  const common: unknown = subject?.CN;
  const alternative = subjectaltname.split(", ").filter((name) => name !== "");
  return [...(typeof common === "string" ? [common] : []), ...alternative];
}

/** Declared as an error, and given as its code. */
const problemOf = (problem: unknown): string => (problem instanceof Error ? problem.message : String(problem));
