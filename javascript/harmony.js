// The library in JavaScript: the C face (capi/), compiled to WebAssembly without imports. index.d.ts documents it.

const SIZE = 4; // Of a pointer, a length and a token id on wasm32.
const BUFFER = 3 * SIZE; // HarmonyBuffer and HarmonyTokens: data, len, capacity.
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
  #scratch; // A buffer for bytes and one for tokens, used again by each call, then a place for a handle.
  #encoder = new TextEncoder();
  #decoder = new TextDecoder();
  #freed;

  constructor(exports) {
    this.#wasm = exports;
    this.#scratch = this.#reserve(2 * BUFFER + SIZE);
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
      restoreReply: (saved, settings = {}) =>
        begin((place) => this.#with([saved, json(settings)], (parts) => this.#wasm.harmony_reply_restore(handle.use(), ...parts, place))),
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
      const { tokens, rest } = this.#outputs((to, end) => this.#with([bytes], (given) => this.#wasm.harmony_engine_feed(handle.use(), ...given, to, end)));
      return { tokens, end: rest.length ? JSON.parse(this.#decoder.decode(rest)) : null };
    };
    return this.#owner(handle, "harmony_engine_free", { feed, finish: () => feed(new Uint8Array()) });
  }

  errorBody(dialect, status, message) {
    const number = choice(DIALECTS, dialect, "dialect");
    return this.#json((to) => this.#with([message], (given) => this.#wasm.harmony_error_body(number, status, ...given, to)));
  }

  // Memory. Views end whenever the memory grows, so each is made where it is used.

  #reserve(size) {
    // The first buffer of all cannot come from a buffer: it is a page that nothing else has.
    const memory = this.#wasm.memory;
    const at = memory.grow(1) * 65536;
    new Uint8Array(memory.buffer, at, size).fill(0);
    return at;
  }

  #field(at) {
    return new DataView(this.#wasm.memory.buffer).getUint32(at, true);
  }

  /** Copies inputs into memory, in which they stay during a call. */
  #with(inputs, call) {
    const made = inputs.map((input) => this.#copied(typeof input === "string" ? this.#encoder.encode(input) : input));
    try {
      return call(made.flatMap(({ data, count }) => [data, count]));
    } finally {
      for (const { at } of made) this.#wasm.harmony_buffer_free(at);
    }
  }

  #copied(input) {
    if (!(input instanceof Uint8Array || input instanceof Uint32Array)) throw new TypeError(`expected a string or a Uint8Array, got ${input}`);
    const at = this.#slot();
    this.#wasm.harmony_buffer_reserve(at, input.byteLength + SIZE);
    if (this.#field(at + 2 * SIZE) < input.byteLength) throw new RangeError(`no memory for ${input.byteLength} bytes`);
    const data = this.#field(at);
    new Uint8Array(this.#wasm.memory.buffer, data, input.byteLength).set(new Uint8Array(input.buffer, input.byteOffset, input.byteLength));
    return { at, data, count: input.length };
  }

  #slots = 0;
  /** A place for the buffer of an input: calls have at most eight, and none is called within another. */
  #slot() {
    this.#slots = (this.#slots + 1) % 8;
    return this.#scratch + 2 * BUFFER + 2 * SIZE + this.#slots * BUFFER;
  }

  #check(error) {
    if (!error) return;
    const to = this.#scratch;
    this.#empty(to);
    this.#wasm.harmony_error_json(error, to);
    this.#wasm.harmony_error_free(error);
    throw new HarmonyError(JSON.parse(this.#decoder.decode(this.#content(to, Uint8Array))));
  }

  #empty(at) {
    new DataView(this.#wasm.memory.buffer).setUint32(at + SIZE, 0, true);
  }

  #content(at, Type) {
    const [data, len] = [this.#field(at), this.#field(at + SIZE)];
    return len === 0 ? new Type() : new Type(this.#wasm.memory.buffer, data, len).slice();
  }

  #outputs(call) {
    const [rest, tokens] = [this.#scratch, this.#scratch + BUFFER];
    this.#empty(rest);
    this.#empty(tokens);
    this.#check(call(tokens, rest));
    return { tokens: this.#content(tokens, Uint32Array), rest: this.#content(rest, Uint8Array) };
  }

  #tokens(call) {
    return this.#outputs((to) => call(to)).tokens;
  }

  #bytes(call) {
    return this.#outputs((_, to) => call(to)).rest;
  }

  #text(call) {
    return this.#decoder.decode(this.#bytes(call));
  }

  #json(call) {
    return JSON.parse(this.#text(call));
  }

  #rendered(call) {
    const { tokens, rest } = this.#outputs(call);
    return { tokens, spans: JSON.parse(this.#decoder.decode(rest)) };
  }

  #handle(call) {
    const place = this.#scratch + 2 * BUFFER;
    this.#check(call(place));
    let handle = this.#field(place);
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

/** Token ids of any iterable but a string, which has characters. */
function ids(tokens) {
  if (typeof tokens === "string" || !tokens?.[Symbol.iterator]) throw new TypeError(`expected token ids, got ${tokens}`);
  return Uint32Array.from(tokens, checked);
}

function checked(token) {
  if (!Number.isInteger(token) || token < 0 || token >= 2 ** 32) throw new TypeError(`${token} is not a token id`);
  return token;
}

/** What a host of WebAssembly has not: a clock and random numbers. */
function replyOptions(prefix, given) {
  const random = crypto.getRandomValues(new Uint8Array(12));
  const id = Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { id: prefix + id, created: Math.floor(Date.now() / 1000), ...given };
}
