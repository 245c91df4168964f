// Runs a client in front of a gateway: node clients.mjs CLIENT TASK URL
//
// Prints as JSON what the client's user gets: the cities that were asked for, the text, the error.
// The packages are those of package.json, in the folder of which node is started.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [client, task, url] = process.argv.slice(2);
const require = createRequire(join(process.cwd(), "package.json"));
// Resolved from the folder of the packages, which is not this file's.
const load = (name) => import(pathToFileURL(require.resolve(name)).href);

const MODEL = "gpt-oss-20b";
const RESULTS = { Oslo: "OSLO-SUN", Bergen: "BERGEN-RAIN" };
const QUESTION = "Where is it sunny?";
const PARAMETERS = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const FUNCTION = { name: "get_weather", description: "The weather.", parameters: PARAMETERS };
const DOT =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const asked = [];
const weather = ({ city }) => {
  asked.push(city);
  return RESULTS[city];
};

async function openaiChat() {
  const { default: OpenAI } = await load("openai");
  const { zodResponseFormat } = await load("openai/helpers/zod");
  const api = new OpenAI({ baseURL: `${url}/v1`, apiKey: "-", maxRetries: 0 }).chat.completions;
  if (task === "format") {
    const format = zodResponseFormat(await schema(), "city");
    const messages = [{ role: "user", content: "as JSON" }];
    const made = await api.parse({ model: MODEL, messages, response_format: format });
    return { object: made.choices[0].message.parsed };
  }
  if (task === "image") {
    const content = [{ type: "image_url", image_url: { url: DOT } }];
    return api.create({ model: MODEL, messages: [{ role: "user", content }] });
  }
  const tools = [
    { type: "function", function: { ...FUNCTION, function: weather, parse: JSON.parse } },
  ];
  const messages = [{ role: "user", content: QUESTION }];
  const runner = api.runTools({ model: MODEL, messages, tools, stream: task === "stream" });
  return { text: await runner.finalContent() };
}

async function openaiResponses() {
  const { default: OpenAI } = await load("openai");
  const { zodTextFormat } = await load("openai/helpers/zod");
  const api = new OpenAI({ baseURL: `${url}/v1`, apiKey: "-", maxRetries: 0 }).responses;
  if (task === "format") {
    const text = { format: zodTextFormat(await schema(), "city") };
    return { object: (await api.parse({ model: MODEL, input: "as JSON", text })).output_parsed };
  }
  if (task === "image") {
    const content = [{ type: "input_image", image_url: DOT }];
    return api.create({ model: MODEL, input: [{ role: "user", content }] });
  }
  const input = [{ role: "user", content: QUESTION }];
  const tools = [{ type: "function", strict: true, ...FUNCTION }];
  for (;;) {
    const body = { model: MODEL, input, tools };
    const made =
      task === "stream" ? await api.stream(body).finalResponse() : await api.create(body);
    const calls = made.output.filter((item) => item.type === "function_call");
    if (!calls.length) return { text: made.output_text };
    const results = calls.map((call) => {
      const output = weather(JSON.parse(call.arguments));
      return { type: "function_call_output", call_id: call.call_id, output };
    });
    input.push(...made.output, ...results);
  }
}

async function anthropic() {
  const { default: Anthropic } = await load("@anthropic-ai/sdk");
  const api = new Anthropic({ baseURL: url, apiKey: "-", maxRetries: 0 }).messages;
  const body = { model: MODEL, max_tokens: 1000, thinking: { type: "enabled", budget_tokens: 999 } };
  const data = DOT.split(",")[1];
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data } };
  const messages = [{ role: "user", content: task === "image" ? [image] : QUESTION }];
  const tools = [{ name: "get_weather", input_schema: PARAMETERS }];
  if (task === "format") {
    const properties = { city: { type: "string" }, sunny: { type: "boolean" } };
    const schema = { type: "object", properties, required: ["city", "sunny"] };
    const output_config = { format: { type: "json_schema", schema } };
    messages[0].content = "as JSON";
    const made = await api.create({ ...body, messages, output_config });
    return { object: JSON.parse(made.content.find((block) => block.type === "text").text) };
  }
  for (;;) {
    const all = { ...body, messages, tools };
    const made = task === "stream" ? await api.stream(all).finalMessage() : await api.create(all);
    const calls = made.content.filter((block) => block.type === "tool_use");
    if (!calls.length) return { text: made.content.at(-1).text };
    const results = calls.map((call) => {
      return { type: "tool_result", tool_use_id: call.id, content: weather(call.input) };
    });
    messages.push({ role: "assistant", content: made.content }, { role: "user", content: results });
  }
}

async function schema() {
  const { z } = await load("zod");
  return z.object({ city: z.string(), sunny: z.boolean() });
}

