export { options } from "./connection.js";
export { ACCEPT_DRAW, RESIGN, Unable } from "./reply.js";
export { run } from "./run.js";
