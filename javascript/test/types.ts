// The types of each name, checked by `tsc --strict`.
import { HarmonyError, load } from "openai-harmony-wasm";
import type { Event, Harmony, Message, Reply } from "openai-harmony-wasm";
import { JsStreamableParser, StreamState, load_harmony_encoding } from "openai-harmony-wasm/compat";

export async function answer(body: object): Promise<string> {
  const harmony: Harmony = await load();
  const turn = harmony.readTurn("responses", body, { date: null });
  const reply: Reply = turn.reply({ model: "m", reasoning_field: null });
  const wire: string = reply.feed(turn.prompt()) + reply.finish("length");
  const messages: Message[] = reply.describe().messages;
  const events: Event[] = harmony.parser({ role: null }).feed([200006]);
  for (const event of events) if (event.type === "content_delta") console.log(event.text);
  return wire + messages.length;
}

export async function before(): Promise<StreamState> {
  const encoding = await load_harmony_encoding("HarmonyGptOss");
  const parser = new JsStreamableParser(encoding, "assistant");
  try {
    parser.process(1);
  } catch (error) {
    if (error instanceof HarmonyError) console.log(error.kind, error.path);
  }
  return StreamState.Content;
}
