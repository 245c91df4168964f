// The static page: the prompt of a request, and the messages of an output. `make docs` puts the module beside it.

const at = (id) => document.getElementById(id);
const BODIES = {
  chat_completions: {
    messages: [{ role: "user", content: "What is the weather in Lima?" }],
    tools: [{ type: "function", function: { name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" } } } } }],
  },
  responses: { instructions: "Be brief.", input: "What is 2 + 2?" },
  anthropic: { max_tokens: 100, messages: [{ role: "user", content: "What is 2 + 2?" }] },
  ollama: { messages: [{ role: "user", content: "What is 2 + 2?" }] },
};
const SAMPLED =
  '<|channel|>analysis<|message|>The tool knows.<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json{"city": "Lima"}<|call|>';

/** Shows text with its markers in bold. */
function show(place, text, wrong = false) {
  const parts = text.split(/(<\|[a-z]+\|>)/).map((part, index) => {
    const node = document.createElement(index % 2 ? "b" : "span");
    node.textContent = part;
    return node;
  });
  place.replaceChildren(...parts);
  place.classList.toggle("wrong", wrong);
}

/** What a function gives, or the error's words, with the place of what is wrong. */
function attempt(place, note, act) {
  note.textContent = "";
  try {
    show(place, act());
  } catch (error) {
    show(place, error.path ? `${error.path}: ${error.message}` : error.message, true);
  }
}

function start(harmony) {
  const render = () =>
    attempt(at("prompt"), at("count"), () => {
      const turn = harmony.readTurn(at("dialect").value, at("body").value);
      const tokens = turn.prompt();
      turn.free();
      at("count").textContent = `${tokens.length} tokens`;
      return harmony.decode(tokens);
    });
  const parse = () =>
    attempt(at("messages"), at("repairs"), () => {
      const tokens = harmony.encode(at("sampled").value, { special: true });
      const { messages, repairs } = harmony.parse(tokens, { role: "assistant" });
      at("repairs").textContent = repairs.length ? `repaired: ${repairs.map(({ kind }) => kind).join(", ")}` : "well-formed";
      return JSON.stringify(messages, null, 2);
    });
  const choose = () => {
    at("body").value = JSON.stringify(BODIES[at("dialect").value], null, 2);
    render();
  };
  at("dialect").addEventListener("change", choose);
  at("body").addEventListener("input", render);
  at("sampled").addEventListener("input", parse);
  at("sampled").value = SAMPLED;
  choose();
  parse();
  at("state").hidden = true;
}

try {
  const { load } = await import("./harmony.js");
  start(await load());
} catch (error) {
  at("state").textContent = `The module is not here (${error.message}): \`make wasm\`, then \`make docs\`.`;
}
document.body.dataset.ready = "yes";
