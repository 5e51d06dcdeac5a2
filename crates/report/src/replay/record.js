// Reads the data of pages.

/** The data of the page: JSON that is compressed (RFC 1950) and encoded in base64 (RFC 4648). */
function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

/** The record of a match, from its templates and values (record.rs). */
function restored({ templates, lines, numbers, texts }) {
  const readers = (lists) => new Map(Object.entries(lists).map(([name, list]) => [name, list.values()]));
  const [number, text, counts] = [readers(numbers), readers(texts), new Map()];
  let time = 0;
  const line = (template) => {
    const type = (/^{"type":"([^"]*)"/.exec(template) || ["", ""])[1];
    let before = 0;
    return template.replace(/"(\w+)":("?)([\x01-\x06])/g, (_, field, quote, mark) => {
      const name = `${type} ${field}`, key = `"${field}":`;
      if (mark === "\x04") return key + quote + text.get(name).next().value;
      if (mark === "\x06") return `${key}["${text.get(name).next().value.replaceAll(" ", '","')}"]`;
      const next = () => number.get(name).next().value;
      let value = next();
      if (mark === "\x05") return `${key}[${Array.from({ length: value }, next)}]`;
      if (mark === "\x02") value = time += value;
      if (mark === "\x03") {
        const known = `${name} ${before}`;
        value += counts.get(known) || 0;
        counts.set(known, value);
      }
      before = value;
      return key + value;
    });
  };
  return lines.map((number) => line(templates[number])).join("\n");
}
