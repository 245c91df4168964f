/** Renderer and parser of the harmony response format, which the gpt-oss models speak. */

export type Role = "system" | "developer" | "user" | "assistant" | "tool";
export type Dialect = "chat_completions" | "responses" | "anthropic" | "ollama";
export type Tokens = Uint32Array | readonly number[];
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

export interface Content {
  type: "text" | "system_content" | "developer_content";
  [field: string]: unknown;
}

export interface Message {
  role: Role;
  name?: string | null;
  recipient?: string;
  channel?: string;
  content_type?: string;
  content: string | Content[];
}

export interface Conversation {
  messages: Message[];
}

/** The place of a message among the tokens: its header is `start` to `content`, its stop token `stop` to `end`. */
export interface MessageSpan {
  message: number | null;
  start: number;
  content: number;
  stop: number;
  end: number;
}

export interface Repair {
  kind: string;
  /** The first token and the one after the last. */
  span: [number, number];
  index: number | null;
  text: string;
}

export type Event =
  | { type: "message_start"; span: [number, number]; index: number; author: { role: Role; name: string | null }; channel: string | null; recipient: string | null; content_type: string | null }
  | { type: "content_delta"; span: [number, number]; index: number; text: string }
  | { type: "message_end"; span: [number, number]; index: number; stop_token: number | null }
  | ({ type: "repair" } & Repair);

export interface Prefill {
  channel?: string;
  recipient?: string;
  content_type?: string;
  text?: string;
}

export interface RenderConfig {
  thoughts?: "keep" | "drop" | "drop_before_first_final";
  header_style?: "recipient_in_role" | "recipient_in_channel";
  tool_schema?: "compat" | "full";
  validate?: boolean;
  conversation_has_function_tools?: boolean;
}

export interface RenderOptions {
  /** What follows the conversation; `"completion"`, the beginning of the next message, if left out. */
  ending?: "completion" | "training" | "none";
  role?: Role;
  prefill?: Prefill;
  config?: RenderConfig;
}

export interface ParseOptions {
  /** The author of the first message; `null` if the tokens begin with `<|start|>`. */
  role?: Role | null;
  /** An error instead of repairs. */
  strict?: boolean;
  tools?: string[];
  prefill?: Prefill;
  spelled_markers?: boolean;
}

export interface Parsed {
  messages: Message[];
  repairs: Repair[];
}

export interface ParserState extends Parsed {
  state: "ExpectStart" | "Header" | "Content";
  role: Role | null;
  channel: string | null;
  recipient: string | null;
  content_type: string | null;
  content: string;
  delta: string | null;
}

/** What has memory in WebAssembly: `free` it, or leave that to the garbage collector. */
export interface Owner {
  free(): void;
}

export interface Parser extends Owner {
  feed(tokens: Tokens): Event[];
  finish(): Event[];
  describe(): ParserState;
  /** The state, from which `restoreParser` continues. */
  save(): Uint8Array;
}

export interface ReadOptions {
  /** The date in the system message, `"2026-01-31"`; today's if left out, none for `null`. */
  date?: string | null;
  identity?: string;
  unsupported?: "error" | "placeholder";
  strict?: boolean;
  [option: string]: unknown;
}

export interface ReplyOptions {
  model: string;
  id?: string;
  /** Seconds since 1970. */
  created?: number;
  prompt_tokens?: number;
  cached_tokens?: number;
  index?: number;
  reasoning_field?: "reasoning_content" | "reasoning" | "both" | null;
}

export interface Turn extends Owner {
  prompt(): Uint32Array;
  promptWithSpans(): { tokens: Uint32Array; spans: MessageSpan[] };
  /** Model, tools, sampling, stop strings, what nothing used, and the rest of what the request says. */
  describe(): { [field: string]: Json };
  /** The grammar of the answer, for an engine that masks what it samples. */
  grammar(form: "lark" | "xgrammar" | "gbnf"): string;
  reply(options: ReplyOptions): Reply;
  restoreReply(saved: Uint8Array): Reply;
}

export interface Reply extends Owner {
  /** The chunks that sampled tokens complete, as they go over the wire: server-sent events, or lines of JSON. */
  feed(tokens: Tokens): string;
  finish(reason?: "stop" | "length" | "abort", stopString?: string): string;
  fail(message: string, status?: number): string;
  /** The whole answer as the API's object. */
  response(): { [field: string]: Json };
  describe(): Parsed & { usage: { [count: string]: number }; builtin_calls: Json[]; is_ended: boolean };
  save(): Uint8Array;
}

export interface EngineReader extends Owner {
  feed(bytes: Uint8Array): { tokens: Uint32Array; end: { reason: string } | { status: number; message: string } | null };
  finish(): ReturnType<EngineReader["feed"]>;
}

/** What went wrong; for requests with the API's own answer, `status` and `body`. */
export class HarmonyError extends Error {
  readonly kind: string;
  readonly path: string | null;
  readonly tokenIndex: number | null;
  readonly messageIndex: number | null;
  readonly status: number | null;
  readonly body: Json;
}

export class Harmony {
  private constructor();
  /** With `special`, names of special tokens in the text become these tokens; otherwise they are text. */
  encode(text: string, options?: { special?: boolean }): Uint32Array;
  /** The text; U+FFFD stands for a character that is cut. */
  decode(tokens: Tokens): string;
  decodeBytes(tokens: Tokens): Uint8Array;
  /** The ids at which sampling stops. */
  readonly stopTokens: Uint32Array;
  readonly specialTokens: { [name: string]: number };
  render(conversation: Conversation, options?: RenderOptions): Uint32Array;
  renderWithSpans(conversation: Conversation, options?: RenderOptions): { tokens: Uint32Array; spans: MessageSpan[] };
  parse(tokens: Tokens, options?: ParseOptions): Parsed;
  parser(options?: ParseOptions): Parser;
  restoreParser(saved: Uint8Array): Parser;
  readTurn(dialect: Dialect, body: string | object, options?: ReadOptions): Turn;
  engineReader(form: "completions" | "sglang" | "llama.cpp", options?: { maxTokens?: number; stopTokens?: Tokens }): EngineReader;
}

/** Loads the module: from its bytes, a compiled module or a response; from the file beside this one if left out. */
export function load(source?: Uint8Array | ArrayBuffer | WebAssembly.Module | Response | Promise<Response>): Promise<Harmony>;
