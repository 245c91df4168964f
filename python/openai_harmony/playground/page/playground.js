// The page's state is its fields. The server draws, this only asks.
"use strict";

const MOST_BYTES = 4 * 2 ** 20;
const element = (id) => document.getElementById(id);
const valueOf = (id) => (element(id).type === "checkbox" ? element(id).checked : element(id).value);

const latest = { prompt: 0, answer: 0 };

function tooLong(length) {
  return `The input has ${(length / 2 ** 20).toFixed(1)} MiB; the limit here is 4 MiB. "harmony show" reads files.`;
}

// A browser takes half a minute to lay out 50 MB in a field, so they never get there.
function refuseLong(event, error) {
  const length = (event.clipboardData ?? event.dataTransfer).getData("text").length;
  if (length <= MOST_BYTES) return;
  event.preventDefault();
  element(error).textContent = tooLong(length);
}

// Only the latest question's answer is shown.
async function ask(what, asked) {
  const number = ++latest[what];
  const body = JSON.stringify(asked);
  let made;
  if (body.length > MOST_BYTES) {
    made = { error: tooLong(body.length) };
  } else {
    try {
      const answer = await fetch(`api/${what}`, { method: "POST", headers: { "Content-Type": "application/json" }, body });
      made = await answer.json();
    } catch {
      made = { error: "the playground's server has ended; start `harmony playground` again" };
    }
  }
  return number === latest[what] ? made : null;
}

function config() {
  return { thoughts: valueOf("thoughts"), header_style: valueOf("header_style"), tool_schema: valueOf("tool_schema") };
}

async function drawPrompt() {
  const made = await ask("prompt", {
    body: valueOf("body"),
    config: config(),
    ending: valueOf("ending"),
    mask: valueOf("mask"),
    against: valueOf("against") ? JSON.parse(valueOf("against")) : null,
  });
  if (made === null) return;
  element("prompt-error").textContent = made.error ?? "";
  element("rendered").classList.toggle("stale", "error" in made);
  if ("error" in made) {
    element("prompt-facts").textContent = "";
    return;
  }
  const notes = made.notes.length ? ` · ${made.notes.join(" · ")}` : "";
  element("prompt-facts").textContent = `${made.count.toLocaleString("en")} tokens, read as ${made.form}${notes}`;
  // The server escapes all text; the page's policy lets no script in a picture run.
  element("prompt").innerHTML = made.html;
  element("difference").innerHTML = made.difference ?? "";
}

async function drawAnswer(toTheEnd) {
  const upto = toTheEnd ? null : Number(element("upto").value);
  const made = await ask("answer", { body: valueOf("body"), sampled: valueOf("sampled"), strict: valueOf("strict"), upto });
  if (made === null) return;
  const failed = !("html" in made);
  element("answer-error").textContent = made.error ?? "";
  element("answer-note").textContent = made.note ?? "";
  element("said").classList.toggle("stale", failed);
  if (failed) return;
  element("upto").max = made.count;
  element("upto").value = made.upto;
  element("upto").disabled = made.count === 0;
  element("at").textContent = made.count ? `${made.upto} of ${made.count} tokens${made.upto ? ` · the last: ${made.token}` : ""}` : "";
  element("answer").innerHTML = made.html;
  fill("messages", made.messages, 0);
  if (made.open) addItem("messages", { open: made.open }, true);
  fill("chunks", made.chunks ?? [], made.fresh ?? 0);
  const earlier = made.earlier ? ` (the last ${made.chunks.length} of ${made.earlier + made.chunks.length})` : "";
  element("chunks-title").textContent = made.dialect ? `Chunks of ${made.dialect}${earlier}` : "Chunks of the API";
}

// The new part in a chunk of any of the APIs, without its frame.
function deltaOf(chunk) {
  return chunk.choices?.[0]?.delta ?? chunk.delta ?? chunk.type ?? chunk.message;
}

function addItem(id, value, isFresh, delta) {
  const item = document.createElement("li");
  if (delta !== undefined) {
    const first = document.createElement("strong");
    first.textContent = JSON.stringify(delta);
    item.append(first, " ");
  }
  item.append(JSON.stringify(value));
  item.classList.toggle("fresh", isFresh);
  element(id).append(item);
}

function fill(id, values, fresh) {
  element(id).replaceChildren();
  values.forEach((value, index) => {
    addItem(id, value, index >= values.length - fresh, id === "chunks" ? deltaOf(value) : undefined);
  });
  element(id).scrollTop = element(id).scrollHeight;
}

function later(act) {
  let waiting = 0;
  return () => {
    clearTimeout(waiting);
    waiting = setTimeout(act, 150);
  };
}

function choose(list, id, values) {
  for (const [index, value] of values.entries()) {
    const option = document.createElement("option");
    option.value = String(index);
    option.textContent = value.name;
    list.append(option);
  }
  list.addEventListener("change", () => {
    const chosen = values[Number(list.value)];
    element(id).value = typeof chosen.value === "string" ? chosen.value : JSON.stringify(chosen.value, null, 2);
    element(id).dispatchEvent(new Event("input"));
  });
}

function step(by) {
  element("upto").value = Number(element("upto").value) + by;
  drawAnswer(false);
}

async function begin() {
  const examples = await (await fetch("examples.json")).json();
  choose(element("body-example"), "body", examples.bodies);
  choose(element("sampled-example"), "sampled", examples.samples);
  element("body").value = JSON.stringify(examples.bodies[0].value, null, 2);
  element("sampled").value = examples.samples[0].value;
  const prompted = later(drawPrompt);
  const answered = later(() => drawAnswer(true));
  for (const id of ["thoughts", "header_style", "tool_schema", "ending", "mask", "against"]) {
    element(id).addEventListener("change", drawPrompt);
  }
  element("body").addEventListener("input", () => { prompted(); answered(); });
  element("sampled").addEventListener("input", answered);
  for (const event of ["paste", "drop"]) {
    element("body").addEventListener(event, (one) => refuseLong(one, "prompt-error"));
    element("sampled").addEventListener(event, (one) => refuseLong(one, "answer-error"));
  }
  element("strict").addEventListener("change", () => drawAnswer(false));
  element("upto").addEventListener("input", () => drawAnswer(false));
  element("back").addEventListener("click", () => step(-1));
  element("forth").addEventListener("click", () => step(1));
  await Promise.all([drawPrompt(), drawAnswer(true)]);
  document.body.dataset.ready = "yes";
}

begin();
