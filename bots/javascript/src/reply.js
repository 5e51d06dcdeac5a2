// What a bot may answer to a turn.

export const RESIGN = Symbol("resign");
export const ACCEPT_DRAW = Symbol("accept draw");

/** The bot has no move. */
export class Unable {
  constructor(because, info) {
    this.because = because;
    this.info = info;
  }
}

/** The message that gives a reply to a turn. */
export function toMessage(reply, { match, seat, turn }) {
  if (reply === RESIGN) return { type: "resign", match, seat };
  if (reply === ACCEPT_DRAW) return { type: "accept_draw", match, seat, turn };
  if (reply instanceof Unable) return { type: "unable", match, seat, turn, because: reply.because, info: reply.info };
  const { move, offer_draw, info } = typeof reply === "string" ? { move: reply } : (reply ?? {});
  if (typeof move !== "string") {
    throw new TypeError(`choose returned ${String(reply)}, not a move, RESIGN, ACCEPT_DRAW or Unable`);
  }
  return { type: "move", match, seat, turn, move, offer_draw, info };
}
