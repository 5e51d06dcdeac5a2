// A bot to begin with, and buttons that copy texts.
"use strict";
/** A bot in Python without an SDK. It reconnects as the protocol describes; a comment shows how to use a private CA. */
const sampleBot = (port, tls, name = "NAME", token = "TOKEN", host = location.hostname) => `import json, random, socket, ${tls ? "ssl, " : ""}sys, time, uuid
hello = {"type": "hello", "protocol": 1, "name": ${JSON.stringify(name)}, "version": "1", "token": ${JSON.stringify(token)}, "reconnect": uuid.uuid4().hex}
${tls ? "# For a certificate of the organiser's own CA: ssl.create_default_context(cafile=\"ca.pem\")\ntls = ssl.create_default_context()\n" : ""}lost = time.time()
while time.time() < lost + 60:
    try:
        link = socket.create_connection((${JSON.stringify(host)}, ${port}))
${tls ? `        link = tls.wrap_socket(link, server_hostname=${JSON.stringify(host)})\n` : ""}        stream = link.makefile("rw", encoding="utf-8", newline="\\n")
        try:
            for line in stream:
                message = json.loads(line)
                if message["type"] == "hello":
                    answer = hello
                elif message["type"] == "start":
                    answer = {"type": "ready", "match": message["match"]}
                elif message["type"] == "turn":
                    move = random.choice(message["legal"])
                    answer = {"type": "move", "match": message["match"], "turn": message["turn"], "move": move}
                elif message["type"] == "ping":
                    answer = {"type": "pong", "id": message["id"]}
                elif message["type"] == "bye" and not message.get("reconnect"):
                    sys.exit(message.get("reason"))
                elif message["type"] == "error" and "match" not in message:
                    sys.exit(message.get("message"))
                else:
                    continue
                print(json.dumps(answer), file=stream, flush=True)
        finally:
            lost = time.time()
    except OSError as error:
        print(error, file=sys.stderr)
    time.sleep(random.uniform(0.5, 2))
`;

/** A button that copies the text of an element. */
function copies(button, id) {
  $(button).addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText($(id).textContent);
      $(button).textContent = "Copied";
    } catch {
      // Without a secure context there is no clipboard: select the text instead.
      getSelection().selectAllChildren($(id));
      $(button).textContent = "Selected: copy it with the keyboard";
    }
  });
}
