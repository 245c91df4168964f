// Runs a test binary of wasm32-unknown-unknown, which knows neither arguments nor files: cargo's runner of `make wasm`.
// A test that fails is a trap.
import { readFile } from "node:fs/promises";

const file = process.argv[2];
const { instance } = await WebAssembly.instantiate(await readFile(file), {});
try {
  const code = instance.exports.main(0, 0);
  console.log(`${code === 0 ? "passed" : `failed with ${code}`}: ${file}`);
  process.exitCode = code;
} catch (error) {
  console.error(`a test failed, run it natively for its text: ${file}\n${error.stack}`);
  process.exitCode = 1;
}
