import type { Dispatcher } from "undici";

/** Wraps a dispatcher to report each chunk of a body. A stream reader would see several chunks as one. */
export const withChunkCounter = (dispatcher: Dispatcher, onChunk: () => void): Dispatcher =>
  dispatcher.compose((dispatch) => (options, handler) => {
    const take = handler.onResponseData?.bind(handler);
    handler.onResponseData = (controller, chunk) => {
      onChunk();
      take?.(controller, chunk);
    };
    return dispatch(options, handler);
  });
