// The corpus, the golden renderings, requests and answers, in Node: `make wasm` builds harmony.wasm and runs this.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import test from "node:test";
import { JsStreamableParser, StreamState, load_harmony_encoding } from "../compat.js";
import { HarmonyError, load } from "../harmony.js";

const ROOT = new URL("../../", import.meta.url);
const read = (path) => JSON.parse(readFileSync(new URL(path, ROOT), "utf8"));
const harmony = await load();
const special = (text) => harmony.encode(text, { special: true });

for (const file of ["malformed", "outputs"]) {
  test(`the corpus: ${file}`, () => {
    for (const { name, text, tokens, role = null, tools = [], messages, repairs } of read(`conformance/${file}.json`).cases) {
      const given = tokens ?? special(text);
      const found = harmony.parse(given, { role, tools });
      const shown = found.messages.map((one) => ({ ...one, name: undefined }));
      messages.forEach((message, index) => {
        for (const [field, value] of Object.entries(message)) {
          if (field === "author" || field === "name") continue;
          assert.deepEqual(shown[index]?.[field], value, `${name}: ${field} of message ${index}`);
        }
      });
      assert.equal(found.messages.length, messages.length, name);
      assert.deepEqual(found.repairs.map(({ kind }) => kind), repairs.map(({ kind }) => kind), name);
      const parser = harmony.parser({ role, tools });
      for (const token of given) parser.feed([token]);
      parser.finish();
      assert.deepEqual(parser.describe().messages, found.messages, name);
      parser.free();
    }
  });
}

test("the golden renderings", () => {
  let count = 0;
  for (const folder of readdirSync(new URL("tests/golden", ROOT))) {
    const at = `tests/golden/${folder}`;
    if (!existsSync(new URL(`${at}/tokens.json`, ROOT))) continue;
    const asked = golden(read(`${at}/options.json`));
    if (!asked) continue;
    const tokens = harmony.render(read(`${at}/conversation.json`), asked);
    assert.deepEqual([...tokens], read(`${at}/tokens.json`), folder);
    count += 1;
  }
  assert.ok(count > 60, `${count} cases`);
});

/** The options of a golden case in the names of the face; null for a single message and for newer options. */
function golden({ render = {} }) {
  const { renderer, next_role, auto_drop_analysis = true, ...newer } = render;
  const ending = { conversation: "none", completion: "completion", training: "training" }[renderer];
  if (!ending || Object.keys(newer).length) return null;
  return { ending, ...(next_role && { role: next_role }), ...(!auto_drop_analysis && { config: { thoughts: "keep" } }) };
}

const CALL =
  '<|channel|>analysis<|message|>Höhe 🦀<|end|><|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a":1}<|call|>';
const TOOL = { name: "f", parameters: { type: "object" } };
const USER = { messages: [{ role: "user", content: "Hi" }], stream: true };
const BODIES = {
  chat_completions: { ...USER, tools: [{ type: "function", function: TOOL }] },
  responses: { input: "Hi", stream: true, tools: [{ type: "function", ...TOOL }] },
  anthropic: { ...USER, max_tokens: 99, tools: [{ name: "f", input_schema: { type: "object" } }] },
  ollama: { ...USER, tools: [{ type: "function", function: TOOL }] },
};

/** Those of the call in an answer of any API. */
function argumentsOf(answer) {
  const text = JSON.stringify(answer).replaceAll('\\"', '"');
  return JSON.parse(text.match(/\{"a":1\}/)[0]);
}

for (const [dialect, body] of Object.entries(BODIES)) {
  test(`a request and its answer: ${dialect}`, () => {
    const turn = harmony.readTurn(dialect, body, { date: "2026-01-31" });
    assert.ok(harmony.decode(turn.prompt()).endsWith("<|start|>user<|message|>Hi<|end|><|start|>assistant"));
    assert.equal(turn.describe().dialect, dialect);
    assert.match(turn.grammar("lark"), /functions\.f/);
    const tokens = special(CALL);
    const whole = turn.reply({ model: "m", id: "x", created: 1 });
    whole.feed(tokens);
    whole.finish();
    let moved = turn.reply({ model: "m", id: "x", created: 1 });
    let wire = "";
    for (const token of tokens) {
      wire += moved.feed([token]);
      const saved = moved.save();
      moved.free();
      moved = turn.restoreReply(saved);
    }
    wire += moved.finish();
    assert.ok(wire.startsWith(dialect === "ollama" ? "{" : dialect === "anthropic" || dialect === "responses" ? "event:" : "data:"), wire);
    assert.deepEqual(argumentsOf(moved.response()), { a: 1 });
    const said = ({ messages, repairs, usage }) => ({ messages, repairs, usage });
    assert.deepEqual(said(moved.describe()), said(whole.describe()));
    assert.ok(JSON.stringify(whole.response()).includes("f"));
    assert.match(turn.reply({ model: "m" }).response().id ?? "", /^(chatcmpl-|resp_|msg_|$)/);
    assert.notEqual(turn.reply({ model: "m" }).response().id, turn.reply({ model: "m" }).response().id ?? "ollama has none");
  });
}

