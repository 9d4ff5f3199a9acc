// Receives webhook deliveries. Start it with WEBHOOK_SECRET and PORT in the environment.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const secret = process.env["WEBHOOK_SECRET"];
if (secret === undefined) throw new Error("WEBHOOK_SECRET is not set.");

const server = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => {
    const body = Buffer.concat(pieces);
    const expected = Buffer.from(createHmac("sha256", secret).update(body).digest("hex"));
    const given = Buffer.from(String(request.headers["x-service-signature"] ?? ""));
    const isSigned = expected.length === given.length && timingSafeEqual(expected, given);
    response.writeHead(isSigned ? 204 : 401).end();
    // Put the event into a queue here, and handle it later.
    if (isSigned) process.stdout.write(`${body.toString("utf8")}\n`);
  });
});

server.listen(Number(process.env["PORT"]), "127.0.0.1");
