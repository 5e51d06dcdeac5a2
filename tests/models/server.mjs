// A server for a language model, through llama.cpp: it speaks the documented chat API. What the model writes is
// constrained by the JSON Schema of the request.
//
//     node server.mjs MODEL.gguf
//
// It prints its address and ends with its standard input.

import { createServer } from "node:http";
import { getLlama, LlamaCompletion } from "node-llama-cpp";

const [file] = process.argv.slice(2);
const llama = await getLlama({ gpu: false, build: "never", maxThreads: 1, logLevel: "error" });
const model = await llama.loadModel({ modelPath: file });
const context = await model.createContext();
const completion = new LlamaCompletion({ contextSequence: context.getSequence() });

async function complete({ model: name, messages, response_format: format }) {
  const grammar = await llama.createGrammarForJsonSchema(format.json_schema.schema);
  const prompt = model.tokenize(messages.map(({ role, content }) => `${role}: ${content}\n`).join(""));
  const content = await completion.generateCompletion(prompt, { grammar, temperature: 1 });
  const [prompt_tokens, completion_tokens] = [prompt.length, model.tokenize(content).length];
  return {
    object: "chat.completion",
    model: name,
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
  };
}

// The model answers one request at a time.
let last = Promise.resolve();
const server = createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  const body = JSON.parse(Buffer.concat(parts).toString());
  last = last.then(() => complete(body)).then(
    (answer) => [200, answer],
    (error) => [500, { error: { message: String(error) } }],
  );
  const [status, answer] = await last;
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/v1`));
process.stdin.on("end", () => process.exit()).resume();
