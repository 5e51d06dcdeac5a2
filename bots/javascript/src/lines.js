// Lines of a stream of bytes.

/** The errors that are the end of a stream. */
const ENDS = ["ECONNRESET", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH", "ERR_STREAM_PREMATURE_CLOSE"];

/**
 * Calls `handle` with each line as it comes, without its end, until it destroys the stream. Resolves at the end of the
 * stream. A byte order mark is taken off; a last line without its end is dropped.
 */
export function eachLine(input, handle) {
  return new Promise((resolve, reject) => {
    let rest;
    const read = (chunk) => {
      rest = rest === undefined && chunk.startsWith("\ufeff") ? chunk.slice(1) : (rest ?? "") + chunk;
      const parts = rest.split("\n");
      rest = parts.pop();
      for (const line of parts) {
        if (input.destroyed) return;
        handle(line);
      }
    };
    input.setEncoding("utf8");
    // Events take a quarter of the time of an asynchronous iterator.
    input.on("data", (chunk) => {
      try {
        read(chunk);
      } catch (error) {
        input.destroy();
        reject(error);
      }
    });
    input.on("end", resolve);
    input.on("close", resolve);
    input.on("error", (error) => (ENDS.includes(error.code) ? resolve() : reject(error)));
  });
}
