// A small reader of JSON.

export class Json {
  number: f64 = NaN;
  text: string = "";
  items: Json[] = [];
  names: string[] = [];

  // The values of an object are its items.
  has(name: string): bool {
    return this.names.includes(name);
  }

  // Traps if there is no such field.
  get(name: string): Json {
    return this.items[this.names.indexOf(name)];
  }

  integer(): i32 {
    return <i32>this.number;
  }
}

export function parse(text: string): Json {
  return new Reader(text).value();
}

const QUOTE: i32 = 0x22;
const COMMA: i32 = 0x2c;
const COLON: i32 = 0x3a;
const OPEN_LIST: i32 = 0x5b;
const BACKSLASH: i32 = 0x5c;
const CLOSE_LIST: i32 = 0x5d;
const OPEN_OBJECT: i32 = 0x7b;
const CLOSE_OBJECT: i32 = 0x7d;

class Reader {
  at: i32 = 0;

  constructor(private text: string) {}

  // The next character that is no blank.
  private peek(): i32 {
    while (this.at < this.text.length && this.text.charCodeAt(this.at) <= 0x20) this.at++;
    assert(this.at < this.text.length);
    return this.text.charCodeAt(this.at);
  }

  private next(expected: i32): void {
    assert(this.peek() == expected);
    this.at++;
  }

  value(): Json {
    const json = new Json();
    const first = this.peek();
    if (first == OPEN_OBJECT) {
      this.next(OPEN_OBJECT);
      while (this.peek() != CLOSE_OBJECT) {
        if (json.items.length > 0) this.next(COMMA);
        this.peek();
        json.names.push(this.string());
        this.next(COLON);
        json.items.push(this.value());
      }
      this.next(CLOSE_OBJECT);
    } else if (first == OPEN_LIST) {
      this.next(OPEN_LIST);
      while (this.peek() != CLOSE_LIST) {
        if (json.items.length > 0) this.next(COMMA);
        json.items.push(this.value());
      }
      this.next(CLOSE_LIST);
    } else if (first == QUOTE) {
      json.text = this.string();
    } else {
      const from = this.at;
      while (this.isInWord()) this.at++;
      json.text = this.text.substring(from, this.at);
      json.number = parseFloat(json.text);
    }
    return json;
  }

  // Whether the next character belongs to a number, `true`, `false` or `null`.
  private isInWord(): bool {
    if (this.at == this.text.length) return false;
    const code = this.text.charCodeAt(this.at);
    return code > 0x20 && code != COMMA && code != CLOSE_LIST && code != CLOSE_OBJECT;
  }

  // Escapes stay as they are: nothing here has any.
  private string(): string {
    assert(this.text.charCodeAt(this.at) == QUOTE);
    const from = ++this.at;
    while (this.text.charCodeAt(this.at) != QUOTE) {
      assert(this.at < this.text.length);
      this.at += this.text.charCodeAt(this.at) == BACKSLASH ? 2 : 1;
    }
    return this.text.substring(from, this.at++);
  }
}
