// The rules of Rock Paper Scissors: see rules.md. `npm ci && npm run build` makes game.wasm.

import { Json, parse } from "./json";

const CHOICES = ["rock", "paper", "scissors"];
const COLOURS = ["red", "blue"];
const MOST_ROUNDS = 1000;

// Where the referee writes a request. An instance gets one, so that nothing has to be freed.
export function alloc(length: i32): usize {
  return heap.alloc(length);
}

// Answers a request: where the answer is, and its length in the lower half.
export function handle(offset: usize, length: i32): u64 {
  const request = parse(String.UTF8.decodeUnsafe(offset, length));
  const answer = String.UTF8.encode(answerTo(request));
  return (<u64>changetype<usize>(answer) << 32) | answer.byteLength;
}

function answerTo(request: Json): string {
  const type = request.get("type").text;
  if (type == "start") return start(request.get("options").get("rounds").number);
  if (type == "imagine") return position(State.read(request.get("view")), "");
  const state = State.read(request.get("state"));
  return type == "show" ? show(state) : play(state, request.get("moves").items);
}

// A position.
class State {
  round: i32 = 1;
  wins: i32[] = [0, 0];
  last: string[] = [];

  constructor(public rounds: i32) {}

  static read(json: Json): State {
    const state = new State(json.get("rounds").integer());
    state.round = json.get("round").integer();
    state.wins = [json.get("wins").items[0].integer(), json.get("wins").items[1].integer()];
    if (json.has("last")) state.last = [json.get("last").items[0].text, json.get("last").items[1].text];
    return state;
  }

  // It is its own view: nothing is hidden.
  write(): string {
    const last = this.last.length > 0 ? `,"last":["${this.last[0]}","${this.last[1]}"]` : "";
    return `{"rounds":${this.rounds},"round":${this.round},"wins":[${this.wins[0]},${this.wins[1]}]${last}}`;
  }

  isOver(): bool {
    return this.round > this.rounds;
  }
}

function start(rounds: f64): string {
  if (rounds >= 1 && rounds <= MOST_ROUNDS && rounds == Math.floor(rounds)) return position(new State(<i32>rounds), "");
  return `{"bad_options":"rounds: expected an integer from 1 to ${MOST_ROUNDS}"}`;
}

// The seat that wins a round, or -1.
function winner(choices: string[]): i32 {
  const ahead = (CHOICES.indexOf(choices[0]) - CHOICES.indexOf(choices[1]) + 3) % 3;
  return ahead == 0 ? -1 : ahead == 1 ? 0 : 1;
}

function play(state: State, moves: Json[]): string {
  state.last = [moves[0].get("move").text, moves[1].get("move").text];
  state.round++;
  const won = winner(state.last);
  if (won < 0) return position(state, '{"all":{"kind":"round"}}');
  state.wins[won]++;
  return position(state, `{"all":{"kind":"round","winner":${won}}}`);
}

function position(state: State, event: string): string {
  let turn: string;
  if (state.isOver()) {
    const ranks = [state.wins[0] < state.wins[1] ? 2 : 1, state.wins[1] < state.wins[0] ? 2 : 1];
    turn = `{"over":{"ranks":[${ranks[0]},${ranks[1]}],"reason":"rounds_played"}}`;
  } else {
    const decision = `"legal":["rock","paper","scissors"],"view":${state.write()}`;
    turn = `{"decide":[{"seat":0,${decision}},{"seat":1,${decision}}]}`;
  }
  return `{"state":${state.write()},"turn":${turn},"events":[${event}]}`;
}

function words(state: State): string {
  if (!state.isOver()) return `round ${state.round} of ${state.rounds}`;
  const lead = state.wins[0] - state.wins[1];
  return lead == 0 ? "a draw" : `${COLOURS[lead > 0 ? 0 : 1]} wins`;
}

function show(state: State): string {
  const said = [words(state)];
  const shapes: string[] = [];
  for (let seat = 0; seat < 2; seat++) {
    const x = 250 + 500 * seat;
    said.push(`${COLOURS[seat]} has won ${state.wins[seat]}`);
    shapes.push(shape(`card ${seat}`, "board", [x, 250], `{"form":"rect","at":[-180,-180],"width":360,"height":360,"radius":30,"fill":"paper","outline":{"colour":"${COLOURS[seat]}","width":10}}`));
    shapes.push(shape(`wins ${seat}`, "label", [x, 510], label(`${state.wins[seat]}`, 80)));
    if (state.last.length > 0) {
      said.push(`${COLOURS[seat]} has played ${state.last[seat]}`);
      shapes.push(shape(`choice ${seat}`, "piece", [x, 220], picture(state.last[seat])));
      shapes.push(shape(`name ${seat}`, "label", [x, 390], label(state.last[seat], 40)));
    }
  }
  return `{"view":${state.write()},"scene":{"width":1000,"height":600,"seats":["red","blue"],"shapes":[${shapes.join()}],"words":["${said.join('","')}"]}}`;
}

function shape(id: string, layer: string, at: i32[], parts: string): string {
  return `{"id":"${id}","layer":"${layer}","at":[${at.join()}],"parts":[${parts}]}`;
}

function label(text: string, size: i32): string {
  return `{"form":"text","at":[0,0],"size":${size},"text":"${text}","fill":"ink"}`;
}

function picture(choice: string): string {
  if (choice == "rock") return '{"form":"circle","at":[0,0],"radius":90,"fill":"dark"}';
  if (choice == "paper") return '{"form":"rect","at":[-70,-95],"width":140,"height":190,"radius":4,"fill":"white","outline":{"colour":"ink","width":4}}';
  return blade(-1) + "," + blade(1) + "," + handleOf(-1) + "," + handleOf(1);
}

function blade(side: i32): string {
  return `{"form":"polygon","points":[[${-30 * side},40],[${60 * side},-100],[${80 * side},-90],[${-10 * side},55]],"fill":"ink"}`;
}

function handleOf(side: i32): string {
  return `{"form":"circle","at":[${45 * side},75],"radius":26,"fill":"paper","outline":{"colour":"red","width":14}}`;
}
