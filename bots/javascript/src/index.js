export { options } from "./connection.js";
export { ACCEPT_DRAW, RESIGN } from "./reply.js";
export { run } from "./run.js";
