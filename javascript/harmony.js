// The library in JavaScript: the C face (capi/), compiled to WebAssembly without imports. index.d.ts documents it.

const SIZE = 4; // Of a pointer, a length and a token id on wasm32.
const BUFFER = 3 * SIZE; // HarmonyBuffer and HarmonyTokens: data, len, capacity.
const [TOKENS, PLACE, INPUTS] = [BUFFER, 2 * BUFFER, 3 * BUFFER]; // In the scratch, after a buffer of bytes.
const KEPT = 2 ** 20; // Bytes of a buffer that is used again.
const DIALECTS = ["chat_completions", "responses", "anthropic", "ollama"];
const PREFIXES = ["chatcmpl-", "resp_", "msg_", ""]; // Of an answer's id.
const REASONS = ["stop", "length", "abort"];
const FORMS = ["lark", "xgrammar", "gbnf"];
const ENGINES = ["completions", "sglang", "llama.cpp"];

export class HarmonyError extends Error {
  constructor({ kind, message, path, token_index, message_index, status, body }) {
    super(message);
    Object.assign(this, { name: "HarmonyError", kind, path, tokenIndex: token_index, messageIndex: message_index, status, body });
  }
}

/** Loads the module: its bytes, a compiled one, a response, or the file beside this one. */
export async function load(source) {
  return new Harmony(await instantiate(await source));
}

async function instantiate(source) {
  source ??= await beside();
  if (source instanceof WebAssembly.Module) return (await WebAssembly.instantiate(source, {})).exports;
  const bytes = source instanceof Response ? await source.arrayBuffer() : source;
  return (await WebAssembly.instantiate(bytes, {})).instance.exports;
}

async function beside() {
  const url = new URL("./harmony.wasm", import.meta.url);
  if (url.protocol !== "file:") return fetch(url);
  const { readFile } = await import("node:fs/promises");
  return readFile(url);
}

function choice(words, word, name) {
  const index = words.indexOf(word);
  if (index < 0) throw new TypeError(`${name}: expected one of ${words.join(", ")}, got ${word}`);
  return index;
}

export class Harmony {
  #wasm;
  #scratch; // A page of memory that nothing else has: buffers that each call uses again, and a place for a handle.
  #encoder = new TextEncoder();
  #decoder = new TextDecoder();
  #freed;

  constructor(exports) {
    this.#wasm = exports;
    this.#scratch = exports.memory.grow(1) * 65536;
    // A handle that nobody can use any more is freed with its function.
    this.#freed = new FinalizationRegistry(({ free, handle }) => exports[free](handle));
  }

  encode(text, { special = false } = {}) {
    return this.#tokens((to) => this.#with([text], ([data, len]) => this.#wasm.harmony_encode(data, len, special ? 1 : 0, to)));
  }

  decodeBytes(tokens) {
    return this.#bytes((to) => this.#with([ids(tokens)], ([data, len]) => this.#wasm.harmony_decode(data, len, to)));
  }

  decode(tokens) {
    return this.#decoder.decode(this.decodeBytes(tokens));
  }

  get stopTokens() {
    return this.#tokens((to) => this.#wasm.harmony_stop_tokens(to));
  }

  get specialTokens() {
    return this.#json((to) => this.#wasm.harmony_special_tokens(to));
  }

  render(conversation, options) {
    return this.renderWithSpans(conversation, options).tokens;
  }