// The AI SDK, with the provider that people use for each API.
async function vercel(kind) {
  const { generateText, streamText, Output, stepCountIs, tool } = await load("ai");
  const { z } = await load("zod");
  const providers = {
    chat: async () => {
      const { createOpenAICompatible } = await load("@ai-sdk/openai-compatible");
      const options = { baseURL: `${url}/v1`, name: "harmony", apiKey: "-" };
      return createOpenAICompatible({ ...options, supportsStructuredOutputs: true })(MODEL);
    },
    responses: async () =>
      (await load("@ai-sdk/openai")).createOpenAI({ baseURL: `${url}/v1`, apiKey: "-" })(MODEL),
    anthropic: async () =>
      (await load("@ai-sdk/anthropic")).createAnthropic({ baseURL: `${url}/v1`, apiKey: "-" })(MODEL),
  };
  const model = await providers[kind]();
  const options = { model, maxRetries: 0 };
  if (task === "format") {
    const output = Output.object({ schema: await schema() });
    const made = await generateText({ ...options, prompt: "as JSON", output, experimental_output: output });
    return { object: made.output ?? made.experimental_output };
  }
  if (task === "image") {
    const content = [{ type: "image", image: DOT }];
    return generateText({ ...options, messages: [{ role: "user", content }] });
  }
  const inputSchema = z.object({ city: z.string() });
  const tools = { get_weather: tool({ inputSchema, execute: weather }) };
  const all = { ...options, prompt: QUESTION, tools, stopWhen: stepCountIs(9) };
  if (task === "stream") {
    const made = streamText({ ...all, onError: ({ error }) => { throw error; } });
    return { text: await made.text };
  }
  return { text: (await generateText(all)).text };
}

async function langchain(useResponsesApi) {
  const { ChatOpenAI } = await load("@langchain/openai");
  const { HumanMessage, ToolMessage } = await load("@langchain/core/messages");
  const { tool } = await load("@langchain/core/tools");
  const { concat } = await load("@langchain/core/utils/stream");
  const { z } = await load("zod");
  const configuration = { baseURL: `${url}/v1` };
  const model = new ChatOpenAI({ model: MODEL, apiKey: "-", maxRetries: 0, useResponsesApi, configuration });
  if (task === "format") {
    const structured = model.withStructuredOutput(await schema(), { method: "jsonSchema" });
    return { object: await structured.invoke("as JSON") };
  }
  if (task === "image") {
    const content = [{ type: "image_url", image_url: { url: DOT } }];
    return model.invoke([new HumanMessage({ content })]);
  }
  const options = { name: "get_weather", description: "The weather.", schema: z.object({ city: z.string() }) };
  const bound = model.bindTools([tool(weather, options)]);
  const messages = [new HumanMessage(QUESTION)];
  for (;;) {
    let made;
    if (task === "stream") {
      for await (const part of await bound.stream(messages)) made = made ? concat(made, part) : part;
    } else made = await bound.invoke(messages);
    messages.push(made);
    if (!made.tool_calls.length) return { text: made.text };
    for (const call of made.tool_calls) {
      messages.push(new ToolMessage({ content: weather(call.args), tool_call_id: call.id }));
    }
  }
}

async function mastra() {
  const { Agent } = await load("@mastra/core/agent");
  const { createTool } = await load("@mastra/core/tools");
  const { createOpenAICompatible } = await load("@ai-sdk/openai-compatible-v5");
  const { z } = await load("zod");
  const options = { baseURL: `${url}/v1`, name: "harmony", apiKey: "-", supportsStructuredOutputs: true };
  const model = createOpenAICompatible(options)(MODEL);
  const get_weather = createTool({
    id: "get_weather",
    description: "The weather.",
    inputSchema: z.object({ city: z.string() }),
    execute: async (given) => weather(given.context ?? given),
  });
  const agent = new Agent({ id: "a", name: "a", instructions: "Be brief.", model, tools: { get_weather }, maxRetries: 0 });
  if (task === "format") {
    const made = await agent.generate("as JSON", { structuredOutput: { schema: await schema() } });
    return { object: made.object };
  }
  if (task === "image") {
    const content = [{ type: "image", image: DOT, mimeType: "image/png" }];
    return agent.generate([{ role: "user", content }]);
  }
  if (task === "stream") return { text: await (await agent.stream(QUESTION)).text };
  return { text: (await agent.generate(QUESTION)).text };
}

const CLIENTS = {
  "openai-chat": openaiChat,
  "openai-responses": openaiResponses,
  anthropic,
  "ai-chat": () => vercel("chat"),
  "ai-responses": () => vercel("responses"),
  "ai-anthropic": () => vercel("anthropic"),
  "langchain-chat": () => langchain(false),
  "langchain-responses": () => langchain(true),
  mastra,
};

let found;
try {
  found = await CLIENTS[client]();
} catch (error) {
  found = { error: String(error.message), status: error.status ?? error.statusCode ?? error.cause?.statusCode };
}
const { text, object, error, status } = found;
console.log(JSON.stringify({ asked, text, object, error, status }));
process.exit(0);
