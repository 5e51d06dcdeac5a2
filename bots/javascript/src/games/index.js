export * as checkers from "./checkers.js";
export * as chess from "./chess.js";
export * as jeex from "./jeex.js";
export * as keezen from "./keezen.js";
export * as saxum from "./saxum.js";
export * as xe_queo from "./xe_queo.js";
