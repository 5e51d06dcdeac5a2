// Connects again after a lost connection.

import { setTimeout as sleep } from "node:timers/promises";
import { open } from "./connection.js";

const FIRST_DELAY = 500; // ms before the first attempt, doubled with each further one
const MOST_DELAY = 5_000; // ms: the referee may be back just before it stops waiting
const RECONNECT_TIMEOUT = 60_000; // ms after which the referee does not wait any more

/** A lost connection. */
export class Loss {
  #since = performance.now();
  #delay = FIRST_DELAY;

  constructor() {
    log("the connection to the referee is lost; connecting again");
  }

  /** Resolves to the new streams, or to undefined if there are none in time. */
  async reconnect(connection) {
    for (;;) {
      const wait = this.#delay * (0.75 + Math.random() / 2);
      if (performance.now() + wait > this.#since + RECONNECT_TIMEOUT) {
        log(`the referee cannot be reached within ${RECONNECT_TIMEOUT / 1000} s`);
        return undefined;
      }
      await sleep(wait);
      this.#delay = Math.min(2 * this.#delay, MOST_DELAY);
      try {
        const streams = await open(connection);
        log(`connected again after ${((performance.now() - this.#since) / 1000).toFixed(1)} s`);
        return streams;
      } catch {
        // The next attempt follows.
      }
    }
  }
}

function log(text) {
  console.error(`referee-bot: ${text}`);
}
