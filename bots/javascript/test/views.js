// Writes the shared vectors of views as TypeScript, so that tsc compares the types with them.

import { readFileSync, writeFileSync } from "node:fs";

const vectors = readFileSync(new URL("../../vectors/views.jsonl", import.meta.url), "utf8").trim().split("\n").map(JSON.parse);
const views = vectors.filter(({ read }) => !read).map(({ game, view }, i) => `export const v${i}: ${game}.View = ${JSON.stringify(view)};\n`);
const games = 'import type { checkers, chess, jeex, keezen, saxum, xe_queo } from "../src/games/index.js";\n\n';
writeFileSync(new URL("views.generated.ts", import.meta.url), games + views.join(""));
