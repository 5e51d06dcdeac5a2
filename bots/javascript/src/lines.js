// Lines of a stream of bytes.

/** The errors that are the end of a stream. */
const ENDS = ["ECONNRESET", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH", "ERR_STREAM_PREMATURE_CLOSE"];

/** Yields the lines as they come, without their ends. A byte order mark is taken off; a last line without its end is dropped. */
export async function* lines(input) {
  const decoder = new TextDecoder(); // takes off the byte order mark
  let rest = "";
  try {
    for await (const chunk of input) {
      const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = parts.pop();
      yield* parts;
    }
  } catch (error) {
    if (!ENDS.includes(error.code)) throw error;
  }
}