  renderWithSpans(conversation, options = {}) {
    return this.#rendered((tokens, spans) =>
      this.#with([json(conversation), json(options)], (given) => this.#wasm.harmony_render(...given, tokens, spans)),
    );
  }

  parse(tokens, options = {}) {
    return this.#json((to) => this.#with([ids(tokens), json(options)], (given) => this.#wasm.harmony_parse(...given, to)));
  }

  parser(options = {}) {
    const handle = this.#handle((place) => this.#with([json(options)], (given) => this.#wasm.harmony_parser_new(...given, place)));
    return this.#parser(handle);
  }

  restoreParser(saved) {
    return this.#parser(this.#handle((place) => this.#with([saved], (given) => this.#wasm.harmony_parser_restore(...given, place))));
  }

  #parser(handle) {
    const ask = (call) => this.#json((to) => call(handle.use(), to));
    return this.#owner(handle, "harmony_parser_free", {
      feed: (tokens) => this.#json((to) => this.#with([ids(tokens)], ([data, len]) => this.#wasm.harmony_parser_feed(handle.use(), data, len, to))),
      finish: () => ask(this.#wasm.harmony_parser_finish),
      describe: () => ask(this.#wasm.harmony_parser_describe),
      save: () => this.#bytes((to) => this.#wasm.harmony_parser_save(handle.use(), to)),
    });
  }

  readTurn(dialect, body, options = {}) {
    const number = choice(DIALECTS, dialect, "dialect");
    // A host of WebAssembly has no clock of its own: the date is JavaScript's.
    const given = { date: new Date().toISOString().slice(0, 10), ...options };
    const text = typeof body === "string" ? body : json(body);
    const handle = this.#handle((place) => this.#with([text, json(given)], (parts) => this.#wasm.harmony_turn_read(number, ...parts, place)));
    const prompt = () => this.#rendered((tokens, spans) => this.#wasm.harmony_turn_prompt(handle.use(), tokens, spans));
    const begin = (call) => this.#reply(this.#handle(call));
    return this.#owner(handle, "harmony_turn_free", {
      prompt: () => prompt().tokens,
      promptWithSpans: prompt,
      describe: () => this.#json((to) => this.#wasm.harmony_turn_describe(handle.use(), to)),
      grammar: (form) => this.#text((to) => this.#wasm.harmony_turn_grammar(handle.use(), choice(FORMS, form, "form"), to)),
      reply: (settings) =>
        begin((place) => this.#with([json(replyOptions(PREFIXES[number], settings))], (parts) => this.#wasm.harmony_turn_reply(handle.use(), ...parts, place))),
      restoreReply: (saved) => begin((place) => this.#with([saved], (parts) => this.#wasm.harmony_reply_restore(handle.use(), ...parts, place))),
    });
  }

  #reply(handle) {
    const describe = () => this.#json((to) => this.#wasm.harmony_reply_describe(handle.use(), to));
    return this.#owner(handle, "harmony_reply_free", {
      feed: (tokens) => this.#text((to) => this.#with([ids(tokens)], ([data, len]) => this.#wasm.harmony_reply_feed(handle.use(), data, len, to))),
      finish: (reason = "stop", stopString = "") =>
        this.#text((to) => this.#with([stopString], (given) => this.#wasm.harmony_reply_finish(handle.use(), choice(REASONS, reason, "reason"), ...given, to))),
      fail: (message, status = 500) =>
        this.#text((to) => this.#with([message], (given) => this.#wasm.harmony_reply_fail(handle.use(), status, ...given, to))),
      response: () => this.#json((to) => this.#wasm.harmony_reply_response(handle.use(), to)),
      describe,
      save: () => this.#bytes((to) => this.#wasm.harmony_reply_save(handle.use(), to)),
    });
  }

  engineReader(form, { maxTokens = 2 ** 31, stopTokens = this.stopTokens } = {}) {
    const number = choice(ENGINES, form, "form");
    const handle = this.#handle((place) => this.#with([ids(stopTokens)], (stops) => this.#wasm.harmony_engine_new(number, maxTokens, ...stops, place)));
    const feed = (bytes) => {
      this.#done((end, to) => this.#with([bytes], (given) => this.#wasm.harmony_engine_feed(handle.use(), ...given, to, end)));
      return { tokens: this.#ids(), end: JSON.parse(this.#said() || "null") };
    };
    return this.#owner(handle, "harmony_engine_free", { feed, finish: () => feed(new Uint8Array()) });
  }

  // Memory: views of it as numbers and as bytes, which end when it grows.

  #numbers = new Uint32Array();
  #octets;

  #at(address) {
    if (this.#numbers.length === 0) {
      this.#numbers = new Uint32Array(this.#wasm.memory.buffer);
      this.#octets = new Uint8Array(this.#wasm.memory.buffer);
    }
    return this.#numbers[address >>> 2];
  }

  /** Copies each input into a buffer, and gives the call their pointers and lengths. */
  #with(inputs, call) {
    const given = [];
    for (let index = 0; index < inputs.length; index++) {
      const input = typeof inputs[index] === "string" ? this.#encoder.encode(inputs[index]) : inputs[index];
      given.push(this.#copied(input, this.#scratch + INPUTS + index * BUFFER), input.length);
    }
    return call(given);
  }

  #copied(input, to) {
    const tokens = input instanceof Uint32Array;
    if (!tokens && !(input instanceof Uint8Array)) throw new TypeError(`expected a string or a Uint8Array, got ${input}`);
    const size = input.byteLength;
    this.#empty(to);
    if (this.#at(to + 2 * SIZE) < size) this.#wasm.harmony_buffer_reserve(to, size);
    if (this.#at(to + 2 * SIZE) < size) throw new RangeError(`no memory for ${size} bytes`);
    const data = this.#at(to);
    if (tokens) this.#numbers.set(input, data >>> 2); // Memory is given out at multiples of 8.
    else this.#octets.set(input, data);
    return data;
  }

  #check(error) {
    if (!error) return;
    this.#empty(this.#scratch);
    this.#wasm.harmony_error_json(error, this.#scratch);
    this.#wasm.harmony_error_free(error);
    throw new HarmonyError(JSON.parse(this.#said()));
  }

  /** A buffer is used again; much memory is given back. */
  #empty(buffer) {
    if (this.#at(buffer + 2 * SIZE) > KEPT) this.#wasm.harmony_buffer_free(buffer);
    this.#at(0);
    this.#numbers[(buffer + SIZE) >>> 2] = 0;
  }

  /** Calls a function with the buffers for what it gives: for bytes, and for tokens. */
  #done(call) {
    this.#empty(this.#scratch);
    this.#empty(this.#scratch + TOKENS);
    this.#check(call(this.#scratch, this.#scratch + TOKENS));
  }

  #given() {
    const data = this.#at(this.#scratch);
    return this.#octets.subarray(data, data + this.#at(this.#scratch + SIZE));
  }

  #ids() {
    const data = this.#at(this.#scratch + TOKENS) >>> 2;
    return this.#numbers.slice(data, data + this.#at(this.#scratch + TOKENS + SIZE));
  }

  #said() {
    return this.#decoder.decode(this.#given());
  }

  #tokens(call) {
    this.#done((_, to) => call(to));
    return this.#ids();
  }

  #bytes(call) {
    this.#done(call);
    return this.#given().slice();
  }

  #text(call) {
    this.#done(call);
    return this.#said();
  }

  #json(call) {
    return JSON.parse(this.#text(call));
  }

  #rendered(call) {
    this.#done((spans, tokens) => call(tokens, spans));
    return { tokens: this.#ids(), spans: JSON.parse(this.#said()) };
  }

  #handle(call) {
    const place = this.#scratch + PLACE;
    this.#check(call(place));
    let handle = this.#at(place);
    return {
      use: () => {
        if (!handle) throw new TypeError("it was freed");
        return handle;
      },
      take: () => {
        const taken = handle;
        handle = 0;
        return taken;
      },
    };
  }

  #owner(handle, free, methods) {
    const key = {};
    const owner = {
      ...methods,
      free: () => {
        this.#freed.unregister(key);
        this.#wasm[free](handle.take());
      },
    };
    this.#freed.register(owner, { free, handle: handle.use() }, key);
    return owner;
  }
}

function json(value) {
  return JSON.stringify(value);
}

const ONE = new Uint32Array(1); // For a token alone, as most chunks have: it is used again, since it is copied at once.

/** Token ids of any iterable but a string, which has characters. */
function ids(tokens) {
  if (tokens instanceof Uint32Array) return tokens;
  if (typeof tokens === "string" || !tokens?.[Symbol.iterator]) throw new TypeError(`expected token ids, got ${tokens}`);
  const list = Array.isArray(tokens) ? tokens : [...tokens];
  for (const token of list) {
    if (!Number.isInteger(token) || token < 0 || token >= 2 ** 32) throw new TypeError(`${token} is not a token id`);
  }
  if (list.length !== 1) return new Uint32Array(list);
  ONE[0] = list[0];
  return ONE;
}

/** What a host of WebAssembly has not: a clock and random numbers. */
function replyOptions(prefix, given) {
  const random = crypto.getRandomValues(new Uint8Array(12));
  const id = Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { id: prefix + id, created: Math.floor(Date.now() / 1000), ...given };
}
