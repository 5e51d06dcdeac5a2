// How a bot introduces itself.

const PARTS = ["view", "legal", "event"];

/** Refuses here, with a reason, what the referee would refuse after its start-up limit. */
export function check({ name, slots = 1, wants = [] }) {
  if (!/^[A-Za-z0-9._ -]{1,64}$/.test(name)) {
    throw new RangeError(`name ${JSON.stringify(name)}: must be 1 to 64 of ASCII letters, digits, '.', '_', '-' and space`);
  }
  if (!Number.isInteger(slots) || slots < 1) throw new RangeError(`slots ${slots}: must be at least 1`);
  const unknown = wants.filter((part) => !PARTS.includes(part));
  if (unknown.length > 0) throw new RangeError(`wants ${unknown}: must be among ${PARTS}`);
}

/** The message. What is undefined is left out of it. */
export function toMessage({ name, version, author, details, games, slots, wants, push }, token, reconnect) {
  return { type: "hello", protocol: 1, name, version, author, details, token, games, slots, wants, push, reconnect };
}
