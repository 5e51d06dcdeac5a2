// What a bot may answer to a turn.

export const RESIGN = Symbol("resign");
export const ACCEPT_DRAW = Symbol("accept draw");

/** The message that gives a reply to a turn. */
export function toMessage(reply, { match, seat, turn }) {
  if (reply === RESIGN) return { type: "resign", match, seat };
  if (reply === ACCEPT_DRAW) return { type: "accept_draw", match, seat, turn };
  const { move, offer_draw, info } = typeof reply === "string" ? { move: reply } : (reply ?? {});
  if (typeof move !== "string") throw new TypeError(`choose returned ${String(reply)}, not a move, RESIGN or ACCEPT_DRAW`);
  return { type: "move", match, seat, turn, move, offer_draw, info };
}
