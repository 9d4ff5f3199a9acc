import type { ServerResponse } from "node:http";
import type { Write } from "../behaviour/stream.ts";

/** Writes the body of a response whose head is made, each write a chunk of its own. */
export interface ChunkWriter {
  /** Sends the head where nothing was written yet. */
  open(): void;
  /** Tells whether the socket is full. */
  write(bytes: Write): boolean;
  end(): void;
}

/**
 * Node makes four writes of a chunk: its length, a line end, its bytes and another line end. They cost more than the event in it, so that what
 * frames a chunk is put around it here. Source: RFC 9112, 7.1.
 */
export function chunkWriter(response: ServerResponse): ChunkWriter {
  // To a client of HTTP/1.0 a body ends with its connection, and nothing frames it.
  const { chunkedEncoding: isChunked } = response;
  response.chunkedEncoding = false;
  let isOpen = false;
  return {
    open: () => {
      if (!isOpen) response.flushHeaders();
      isOpen = true;
    },
    write: (bytes) => {
      isOpen = true;
      // A chunk of no bytes would be the end.
      return bytes.length > 0 && !response.write(isChunked ? framed(bytes) : bytes);
    },
    end: () => {
      if (isChunked && !response.destroyed) response.write("0\r\n\r\n");
      response.end();
    },
  };
}

function framed(bytes: Write): Write {
  const length = `${Buffer.byteLength(bytes).toString(16)}\r\n`;
  return typeof bytes === "string"
    ? `${length}${bytes}\r\n`
    : Buffer.concat([Buffer.from(length), bytes, Buffer.from("\r\n")]);
}
