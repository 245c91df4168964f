// The names of upstream's unpublished package @openai/harmony, and of openai-harmony 0.4 on npm.
import { load } from "./harmony.js";

export const StreamState = Object.freeze({ ExpectStart: 0, Header: 1, Content: 2, 0: "ExpectStart", 1: "Header", 2: "Content" });

let loaded;

/** The vocabulary is in the module, so the second argument of other packages, its address, is not needed. */
export async function load_harmony_encoding(name, _baseUrl) {
  if (name !== "HarmonyGptOss") throw new Error(`Unknown encoding: ${name}`);
  loaded = await (load_harmony_encoding.loading ??= load());
  return new JsHarmonyEncoding(loaded);
}

const roleless = (role) => (role ? { role } : { role: null });

export class JsHarmonyEncoding {
  constructor(harmony) {
    this.harmony = harmony;
  }
  get name() {
    return "HarmonyGptOss";
  }
  renderConversationForCompletion(conversation, nextTurnRole, config) {
    return this.harmony.render(conversation, { ending: "completion", role: nextTurnRole, ...thoughts(config) });
  }
  renderConversation(conversation, config) {
    return this.harmony.render(conversation, { ending: "none", ...thoughts(config) });
  }
  renderConversationForTraining(conversation, config) {
    return this.harmony.render(conversation, { ending: "training", ...thoughts(config) });
  }
  render(message, options) {
    const config = { conversation_has_function_tools: options?.conversation_has_function_tools ?? false };
    return this.harmony.render({ messages: [message] }, { ending: "none", config });
  }
  parseMessagesFromCompletionTokens(tokens, role) {
    return JSON.stringify(this.harmony.parse(tokens, { ...roleless(role), strict: true }).messages);
  }
  decodeUtf8(tokens) {
    return new TextDecoder("utf-8", { fatal: true }).decode(this.harmony.decodeBytes(tokens));
  }
  decodeBytes(tokens) {
    return this.harmony.decodeBytes(tokens);
  }
  /** Names of special tokens that are not allowed are encoded as text. */
  encode(text, allowedSpecial = []) {
    const names = new Set(allowedSpecial);
    const known = [...names].filter((name) => name in this.harmony.specialTokens);
    if (known.length === 0) return this.harmony.encode(text);
    const escaped = known.map((name) => name.replace(/[|\\^$*+?.()[\]{}]/g, "\\$&"));
    const pieces = text.split(new RegExp(`(${escaped.join("|")})`));
    return Uint32Array.from(pieces.flatMap((piece) => [...this.harmony.encode(piece, { special: names.has(piece) })]));
  }
  specialTokens() {
    return Object.keys(this.harmony.specialTokens);
  }
  isSpecialToken(token) {
    return Object.values(this.harmony.specialTokens).includes(token);
  }
  stopTokens() {
    const special = this.harmony.specialTokens;
    return Uint32Array.of(special["<|return|>"], special["<|call|>"], special["<|end|>"]).sort();
  }
  stopTokensForAssistantActions() {
    return this.harmony.stopTokens;
  }
}

// Of several messages thoughts are dropped unless the config says otherwise.
function thoughts(config) {
  return config?.auto_drop_analysis === false ? { config: { thoughts: "keep" } } : {};
}

export class JsStreamableParser {
  #parser;
  #tokens = [];
  constructor(encoding, role) {
    this.#parser = encoding.harmony.parser({ ...roleless(role), strict: true });
  }
  process(token) {
    this.#tokens.push(token);
    this.#parser.feed([token]);
  }
  get #now() {
    return this.#parser.describe();
  }
  get currentContent() {
    return this.#now.content;
  }
  get currentRole() {
    return this.#now.role ?? "";
  }
  get currentContentType() {
    return this.#now.content_type ?? "";
  }
  get currentRecipient() {
    return this.#now.recipient ?? "";
  }
  get currentChannel() {
    return this.#now.channel ?? "";
  }
  get lastContentDelta() {
    return this.#now.delta ?? "";
  }
  get messages() {
    return JSON.stringify(this.#now.messages);
  }
  get tokens() {
    return Uint32Array.from(this.#tokens);
  }
  get state() {
    return JSON.stringify(this.#now.state);
  }
  free() {
    this.#parser.free();
  }
}