test("an engine's stream", () => {
  const engine = harmony.engineReader("completions");
  const bytes = new TextEncoder().encode('data: {"choices": [{"token_ids": [35, 200002]}]}\n\n');
  const { tokens, end } = engine.feed(bytes);
  assert.deepEqual([[...tokens], end], [[35, 200002], { reason: "stop" }]);
});

test("what is wrong is an Error that names it", () => {
  const wrong = [
    [() => harmony.readTurn("chat_completions", { messages: "Hi" }), { kind: "invalid_request", path: "messages", status: 400 }],
    [() => harmony.parse([35, 200002], { role: null, strict: true }), { kind: "unexpected_token", tokenIndex: 0 }],
    [() => harmony.parse([1], { stric: true }), { kind: "invalid_json" }],
    [() => harmony.decode([999999999]), { name: "HarmonyError" }],
    [() => harmony.readTurn("chat_completions", USER).reply({}), { message: "model: expected the model's name in the answer" }],
  ];
  for (const [act, expected] of wrong) {
    assert.throws(act, (error) => error instanceof HarmonyError && Object.entries(expected).every(([key, value]) => error[key] === value));
  }
  const refused = [
    [() => harmony.readTurn("chat", {}), /dialect: expected one of/],
    [() => harmony.decode([-1]), /-1 is not a token id/],
    [() => harmony.decode("abc"), /expected token ids, got abc/],
    [() => harmony.encode(5), /expected a string/],
    [() => harmony.encode([5]), /expected a string/],
    [() => harmony.decode([, 5]), /undefined is not a token id/],
    [() => harmony.render(undefined), /expected a string/],
    [() => harmony.encode(new Uint8Array(2 ** 32 - 9)), /no memory for 4294967287 bytes/],
  ];
  for (const [act, message] of refused) assert.throws(act, message);
  assert.equal(harmony.decode(new Uint8Array([1, 2])), harmony.decode([1, 2])); // Ids, not four bytes of one.
  const freed = harmony.parser();
  freed.free();
  assert.throws(() => freed.feed([1]), /freed/);
});

test("a text of a megabyte", () => {
  const text = "Ærøskøbing 🦀 is a town. ".repeat(40_000);
  assert.equal(harmony.decode(harmony.encode(text)), text);
});

test("two instances share nothing", async () => {
  const other = await load(readFileSync(new URL("../harmony.wasm", import.meta.url)));
  const id = (one) => one.readTurn("chat_completions", USER).reply({ model: "m" }).response().id;
  assert.notEqual(id(harmony), id(other));
});

test("names of the packages before", async () => {
  const encoding = await load_harmony_encoding("HarmonyGptOss");
  const conversation = { messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }] };
  const prompt = encoding.renderConversationForCompletion(conversation, "assistant");
  assert.equal(encoding.decodeUtf8(prompt), "<|start|>user<|message|>Hi<|end|><|start|>assistant");
  const sampled = encoding.encode("<|channel|>final<|message|>Ho<|return|>", new Set(encoding.specialTokens()));
  assert.equal(JSON.parse(encoding.parseMessagesFromCompletionTokens(sampled, "assistant"))[0].channel, "final");
  assert.deepEqual([...encoding.stopTokens()], [200002, 200007, 200012]);
  assert.deepEqual([...encoding.stopTokensForAssistantActions()], [200002, 200012]);
  assert.ok(encoding.isSpecialToken(200002) && !encoding.isSpecialToken(1));
  assert.deepEqual([...encoding.encode("<|end|>")], [...harmony.encode("<|end|>")]);
  const parser = new JsStreamableParser(encoding, "assistant");
  for (const token of sampled.slice(0, 4)) parser.process(token);
  assert.deepEqual([parser.currentChannel, parser.currentContent, parser.lastContentDelta, parser.currentRole], ["final", "Ho", "Ho", "assistant"]);
  assert.deepEqual([JSON.parse(parser.state), StreamState.Content], ["Content", 2]);
  assert.throws(() => new JsStreamableParser(encoding, null).process(35), /Unexpected token 35/);
  await assert.rejects(load_harmony_encoding("other"), /Unknown encoding/);
});
