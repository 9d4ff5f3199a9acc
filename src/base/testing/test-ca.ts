import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** Paths of PEM files: a private authority, and the certificates and keys of a server and a client. */
export interface TestCa {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  readonly clientCert: string;
  readonly clientKey: string;
}

/** Creates the PEM files of a test authority in an existing folder, with the command openssl. */
export function createTestCa(folder: string, host: string): TestCa {
  const file = (name: string): string => join(folder, name);
  const openssl = (...args: readonly string[]): void => void execFileSync("openssl", args, { stdio: "ignore" });
  const freshKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const ca = { cert: file("ca.pem"), key: file("ca.key") };
  openssl(
    "req",
    "-x509",
    ...freshKey,
    "-keyout",
    ca.key,
    "-out",
    ca.cert,
    "-subj",
    "/CN=A private authority",
    "-days",
    "2",
  );
  const issue = (name: string, subject: string, extensions: string): readonly [string, string] => {
    const [cert, key, request, wanted] = [
      file(`${name}.pem`),
      file(`${name}.key`),
      file(`${name}.csr`),
      file(`${name}.ext`),
    ];
    writeFileSync(wanted, extensions);
    openssl("req", "-new", ...freshKey, "-keyout", key, "-out", request, "-subj", `/CN=${subject}`);
    const signing = ["-CA", ca.cert, "-CAkey", ca.key, "-CAcreateserial", "-days", "2", "-extfile", wanted];
    openssl("x509", "-req", "-in", request, "-out", cert, ...signing);
    return [cert, key];
  };
  const [cert, key] = issue("server", host, `subjectAltName=DNS:${host},DNS:localhost\n`);
  const [clientCert, clientKey] = issue("client", "a client", "extendedKeyUsage=clientAuth\n");
  return { ca: ca.cert, cert, key, clientCert, clientKey };
}
