//! The core of the library: parsing, rendering, tokens, schemas, options. A test that counts memory has its own process.

mod attack_header_fields;
mod attack_schema_size;
mod attack_schema_stack;
mod conformance;
mod defaults;
mod engine_streams;
mod errors;
mod golden;
mod grammar_json;
mod json;
mod lenient;
#[path = "../lines/mod.rs"]
mod lines;
mod mask_laws;
mod options;
mod parse_laws;
mod prefill;
mod rust_api_0_0_8;
mod saved;
mod small_headers;
mod small_worlds;
mod spans;
mod strict;
mod tokenizer;
mod version;
